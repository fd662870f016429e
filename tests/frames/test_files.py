from __future__ import annotations

import dataclasses
import json
import sys

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neverempty._errors import InputError, UsageError
from neverempty.frames import (
    SCHEMAS,
    build_frame,
    calls_frame,
    frame_name,
    read_frame,
    trace_rows,
    traces_frame,
    write_frame,
)

ROUND_TRIP = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "traces"])
@ROUND_TRIP
@given(data=st.data())
def test_a_frame_is_the_same_after_jsonl_there_and_back(any_rows, tmp_path, name, data) -> None:
    columns = data.draw(any_rows(name))
    if name == "calls":
        columns["args"] = [{"q": value} for value in columns["args"]]
    if "tags" in columns:
        columns["tags"] = [("x",)] * len(columns["tags"])
    if name in ("outcomes", "metrics"):
        counts = [column.name for column in SCHEMAS[name].columns if column.name.startswith(("n_", "hits"))]
        columns |= {column: [1] * len(columns[column]) for column in counts}
    if name == "metrics":
        columns |= {column: [0.5] * len(columns[column]) for column in ("lo", "value", "hi")}
    frame = build_frame(name, columns)
    path = tmp_path / "frame.jsonl"
    write_frame(frame, path, name)
    pd.testing.assert_frame_equal(read_frame(path, name), frame)


@ROUND_TRIP
@given(data=st.data())
def test_traces_and_their_calls_are_the_same_after_jsonl_there_and_back(any_traces, tmp_path, data) -> None:
    traces = data.draw(any_traces)
    frame = traces_frame(traces)
    write_frame(frame, tmp_path / "traces.jsonl")
    again = read_frame(tmp_path / "traces.jsonl", "traces")
    assert list(trace_rows(again)) == traces
    pd.testing.assert_frame_equal(again, frame)
    pd.testing.assert_frame_equal(calls_frame(again), calls_frame(frame))


def test_columns_of_ones_own_are_written_too(trace, tmp_path) -> None:
    frame = traces_frame([trace]).assign(mine=["x"], number=[3])
    write_frame(frame, tmp_path / "traces.jsonl")
    again = read_frame(tmp_path / "traces.jsonl", "traces")
    assert again["mine"].tolist() == ["x"]
    assert again["number"].tolist() == [3]


def test_a_frame_is_told_by_its_columns(trace) -> None:
    for name, schema in SCHEMAS.items():
        assert frame_name(build_frame(name, {column.name: [] for column in schema.columns})) == name
    with pytest.raises(InputError, match="the nearest, traces, needs 'answer'"):
        frame_name(traces_frame([trace]).drop(columns=["answer"]))


def test_a_broken_frame_is_not_written(trace, tmp_path) -> None:
    path = tmp_path / "traces.jsonl"
    with pytest.raises(InputError, match="stands more than once"):
        write_frame(traces_frame([trace, trace]), path)
    assert not path.exists()


def test_bad_lines_and_values_are_named_with_their_file(trace, tmp_path) -> None:
    path = tmp_path / "traces.jsonl"
    write_frame(traces_frame([trace]), path)
    row = json.loads(path.read_text())
    path.write_text('[1]\n{"a": \n' + json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"traces\.jsonl:2: column"):
        read_frame(path, "traces")
    path.write_text("[1]\n")
    with pytest.raises(InputError, match=r"traces\.jsonl:1: a row is a JSON object, not list"):
        read_frame(path, "traces")
    path.write_text(json.dumps(row | {"status": "fine"}))
    with pytest.raises(InputError, match=r"traces\.jsonl: traces: column 'status', row 0"):
        read_frame(path, "traces")
    path.write_text(json.dumps(row | {"calls": [{"tool": "x"}]}))
    with pytest.raises(InputError, match="is no tool call"):
        read_frame(path, "traces")


def test_an_empty_file_is_a_frame_without_rows(tmp_path) -> None:
    (tmp_path / "scores.jsonl").write_text("")
    frame = read_frame(tmp_path / "scores.jsonl", "scores")
    assert len(frame) == 0
    assert str(frame["verdict"].dtype) == "category"


def test_other_endings_and_other_names_are_refused(trace, tmp_path) -> None:
    with pytest.raises(UsageError, match=r"\.jsonl or \.parquet, not '\.csv'"):
        write_frame(traces_frame([trace]), tmp_path / "traces.csv")
    with pytest.raises(UsageError, match="did you mean 'traces'"):
        read_frame(tmp_path / "traces.jsonl", "trace")


def test_no_secret_is_written(trace, tmp_path) -> None:
    secret = "sk-" + "a1b2" * 8
    write_frame(traces_frame([dataclasses.replace(trace, answer=f"key {secret}")]), tmp_path / "traces.jsonl")
    assert secret not in (tmp_path / "traces.jsonl").read_text()
    assert read_frame(tmp_path / "traces.jsonl", "traces")["answer"].tolist() == ["key [redacted]"]


def test_parquet_without_its_library_says_what_to_install(trace, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (
        lambda: write_frame(traces_frame([trace]), tmp_path / "traces.parquet"),
        lambda: read_frame(tmp_path / "traces.parquet", "traces"),
    ):
        with pytest.raises(UsageError, match=r"pip install 'neverempty\[parquet\]'"):
            call()
    assert list(tmp_path.iterdir()) == []
