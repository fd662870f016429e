"""Read files of traces: the package's own stores, and what a program in another language has written."""

from __future__ import annotations

import os
import warnings
from typing import Any, Final

from neverempty._errors import InputError
from neverempty._io import JsonError, NonStrictJsonWarning, jsonable, loads_strict, read_lines
from neverempty.traces.codec import TRACE_SCHEMA_VERSION, quick_trace, trace_from_json, trace_from_object
from neverempty.traces.model import Trace

HEADER_KEY: Final = "trace_schema_version"


def read_traces(path: str | os.PathLike[str]) -> list[Trace]:
    """Read a file of traces, one JSON object a line.

    Parameters
    ----------
    path : path-like
        A store of this package (its first line says which run it belongs to), or a UTF-8 file that an agent
        in any language has written. In a store, an unfinished last line is left out, and a later trace of the
        same suite, case, arm and repeat takes the place of an earlier one; elsewhere the second is an error,
        since a trace ends once. NaN and Infinity from others become null, with a `NonStrictJsonWarning`.

    Returns
    -------
    list of Trace
        In the order of the file.

    Raises
    ------
    InputError
        Names every bad line, as ``"path:line: what is wrong"``.
    """
    found, problems = read_numbered(path)
    if problems:
        raise InputError(problems)
    return [trace for _, trace in found]


def read_numbered(path: str | os.PathLike[str]) -> tuple[list[tuple[int, Trace]], list[str]]:
    """Read a file of traces, each with the number of its line, and say what is wrong with the others.

    Parameters
    ----------
    path : path-like
        As for `read_traces`.

    Returns
    -------
    traces : list of (int, Trace)
        In the order of the file.
    problems : list of str
        Every bad line, as ``"path:line: what is wrong"``.

    Raises
    ------
    InputError
        Where the file is no text in UTF-8, or of another format version.
    """
    name = os.fspath(path)
    found: dict[tuple[str, str, str, int], tuple[int, Trace]] = {}
    problems: list[str] = []
    is_store, number = False, 0
    last_bad: list[int | str] = []
    for number, raw in read_lines(path):
        where = f"{name}:{number}"
        if number == 1 and _is_header(raw, where):
            is_store = True
            continue
        try:
            trace = (quick_trace(raw) if is_store else None) or _read_line(raw, where)
        except InputError as error:
            problems.extend(error.problems)
            last_bad = [number, *error.problems]
            continue
        key = (trace.suite, trace.case_id, trace.arm, trace.repeat)
        if key in found and not is_store:
            problems.append(_ends_twice(trace, where, f"{name}:{found[key][0]}"))
        found[key] = (number, trace)
    if is_store and last_bad[:1] == [number] and not _ends_with_newline(path):
        problems = problems[: 1 - len(last_bad)]  # the line that a killed writer never finished
    return list(found.values()), problems


def _read_line(raw: bytes, where: str) -> Trace:
    """Read one line; only one that strict JSON refuses is looked at for the numbers that others write."""
    try:
        return trace_from_json(raw, where)
    except InputError:
        strange: list[str] = []
        try:
            data = loads_strict(raw, on_nan=strange.append)
        except JsonError:
            strange.clear()
        if not strange:
            raise
    warnings.warn(
        f"{where}: {strange[0]} is not JSON; it is read as null", NonStrictJsonWarning, stacklevel=3
    )
    return trace_from_object(jsonable(data), where)


def _is_header(raw: bytes, where: str) -> bool:
    try:
        header = loads_strict(raw)
    except JsonError:
        return False
    if not isinstance(header, dict) or HEADER_KEY not in header or "case_id" in header:
        return False
    check_version(header, where)
    return True


def check_version(header: dict[str, Any], where: str) -> None:
    """Refuse a file of another format version.

    Parameters
    ----------
    header : dict
        The first line of a store.
    where : str
        File and line, for the message.

    Raises
    ------
    InputError
        Where the version is not the one that this package reads.
    """
    version = header[HEADER_KEY]
    if version != TRACE_SCHEMA_VERSION:
        known = f"this package reads {TRACE_SCHEMA_VERSION}"
        raise InputError(f"{where}: trace schema version {version!r} is not known; {known}")


def _ends_with_newline(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as handle:
        handle.seek(-1, os.SEEK_END)
        return handle.read() == b"\n"


def _ends_twice(trace: Trace, where: str, earlier: str) -> str:
    return (
        f"{where}: case {trace.case_id!r} (suite {trace.suite!r}, arm {trace.arm!r}, repeat {trace.repeat}) "
        f"ended at {earlier} already; a trace has exactly one end, number the repeats"
    )
