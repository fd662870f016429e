"""How a tool call ended, from its result alone: flags in every spelling, and failures only told in text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

EnvelopeOutcome = Literal["ok", "empty", "error", "unknown"]

_FLAGS: Final = ("isError", "is_error")
_ERRORS: Final = ("error", "errors")
_FAILED: Final = frozenset({"error", "failed", "failure"})
# A mapping with one of these is a message about a call; one without is what the tool itself wrote.
_OF_A_MESSAGE: Final = frozenset(
    {"content", "output", "result", "role", "toolCallId", "tool_call_id", "toolUseId", "jsonrpc", *_FLAGS}
)
# Only these are looked into where they hold an object: they wrap what a tool returned.
_WRAPPERS: Final = (
    "result",
    "data",
    "json",
    "structuredContent",
    "response",
    "functionResponse",
    "function_response",
)
_PAYLOADS: Final = ("content", "output", "text", *_WRAPPERS)
_TOLD: Final = re.compile(
    r"\s*(Error: |Error (executing|invoking) tool\b|Traceback \(most recent call last\)|"
    r"([a-z_]\w*\.)*[A-Z]\w*(Error|Exception)[:(]|\d+ validation errors?( for\b|:)|"
    r"Tool execution (blocked|failed)\b)"
)
# what pydantic-ai writes below a failure that it asks a model to correct
_RETRY: Final = "Fix the errors and try again."
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a tool result says about the call.

    Parameters
    ----------
    outcome : {"ok", "empty", "error", "unknown"}
        ``error`` where a flag says so; ``unknown`` where only the text does, against a flag or without one.
    warnings : tuple of str
        What does not fit together, in words.
    unflagged : bool
        Whether a failure stands in the text alone.
    raw : object
        The result as it came, unknown keys included.
    """

    outcome: EnvelopeOutcome
    warnings: tuple[str, ...]
    unflagged: bool
    raw: Any


def read_envelope(result: Any, *, trust_text: bool = False) -> Envelope:
    """Tell how a tool call ended from its result alone.

    Parameters
    ----------
    result : object
        A tool message, a protocol's result, a text, or whatever a tool returned.
    trust_text : bool, default False
        Take a failure that only the text tells for one.

    Returns
    -------
    Envelope
        The outcome, what is doubtful about it, and the result itself.

    Examples
    --------
    >>> read_envelope({"content": [{"type": "text", "text": "denied"}], "isError": True}).outcome
    'error'
    >>> found = read_envelope({"content": [{"text": '{"error": "denied"}'}], "isError": False})
    >>> found.outcome, found.unflagged
    ('unknown', True)
    """
    flagged, contradicted = _flags(result, 0)
    if flagged:
        warnings = (f"{flagged} stands beside a flag of success",) if contradicted else ()
        return Envelope("error", warnings, False, result)
    told = next(_told(result, 0), None)
    if told is not None:
        warning = f"{told} tells of a failure that no flag marks"
        return Envelope("error" if trust_text else "unknown", (warning,), True, result)
    return Envelope("empty" if _is_empty(result, 0) else "ok", (), False, result)


def _flags(result: Any, depth: int) -> tuple[str, bool]:
    """Name the flag of an error in a message, and say whether another flag says the contrary."""
    if not isinstance(result, Mapping) or depth > _DEEPEST:
        return "", False
    for flag in _FLAGS:
        if result.get(flag) is True:
            return f"{flag} = true", False
    if _OF_A_MESSAGE & result.keys():
        if _says_error(result):
            good = result.get("success") is True or result.get("status") == "success"
            return "an error text", good
        if _status_failed(result) or result.get("success") is False:
            return "a status of failure", False
    # LangChain writes a message's own fields under "data", beside its type
    for key in ("result", "content", *(("data",) if result.get("type") == "tool" else ())):
        inner, contradicted = _flags(result.get(key), depth + 1)
        if inner:
            return inner, contradicted
    return "", False


def _says_error(body: Mapping[Any, Any]) -> bool:
    return any(body.get(key) not in (None, False, "", 0) and body.get(key) for key in _ERRORS)


def _status_failed(body: Mapping[Any, Any]) -> bool:
    status = body.get("status")
    return isinstance(status, str) and status.lower() in _FAILED


def _is_error(body: Mapping[Any, Any]) -> bool:
    """Say whether a body's status is an error; "failed" may be that of the thing it is about."""
    return str(body.get("status")).lower() == "error"


def _told(result: Any, depth: int) -> Iterator[str]:
    """Name each place where the tool's own text or body tells of a failure."""
    if depth > _DEEPEST:
        return
    if isinstance(result, str):
        body = _json(result)
        if body is not None:
            yield from _told(body, depth + 1)
        elif _TOLD.match(result) or result.endswith(_RETRY):
            yield "the text"
    elif isinstance(result, Mapping):
        if not _OF_A_MESSAGE & result.keys() or depth:
            if _says_error(result):
                yield "an error in the body"
            elif result.get("success") is False or result.get("ok") is False or _is_error(result):
                yield "a status in the body"
        for key in _PAYLOADS:
            if isinstance(result.get(key), (str, list)) or key in _WRAPPERS:
                yield from _told(result.get(key), depth + 1)
    elif isinstance(result, (list, tuple)) and _are_blocks(result):
        for block in result:
            yield from _told(block if isinstance(block, str) else _payload_of(block), depth + 1)


def _are_blocks(items: Any) -> bool:
    """Say whether a list holds the parts of a message and not rows of data."""
    return len(items) <= 64 and all(
        isinstance(item, Mapping) and ("text" in item or "json" in item) and len(item) <= 4 for item in items
    )


def _payload_of(block: Mapping[str, Any]) -> Any:
    return block.get("text", block.get("json"))


def _json(text: str) -> Mapping[Any, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _is_empty(result: Any, depth: int) -> bool:
    if isinstance(result, str):
        return not result.strip()
    if isinstance(result, Mapping) and depth == 0:
        held = [result[key] for key in _PAYLOADS if key in result]
        return all(_is_empty(value, 1) for value in held) if held else not result
    if isinstance(result, (list, tuple)):
        return all(isinstance(item, Mapping) and _is_empty(item.get("text", item), 1) for item in result)
    return result is None or (isinstance(result, Mapping) and not result)
