"""Files of traces that other programs wrote are read, or refused with every fault named."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from neverempty._errors import InputError
from neverempty._io import NonStrictJsonWarning
from neverempty.traces import read_traces


def write(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "foreign.jsonl"
    path.write_text("\n".join(lines), "utf-8", newline="")
    return path


def test_another_programs_file_needs_no_header(tmp_path: Path) -> None:
    path = write(
        tmp_path, '{"case_id": "a", "answer": "one\u2028two"}\r', "", '{"case_id": "b", "answer": "x"}'
    )
    assert [(trace.case_id, trace.answer) for trace in read_traces(path)] == [
        ("a", "one\u2028two"),
        ("b", "x"),
    ]


def test_a_trace_ends_once(tmp_path: Path) -> None:
    line = '{"case_id": "a", "answer": "x"}'
    path = write(tmp_path, line, '{"case_id": "a", "repeat": 1, "answer": "x"}', line)
    with pytest.raises(InputError) as caught:
        read_traces(path)
    [problem] = caught.value.problems
    assert problem.startswith(
        f"{path}:3: case 'a' (suite 'default', arm 'imported', repeat 0) ended at {path}:1"
    )


def test_every_bad_line_is_named_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path, '{"case_id": "a"}', '{"case_id": "b", "answer": "x"}', '{"case_id": "c", "answer": 3}', "{"
    )
    with pytest.raises(InputError) as caught:
        read_traces(path)
    assert [problem.removeprefix(f"{path}:").split(":")[0] for problem in caught.value.problems] == [
        "1",
        "3",
        "4",
    ]


def test_numbers_that_json_does_not_have_become_null_with_a_warning(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '{"case_id": "a", "answer": "x", "cost_usd": NaN, "structured": [1, -Infinity]}',
        '{"case_id": "b", "answer": "x"}',
    )
    with pytest.warns(NonStrictJsonWarning, match=r"foreign\.jsonl:1: NaN is not JSON; it is read as null"):
        first, second = read_traces(path)
    assert (first.cost_usd, first.structured) == (None, [1, None])
    assert second.case_id == "b"


def test_other_faults_of_a_line_with_nan_are_still_named(tmp_path: Path) -> None:
    path = write(
        tmp_path, '{"case_id": "a", "confidence": NaN}', '{"case_id": "a", "case_id": "b", "x": NaN}'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonStrictJsonWarning)
        with pytest.raises(InputError) as caught:
            read_traces(path)
    assert [problem.removeprefix(f"{path}:") for problem in caught.value.problems] == [
        "1: give 'answer', or 'status' to say that there is none",
        "2: column 18: the key 'case_id' stands twice in the same object",
    ]


def test_a_header_of_another_version_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"trace_schema_version": 9}), '{"case_id": "a", "answer": "x"}')
    with pytest.raises(InputError, match="trace schema version 9 is not known"):
        read_traces(path)


def test_an_unfinished_last_line_of_another_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"foreign\.jsonl:2"):
        read_traces(write(tmp_path, '{"case_id": "a", "answer": "x"}', '{"case_id": "b", "ans'))


def test_wide_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.jsonl"
    path.write_bytes('{"case_id": "a", "answer": "x"}'.encode("utf-16"))
    with pytest.raises(InputError, match="save it as UTF-8"):
        read_traces(path)


def test_an_empty_file_holds_no_trace(tmp_path: Path) -> None:
    assert read_traces(write(tmp_path, "")) == []
