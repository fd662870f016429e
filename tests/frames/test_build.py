from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty._errors import InputError
from neverempty.frames import SCHEMAS, build_frame, calls_frame, trace_rows, traces_frame
from neverempty.frames.check import frame_problems
from neverempty.traces.model import ToolCall, Trace


@given(data=st.data())
def test_traces_come_back_from_their_frame_as_they_went_in(any_traces, data) -> None:
    traces = data.draw(any_traces)
    frame = traces_frame(traces)
    assert list(trace_rows(frame)) == traces
    assert frame_problems(frame, "traces") == []
    assert frame_problems(calls_frame(frame), "calls") == []


def test_every_field_of_a_trace_and_of_a_call_is_a_documented_column() -> None:
    for name, model in (("traces", Trace), ("calls", ToolCall)):
        documented = {column.name for column in SCHEMAS[name].columns}
        assert {field.name for field in dataclasses.fields(model)} <= documented


def test_every_column_has_the_documented_dtype_even_without_rows() -> None:
    for name, schema in SCHEMAS.items():
        frame = build_frame(name, {column.name: [] for column in schema.columns})
        found = {column: str(dtype).replace("string", "str") for column, dtype in frame.dtypes.items()}
        assert found == {column.name: column.dtype for column in schema.columns}


def test_filtering_the_traces_keeps_their_calls(trace) -> None:
    other = dataclasses.replace(trace, case_id="b", calls=[])
    frame = traces_frame([trace, other])
    assert len(calls_frame(frame[frame["case_id"] == "a"])) == 1
    assert len(calls_frame(frame[frame["case_id"] == "b"])) == 0
    assert list(trace_rows(frame[frame["case_id"] == "a"])) == [trace]


def test_rows_come_from_a_frame_whose_columns_were_dropped_moved_or_added(trace) -> None:
    frame = traces_frame([trace]).drop(columns=["messages", "confidence"]).assign(mine=1)
    assert list(trace_rows(frame[frame.columns[::-1]])) == [trace]


def test_missing_keys_are_named(trace) -> None:
    frame = traces_frame([trace]).drop(columns=["arm", "repeat"])
    with pytest.raises(InputError) as caught:
        list(trace_rows(frame))
    assert caught.value.problems == (
        "traces: column 'arm' is missing",
        "traces: column 'repeat' is missing",
    )
    with pytest.raises(InputError, match="'calls' is missing"):
        calls_frame(traces_frame([trace]).drop(columns=["calls"]))


def test_a_value_that_does_not_fit_is_named_with_column_and_row(trace) -> None:
    wrong = dataclasses.replace(trace, status="fine", input_tokens=1.5, started_at="yesterday", route=3)
    with pytest.raises(InputError) as caught:
        traces_frame([trace, wrong])
    text = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 4
    assert "column 'status', row 1: 'fine' is no category value, one of ok, agent_error" in text
    assert "column 'input_tokens', row 1: 1.5 is no Int64 value" in text
    assert "column 'started_at', row 1: 'yesterday' is no datetime64[us, UTC] value" in text
    assert "column 'route', row 1: 3 is no str value" in text


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("value", "0.5"),
        ("n_cases", None),
        ("n_cases", 1.5),
        ("hits", "1"),
        ("status", 1),
        ("metric", 1),
    ],
)
def test_no_value_is_bent_into_another_dtype(column, bad) -> None:
    columns = {
        found.name: [{"str": "x", "category": "x", "int": 1}.get(found.kind)]
        for found in SCHEMAS["metrics"].columns
    }
    build_frame("metrics", columns)
    with pytest.raises(InputError, match=rf"column '{column}', row 0"):
        build_frame("metrics", columns | {column: [bad]})


def test_columns_of_ones_own_are_kept_behind_the_documented_ones() -> None:
    columns = {column.name: [] for column in SCHEMAS["metrics"].columns} | {"fault_kind": []}
    assert build_frame("metrics", columns).columns[-1] == "fault_kind"


def test_missing_columns_are_all_listed() -> None:
    with pytest.raises(InputError) as caught:
        build_frame("calls", {"suite": [], "case_id": []})
    assert len(caught.value.problems) == sum(column.required for column in SCHEMAS["calls"].columns) - 2


def test_missing_stays_apart_from_zero_and_from_the_empty_text(trace) -> None:
    zero = dataclasses.replace(trace, case_id="b", answer="", cost_usd=0.0, input_tokens=0)
    none = dataclasses.replace(trace, answer=None, cost_usd=None, input_tokens=None)
    frame = traces_frame([none, zero])
    for column in ("answer", "cost_usd", "input_tokens"):
        assert frame[column].isna().tolist() == [True, False]
    assert pd.isna(frame["cost_usd"].iloc[0])


def test_the_contract_can_be_printed_as_a_table() -> None:
    table = SCHEMAS["calls"].describe()
    assert "| truth | category | what really happened |" in table
    assert SCHEMAS["calls"].column("truth").categories == ("data", "empty", "error", "unknown")
    with pytest.raises(KeyError):
        SCHEMAS["calls"].column("nothing")
