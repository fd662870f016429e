"""Traces of every shape for the tests of the frames."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import strategies as st

from neverempty.frames import SCHEMAS
from neverempty.traces.model import FaultState, ToolCall, Trace, TraceStatus, Truth

# every code point there is, lone surrogates among them
TEXT = st.text(st.characters(), max_size=8)
MAYBE_TEXT = st.none() | TEXT
NUMBER = st.floats(min_value=0, max_value=1e9)
COUNT = st.integers(0, 2**53)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
DICT = st.dictionaries(TEXT, JSON, max_size=2)
MOMENT = st.datetimes().map(lambda moment: moment.isoformat(timespec="microseconds") + "+00:00")


@st.composite
def tool_calls(draw: Any, number: int) -> ToolCall:
    return ToolCall(
        call=number,
        tool=draw(TEXT),
        args=draw(DICT),
        truth=draw(st.sampled_from(get_args(Truth))),
        returned=draw(MAYBE_TEXT),
        seen=draw(MAYBE_TEXT),
        kind=draw(MAYBE_TEXT),
        injected=draw(st.booleans()),
        presentation=draw(MAYBE_TEXT),
        layer=draw(MAYBE_TEXT),
        state=draw(st.sampled_from(get_args(FaultState))),
        duration_ms=draw(NUMBER),
        call_id=draw(MAYBE_TEXT),
        attempts=draw(COUNT),
    )


@st.composite
def one_trace(draw: Any, number: int) -> Trace:
    return Trace(
        suite=draw(TEXT),
        case_id=f"{number}{draw(TEXT)}",
        arm=draw(TEXT),
        repeat=draw(COUNT),
        status=draw(st.sampled_from(get_args(TraceStatus))),
        terminal_reason=draw(TEXT),
        answer=draw(MAYBE_TEXT),
        route=draw(MAYBE_TEXT),
        structured=draw(JSON),
        messages=draw(st.lists(DICT, max_size=2)),
        calls=[draw(tool_calls(call)) for call in range(draw(st.integers(0, 2)))],
        split=draw(MAYBE_TEXT),
        language=draw(MAYBE_TEXT),
        tags=tuple(draw(st.lists(TEXT, max_size=2))),
        must_pass=draw(st.booleans()),
        fault_kind=draw(TEXT),
        fault_state=draw(st.sampled_from(get_args(FaultState))),
        duration_ms=draw(st.none() | NUMBER),
        input_tokens=draw(st.none() | COUNT),
        cost_usd=draw(st.none() | NUMBER),
        cost_unknown_reason=draw(MAYBE_TEXT),
        error_message=draw(MAYBE_TEXT),
        started_at=draw(st.none() | MOMENT),
        confidence=draw(st.none() | st.floats(0, 1)),
        repeat_of=draw(st.none() | COUNT),
    )


@pytest.fixture(scope="session")
def any_traces() -> st.SearchStrategy[list[Trace]]:
    return st.integers(0, 4).flatmap(lambda size: st.tuples(*map(one_trace, range(size))).map(list))


@pytest.fixture(scope="session")
def any_rows() -> Any:
    """Strategy of the columns of any frame, drawn from its contract alone."""
    kinds = {
        "str": TEXT,
        "category": TEXT,
        "int": COUNT,
        "Int": COUNT,
        "float": NUMBER,
        "bool": st.booleans(),
        "datetime": MOMENT,
        "object": JSON,
    }

    @st.composite
    def rows(draw: Any, name: Any) -> dict[str, list[Any]]:
        size = draw(st.integers(0, 3))
        columns: dict[str, list[Any]] = {}
        for column in SCHEMAS[name].columns:
            numbers = st.floats(0, 1) if column.hi == 1 else kinds[column.kind]
            values = st.sampled_from(column.categories) if column.categories else numbers
            values = st.none() | values if column.nullable else values
            columns[column.name] = draw(st.lists(values, min_size=size, max_size=size))
        columns[SCHEMAS[name].keys[0]] = [f"row {row}" for row in range(size)]
        return columns

    return rows


@pytest.fixture
def trace() -> Trace:
    call = ToolCall(0, "search", {"q": "nurse"}, "error", returned="{}", kind="timeout", state="fired")
    return Trace("demo", "a", "typed", 0, answer="The search failed.", calls=[call], tags=("x", "y"))
