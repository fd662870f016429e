"""The schema files say what the readers do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

import neverempty.schemas
from neverempty._errors import InputError
from neverempty.cases.loading import parse_case
from neverempty.schemas import SCHEMAS, case_schema, trace_schema, write_schemas
from neverempty.traces import Trace, trace_from_json, trace_to_json

FOLDER = Path(neverempty.schemas.__file__).parent


def test_the_files_are_in_step_with_the_models(tmp_path: Path) -> None:
    write_schemas(tmp_path)
    for name in SCHEMAS:
        assert (FOLDER / name).read_text("utf-8") == (tmp_path / name).read_text("utf-8"), (
            f"run `python -m neverempty.schemas`: {name} is behind its model"
        )


def test_every_field_is_described() -> None:
    for schema in (trace_schema(), trace_schema()["$defs"]["ToolCall"], case_schema()):
        assert [name for name, field in schema["properties"].items() if not field.get("description")] == []


def test_what_the_package_writes_meets_its_schemas(make_trace: Callable[..., Trace]) -> None:
    case = parse_case(CASE).model_dump(mode="json", exclude_unset=True)
    assert is_valid(trace_schema(), json.loads(trace_to_json(make_trace())))
    assert is_valid(case_schema(), case)


def is_valid(schema: dict[str, Any], value: object) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def readable(read: Callable[[str], object], line: str) -> bool:
    try:
        read(line)
    except (InputError, ValidationError):
        return False
    return True


@pytest.mark.parametrize(
    "line",
    [
        '{"case_id": "a", "answer": "x"}',
        '{"case_id": "a", "answer": null}',
        '{"case_id": "a", "status": "ok"}',
        '{"case_id": "a", "status": "agent_error"}',
        '{"case_id": "a", "status": "agent_error", "terminal_reason": "exit 1"}',
        '{"case_id": "a"}',
        '{"answer": "x"}',
        '{"case_id": "a", "answer": "x", "calls": [{"tool": "s"}]}',
        '{"case_id": "a", "answer": "x", "calls": [{}]}',
        '{"case_id": "a", "answer": "x", "repeat": -1}',
        '{"case_id": "a", "answer": "x", "repeat": true}',
        '{"case_id": "a", "answer": "x", "anwser": "x"}',
        '{"case_id": "a", "answer": "x", "confidence": 1.5}',
        '{"case_id": "", "answer": "x"}',
    ],
)
def test_reader_and_schema_agree_about_traces(line: str) -> None:
    assert is_valid(trace_schema(), json.loads(line)) == readable(trace_from_json, line)


CASE = '{"id": "a", "input": {"payload": null}, "faults": [{"tool": "s", "kind": "timeout"}]}'


@pytest.mark.parametrize(
    "line",
    [
        CASE,
        '{"id": "a", "input": {}}',
        '{"id": "a", "input": {"messages": [{"role": "user", "content": "x", "name": "y"}]}}',
        '{"id": "a", "input": {"messages": [{"role": "user", "content": "x"}], "payload": 1}}',
        '{"id": "a", "input": {"messages": []}}',
        '{"id": "a", "input": {"payload": 1}, "schema_version": 2}',
        '{"id": "a", "input": {"payload": 1}, "split": "train"}',
        '{"id": "a", "input": {"payload": 1}, "must_pass": 1}',
        '{"id": "a", "input": {"payload": 1}, "tgas": []}',
        '{"id": "a", "input": {"payload": 1}, "faults": [{"tool": "s", "kind": "tiemout"}]}',
        '{"id": "a", "input": {"payload": 1}, "expect": {"route": {"label": "x"}}}',
        '{"id": "a", "input": {"payload": 1}, "expect": {"route": {}}}',
    ],
)
def test_reader_and_schema_agree_about_cases(line: str) -> None:
    assert is_valid(case_schema(), json.loads(line)) == readable(parse_case, line)
