"""One trace as one line of JSON, there and back."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, SchemaSerializer

from neverempty._errors import InputError
from neverempty._io import JsonError, escape_json, holds_every_key_once, jsonable, loads_strict
from neverempty._suggest import did_you_mean
from neverempty.traces.model import ToolCall, Trace
from neverempty.traces.redaction import Redactor

TRACE_SCHEMA_VERSION = 1
# Python refuses to read a number of more than 4,300 digits; RE2 counts to 1,000.
_MAX_DIGITS = 4300


@functools.cache
def trace_adapter() -> TypeAdapter[Trace]:
    """Return the one validator of traces."""
    return TypeAdapter(Trace)


@functools.cache
def _serializer() -> SchemaSerializer:
    return trace_adapter().serializer


@functools.cache
def default_redactor() -> Redactor:
    """Return the redactor that is used where none is named."""
    return Redactor()


@functools.cache
def _long_number() -> Any:
    import re2

    return re2.compile(b"[0-9]{1000}")


def trace_to_json(trace: Trace, redactor: Redactor | None = None) -> str:
    """Write a trace as one line of strict JSON, without its secrets.

    Parameters
    ----------
    trace : Trace
        The trace.
    redactor : Redactor, optional
        What takes the secrets out; the package's own rules by default.

    Returns
    -------
    str
        JSON without a line feed, always encodable as UTF-8. NaN becomes null, lone surrogates are escaped,
        foreign objects are written by their text.

    Raises
    ------
    ValueError
        Where a field holds what could not be read back, such as a number as the answer.

    Examples
    --------
    >>> line = trace_to_json(Trace("jobs", "a", "typed", 0, answer="api_key=abc123"))
    >>> trace_from_json(line).answer
    'api_key=[redacted]'
    """
    redactor = redactor or default_redactor()
    try:
        raw = _serializer().to_json(trace, warnings="error")
    except (PydanticSerializationError, ValueError, RecursionError):
        return _write_exactly(trace, redactor)
    if redactor.suspects(raw) or (len(raw) > _MAX_DIGITS and _long_number().search(raw) is not None):
        return _write_exactly(trace, redactor)
    text = raw.decode()
    # Three line ends of str.splitlines(), and what pydantic makes of a key with a lone surrogate.
    if "\u2028" in text or "\u2029" in text or "\u0085" in text or "\ufffd" in text:
        return _write_exactly(trace, redactor)
    return text


def _write_exactly(trace: Trace, redactor: Redactor) -> str:
    """Write a trace that holds a secret, or something that plain JSON does not know."""
    data = redactor(jsonable(trace))
    try:
        trace_adapter().validate_python(data)
    except ValidationError as error:
        problem = "; ".join(_problems(error))
        name = f"trace of case {trace.case_id!r}, arm {trace.arm!r}, repeat {trace.repeat}"
        raise ValueError(f"{name} cannot be written: {problem}") from None
    # In the order of the fields, as the quick way writes them.
    return escape_json(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def trace_from_json(line: str | bytes, where: str = "trace") -> Trace:
    """Read one trace, from this package or from a program in another language.

    Parameters
    ----------
    line : str or bytes
        One JSON object; `trace_schema` says which fields there are and which are needed.
    where : str, default "trace"
        Named in front of every problem, e.g. ``"traces.jsonl:3"``.

    Returns
    -------
    Trace
        The trace. Where a foreign one leaves them out: suite ``"default"``, arm ``"imported"``, repeat 0, the
        calls in their order with truth ``"unknown"``.

    Raises
    ------
    InputError
        Names each field that is wrong or missing.

    Examples
    --------
    >>> trace_from_json('{"case_id": "a", "answer": "No jobs in Pune."}').status
    'ok'
    """
    raw = line.encode("utf-8", "replace") if isinstance(line, str) else line
    trace = quick_trace(raw) if holds_every_key_once(raw) else None
    return trace if trace is not None else trace_from_object(_parse(line, where), where)


def quick_trace(raw: bytes) -> Trace | None:
    """Read a complete trace in one pass.

    Parameters
    ----------
    raw : bytes
        One JSON object.

    Returns
    -------
    Trace or None
        None where `trace_from_object` must look: a field is wrong or missing, or a default might stand in for
        something unsaid (how it ended, and why).
    """
    try:
        trace = trace_adapter().validate_json(raw)
    except ValidationError:
        return None
    told = (
        trace.answer is not None if trace.status == "ok" else trace.terminal_reason not in ("", "completed")
    )
    return trace if told else None


def _parse(line: str | bytes, where: str) -> Any:
    try:
        return loads_strict(line)
    except JsonError as error:
        raise InputError(f"{where}: column {error.column}: {error.reason}") from None


def trace_from_object(data: Any, where: str = "trace") -> Trace:
    """Build a trace from the parsed form of a line; see `trace_from_json`.

    Parameters
    ----------
    data : object
        The parsed line, a dict of strict JSON values.
    where : str, default "trace"
        Named in front of every problem.

    Returns
    -------
    Trace
        The trace.

    Raises
    ------
    InputError
        Names each field that is wrong or missing.
    """
    if not isinstance(data, dict):
        raise InputError(f"{where}: a trace is a JSON object, got {type(data).__name__}")
    problems = [] if data.get("case_id") else ["case_id: is missing"]
    if data.get("status") is None and data.get("answer") is None:
        problems.append("give 'answer', or 'status' to say that there is none")
    if data.get("status", "ok") != "ok" and not data.get("terminal_reason"):
        problems.append("terminal_reason: is missing; a trace that did not end well says why it ended")
    try:
        trace = trace_adapter().validate_python(_with_defaults(data))
    except ValidationError as error:
        problems += [problem for problem in _problems(error) if problem not in problems]
    if problems:
        raise InputError([f"{where}: {problem}" for problem in problems])
    return trace


def _with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    filled = {"suite": "default", "arm": "imported", "repeat": 0, **data}
    if filled.get("status") is None:
        filled["status"] = "ok"
    calls = filled.get("calls")
    if isinstance(calls, list):
        filled["calls"] = [
            {"call": index, "args": {}, "truth": "unknown", **call} if isinstance(call, dict) else call
            for index, call in enumerate(calls)
        ]
    return filled


def _problems(error: ValidationError) -> list[str]:
    """List the wrong fields, with the nearest name for an unknown one."""
    found = []
    for detail in error.errors(include_url=False):
        where = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "unexpected_keyword_argument":
            owner = ToolCall if "calls" in detail["loc"][:-1] else Trace
            known = [field.name for field in dataclasses.fields(owner)]
            found.append(f"{where}: unknown field{did_you_mean(str(detail['loc'][-1]), known)}")
        elif detail["type"] in ("missing", "missing_argument"):
            found.append(f"{where}: is missing")
        else:
            message = detail["msg"][:1].lower() + detail["msg"][1:]
            found.append(f"{where}: {message}, got {ascii(detail['input'])[:60]}")
    return found
