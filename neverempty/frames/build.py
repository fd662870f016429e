"""Frames from model objects, and the objects back from frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pandas as pd

from neverempty._errors import InputError
from neverempty.frames.arrays import make_array, objects, plain_values
from neverempty.frames.schema import SCHEMAS, FrameName
from neverempty.traces.model import ToolCall, Trace

_TRACE_FIELDS = frozenset(field.name for field in dataclasses.fields(Trace))
_CALL_FIELDS = tuple(field.name for field in dataclasses.fields(ToolCall))


def build_frame(name: FrameName, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Make a frame of the documented columns and dtypes from lists.

    Parameters
    ----------
    name : str
        Key of `SCHEMAS`.
    columns : mapping of str to sequence
        Values by column, all of one length; None is missing. Columns that the schema does not know are
        kept behind the others, with the dtype that pandas infers; optional columns may be left out.

    Returns
    -------
    DataFrame
        Columns in the schema's order, with a fresh index.

    Raises
    ------
    InputError
        Lists every missing column and every value that does not fit.

    Examples
    --------
    >>> frame = build_frame("metrics", {c.name: [] for c in SCHEMAS["metrics"].columns})
    >>> str(frame.dtypes["n_cases"]), str(frame.dtypes["value"]), str(frame.dtypes["status"])
    ('int64', 'float64', 'category')
    """
    schema = SCHEMAS[name]
    arrays: dict[str, Any] = {}
    problems: list[str] = []
    for column in schema.columns:
        if column.name not in columns:
            if column.required:
                problems.append(f"{name}: column {column.name!r} is missing")
            continue
        try:
            arrays[column.name] = make_array(column, columns[column.name])
        except InputError as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
    if problems:
        raise InputError(problems)
    for other, values in columns.items():
        if other not in arrays:
            arrays[other] = pd.Series(objects(list(values)), dtype=object).infer_objects().to_numpy()
    return pd.DataFrame(arrays, copy=False)


def traces_frame(traces: Iterable[Trace]) -> pd.DataFrame:
    """Make the traces frame: one row per repeat.

    Parameters
    ----------
    traces : iterable of Trace
        In the order of the rows.

    Returns
    -------
    DataFrame
        The columns of ``SCHEMAS["traces"]``. ``calls`` holds each trace's list of ToolCall, so that filtering
        the frame keeps them.

    Examples
    --------
    >>> frame = traces_frame([Trace("demo", "a", "typed", 0, answer="Three jobs.")])
    >>> frame[["case_id", "repeat", "status", "answer"]].to_dict("records")
    [{'case_id': 'a', 'repeat': 0, 'status': 'ok', 'answer': 'Three jobs.'}]
    """
    rows = list(traces)
    return build_frame("traces", _columns_of(rows))


def _columns_of(rows: list[Trace]) -> dict[str, list[Any]]:
    """Take traces apart; written out because a generic getter takes three times as long."""
    return {
        "suite": [t.suite for t in rows],
        "case_id": [t.case_id for t in rows],
        "arm": [t.arm for t in rows],
        "repeat": [t.repeat for t in rows],
        "split": [t.split for t in rows],
        "language": [t.language for t in rows],
        "tags": [t.tags for t in rows],
        "must_pass": [t.must_pass for t in rows],
        "status": [t.status for t in rows],
        "terminal_reason": [t.terminal_reason for t in rows],
        "answer": [t.answer for t in rows],
        "route": [t.route for t in rows],
        "structured": [t.structured for t in rows],
        "messages": [t.messages for t in rows],
        "fault_kind": [t.fault_kind for t in rows],
        "fault_presentation": [t.fault_presentation for t in rows],
        "fault_layer": [t.fault_layer for t in rows],
        "fault_state": [t.fault_state for t in rows],
        "duration_ms": [t.duration_ms for t in rows],
        "input_tokens": [t.input_tokens for t in rows],
        "output_tokens": [t.output_tokens for t in rows],
        "cost_usd": [t.cost_usd for t in rows],
        "cost_unknown_reason": [t.cost_unknown_reason for t in rows],
        "error_kind": [t.error_kind for t in rows],
        "error_message": [t.error_message for t in rows],
        "resolved_model": [t.resolved_model for t in rows],
        "trace_id": [t.trace_id for t in rows],
        "run_id": [t.run_id for t in rows],
        "started_at": [t.started_at for t in rows],
        "confidence": [t.confidence for t in rows],
        "repeat_of": [t.repeat_of for t in rows],
        "calls": [t.calls for t in rows],
    }


def calls_frame(traces: pd.DataFrame) -> pd.DataFrame:
    """Make the calls frame: one row per tool call.

    Parameters
    ----------
    traces : DataFrame
        A traces frame, whole or filtered.

    Returns
    -------
    DataFrame
        The columns of ``SCHEMAS["calls"]``, in the order of the traces and their calls.

    Raises
    ------
    InputError
        Where a key or the column ``calls`` is missing.

    Examples
    --------
    >>> call = ToolCall(0, "search", {"q": "x"}, "error", kind="timeout", injected=True, state="fired")
    >>> calls = calls_frame(traces_frame([Trace("demo", "a", "typed", 0, calls=[call])]))
    >>> calls[["case_id", "tool", "truth", "kind", "state"]].to_dict("records")
    [{'case_id': 'a', 'tool': 'search', 'truth': 'error', 'kind': 'timeout', 'state': 'fired'}]
    """
    keys = SCHEMAS["traces"].keys
    missing = [name for name in (*keys, "calls") if name not in traces.columns]
    if missing:
        raise InputError(
            [f"traces: column {name!r} is missing; hand in the frame that run made" for name in missing]
        )
    per_trace = traces["calls"].tolist()
    calls = [call for found in per_trace for call in found]
    columns: dict[str, list[Any]] = {}
    for key in keys:
        values = traces[key].tolist()
        columns[key] = [value for value, found in zip(values, per_trace, strict=True) for _ in found]
    for field in _CALL_FIELDS:
        columns[field] = list(map(attrgetter(field), calls))
    return build_frame("calls", columns)


def trace_rows(traces: pd.DataFrame) -> Iterator[Trace]:
    """Walk a traces frame as Trace objects.

    Parameters
    ----------
    traces : DataFrame
        A traces frame; columns that were dropped count as missing, columns that were added are ignored.

    Yields
    ------
    Trace
        One per row. Lists and calls are shared with the frame, not copied.

    Raises
    ------
    InputError
        Where a key column is missing.

    Examples
    --------
    >>> trace = Trace("demo", "a", "typed", 0, answer="Three jobs.", tags=("x",))
    >>> next(trace_rows(traces_frame([trace]))) == trace
    True
    """
    schema = SCHEMAS["traces"]
    missing = [key for key in schema.keys if key not in traces.columns]
    if missing:
        raise InputError([f"traces: column {key!r} is missing" for key in missing])
    known = [column for column in schema.columns if column.name in _TRACE_FIELDS]
    found = [column for column in known if column.name in traces.columns]
    names = [column.name for column in found]
    columns = [plain_values(column, traces[column.name]) for column in found]
    if found == known:
        order = [names.index(field.name) for field in dataclasses.fields(Trace)]
        return (Trace(*row) for row in zip(*(columns[place] for place in order), strict=True))
    return (Trace(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True))
