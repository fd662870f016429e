"""A set of cases is immutable, hashes its content and shows itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from neverempty._errors import InputError
from neverempty.cases import Case, Cases, find_pattern, load_cases

Write = Callable[..., Path]


def case(name: str, **fields: Any) -> Case:
    return Case.model_validate({"id": name, "input": {"payload": name}, **fields})


CASES = Cases(
    [
        case("a", split="test", tags=("x", "y"), suite="jobs"),
        case("b", split="dev", tags=("x",), suite="jobs"),
        case("c", split="test", suite="mail", faults=[{"tool": "send", "kind": "timeout"}]),
    ]
)


def test_it_behaves_like_an_immutable_sequence() -> None:
    assert len(CASES) == 3
    assert [one.id for one in CASES[1:]] == ["b", "c"]
    assert isinstance(CASES[1:], Cases)
    assert CASES[0] in CASES
    assert Cases(list(CASES)) == CASES
    with pytest.raises(TypeError):
        CASES[0] = CASES[1]  # type: ignore[index]
    with pytest.raises(ValidationError, match="frozen"):
        CASES[0].id = "z"


def test_an_id_stands_once_in_its_suite() -> None:
    with pytest.raises(InputError, match="the id 'a' of suite 'default' stands twice"):
        Cases([case("a"), case("b"), case("a"), case("a", suite="other")])


def test_filter_keeps_what_meets_every_condition() -> None:
    assert [one.id for one in CASES.filter(split="test")] == ["a", "c"]
    assert [one.id for one in CASES.filter(tags=["x", "y"])] == ["a"]
    assert [one.id for one in CASES.filter(tags="x")] == ["a", "b"]
    assert [one.id for one in CASES.filter(split="test", suite="mail")] == ["c"]
    assert len(CASES.filter(suite="none")) == 0


def test_the_split_hash_sees_content_and_nothing_else() -> None:
    frozen = CASES.split_hash()
    assert Cases(reversed(CASES)).split_hash() == frozen
    assert Cases([CASES[0], CASES[2]]).split_hash() == frozen
    edited = CASES[0].model_copy(update={"must_pass": True})
    assert Cases([edited, *CASES[1:]]).split_hash() != frozen
    assert CASES.split_hash("dev") != frozen
    assert CASES.split_hash(None) not in (frozen, CASES.split_hash("dev"))
    moved = CASES[1].model_copy(update={"split": "test"})
    assert Cases([CASES[0], moved, CASES[2]]).split_hash() != frozen


def test_the_split_hash_does_not_depend_on_layout_or_spelling_of_the_file(case_file: Write) -> None:
    one = case_file('{"id": "é", "split": "test", "input": {"payload": {"b": 1, "a": 2}}}', name="one.jsonl")
    two = case_file(
        '{"input":{"payload":{"a":2,"b":1}},"schema_version":1,"split":"test","id":"\\u00e9","tags":[]}',
        name="two.jsonl",
    )
    assert load_cases(one).split_hash() == load_cases(two).split_hash()


def test_the_split_hash_is_the_same_in_every_process() -> None:
    code = (
        "from neverempty.cases import Case, Cases\n"
        "print(Cases([Case(id='a', split='test', input={'payload': '\\ud835 \\u2028'})]).split_hash())"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in (1, 2)
    }
    [only] = hashes
    assert only == Cases([case("a", split="test", input={"payload": "\ud835 \u2028"})]).split_hash()


def test_the_frame_has_one_row_per_case() -> None:
    frame = CASES.frame()
    assert list(frame["case_id"]) == ["a", "b", "c"]
    assert list(frame["fault_kind"]) == ["none", "none", "timeout"]
    assert frame.loc[2, "fault_tools"] == ("send",)
    assert list(Cases().frame().columns) == list(frame.columns)


def test_hostile_text_is_escaped_in_the_notebook() -> None:
    payload = {"payload": "<img src=x onerror=alert(2)>"}
    hostile = [case(f"<script>alert({n})</script>", input=payload, suite="a&b") for n in range(12)]
    shown = Cases(hostile)._repr_html_()
    assert "<script>" not in shown
    assert "<img" not in shown
    assert "a&amp;b" in shown
    assert "and 2 more" in shown


def test_the_conversation_is_a_fresh_copy_with_all_its_keys() -> None:
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "s"}}]},
        {"role": "tool", "content": "[]", "tool_call_id": "c1"},
        {"role": "user", "content": [{"type": "text", "text": "and"}, {"type": "image"}, {"text": "now?"}]},
    ]
    one = case("m", input={"messages": messages})
    assert one.messages == messages
    one.messages[1]["tool_calls"].append("changed")
    assert one.messages == messages
    assert one.prompt == "and\nnow?"
    assert case("p", input={"messages": messages[1:3]}).prompt == ""


def test_defaults_are_not_shared_between_cases() -> None:
    one, two = case("a"), case("b")
    one.expect.custom["x"] = 1
    assert two.expect.custom == {}


def test_patterns_are_searched_in_any_text() -> None:
    assert find_pattern("(?i)no (jobs|roles)", "Sorry, No Roles") == (7, 15)
    assert find_pattern("\U0001f378", "é \U0001f378 x") == (2, 3)
    assert find_pattern("b", "\ud835b") == (1, 2)
    assert find_pattern("z", "a") is None
    assert find_pattern("(a+)+$", "a" * 50_000 + "b") is None
