"""A file of cases is loaded whole or refused with every bad line named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError
from neverempty.cases import Case, load_cases, validate_file
from neverempty.cases.loading import parse_case

Write = Callable[..., Path]
Data = Callable[..., dict[str, Any]]
MINIMAL = {"id": "a", "input": {"payload": {"q": "jobs"}}}


def test_a_case_with_every_part_is_read(case_file: Write, case_data: Data) -> None:
    [case] = load_cases(case_file(case_data()))
    assert case == Case.model_validate(case_data())
    assert (case.key, case.prompt, case.fault_kind) == (("jobs", "pune-1"), "Any?", "timeout")
    assert case.expect.tool_calls is not None
    assert case.expect.tool_calls.calls[0].args["limit"].tol == 0.5
    assert case.expect.items[0].rule_trace == ["age ok"]


def test_what_is_left_out_has_a_default(case_file: Write) -> None:
    [case] = load_cases(case_file(MINIMAL))
    assert (case.suite, case.split, case.language, case.must_pass, case.tags) == (
        "default",
        "dev",
        None,
        False,
        (),
    )
    assert case.fault_kind == "none"
    assert case.prompt == '{"q":"jobs"}'


def test_byte_order_mark_crlf_blank_lines_and_separators_inside_strings_survive(tmp_path: Path) -> None:
    prompt = "one\u2028two\u0085three\u2029four"
    line = json.dumps({"id": "b", "input": {"payload": prompt}}, ensure_ascii=False).encode()
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(MINIMAL).encode() + b"\r\n\r\n\r\n" + line)
    assert [case.prompt for case in load_cases(path)] == ['{"q":"jobs"}', prompt]


def test_a_lone_surrogate_in_a_case_survives(case_file: Write) -> None:
    [case] = load_cases(case_file('{"id": "a", "input": {"payload": "ok \\ud835"}, "tags": ["t"]}'))
    assert (case.prompt, case.tags) == ("ok \ud835", ("t",))


def test_every_bad_line_of_every_file_is_named_in_one_error(case_file: Write) -> None:
    first = case_file(MINIMAL, "", '{"id": "b",}', {**MINIMAL, "id": "c", "tgas": []}, name="one.jsonl")
    second = case_file(MINIMAL, '{"id": "x", "id": "y", "input": {"payload": NaN}}', name="two.jsonl")
    with pytest.raises(InputError) as caught:
        load_cases(first, second)
    assert [problem.removeprefix(str(first.parent) + "/") for problem in caught.value.problems] == [
        "one.jsonl:3: column 11: not JSON: a comma before the closing bracket",
        "one.jsonl:4: tgas: unknown key; did you mean 'tags'?",
        "two.jsonl:2: column 13: the key 'id' stands twice in the same object",
        f"two.jsonl:1: the id 'a' of suite 'default' stands at {first}:1 already",
    ]


def test_the_same_id_in_another_suite_is_another_case(case_file: Write) -> None:
    assert len(load_cases(case_file(MINIMAL, {**MINIMAL, "suite": "other"}))) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"schema_version": 2},
            "schema_version: schema version 2 is not known; this package reads version 1",
        ),
        (
            {"schema_version": "1"},
            "schema_version: schema version '1' is not known; this package reads version 1",
        ),
        (
            {"schema_version": True},
            "schema_version: schema version True is not known; this package reads version 1",
        ),
        ({"id": 7}, "id: must be a string, got 7"),
        ({"id": ""}, "id: must not be empty, got ''"),
        ({"must_pass": "true"}, "must_pass: must be true or false, got 'true'"),
        ({"split": "train"}, "split: input should be 'dev' or 'test', got 'train'"),
        ({"tags": "slow"}, "tags: must be a list, got 'slow'"),
        ({"input": {}}, "input: give exactly one of 'messages' and 'payload'"),
        (
            {"input": {"messages": [{"role": "user", "content": "x"}], "payload": None}},
            "input: give exactly one of 'messages' and 'payload'",
        ),
        ({"input": {"messages": []}}, "input.messages: must not be empty, got []"),
        (
            {"input": {"messages": [{"role": "usr", "content": "x"}]}},
            "input.messages.0.role: input should be 'system', 'developer', 'user', 'assistant' or 'tool', "
            "got 'usr'",
        ),
        ({"faults": [{"tool": "", "kind": "timeout"}]}, "faults.0.tool: must not be empty, got ''"),
        (
            {"faults": [{"tool": "s", "kind": "timeout", "after": 1}]},
            "faults.0.after: unknown key; did you mean 'after_calls'?",
        ),
        ({"expect": {"rout": {}}}, "expect.rout: unknown key; did you mean 'route'?"),
        ({"expect": {"route": {}}}, "expect.route.label: is missing"),
        (
            {"expect": {"tool_calls": {"calls": [{"tool": "s", "args": {"a": {"valeu": 1}}}]}}},
            "expect.tool_calls.calls.0.args.a.valeu: unknown key; did you mean 'value'?",
        ),
        (
            {"expect": {"tool_calls": {"calls": []}}},
            "expect.tool_calls: mode 'first' needs a call; use mode 'set' with no calls to expect none",
        ),
        (
            {"expect": {"facts": [{"id": "f", "statement": "x"}, {"id": "f", "statement": "y"}]}},
            "expect: facts: the id 'f' stands twice",
        ),
        (
            {"expect": {"tool_calls": {"calls": [{"tool": "s"}]}, "forbidden_tools": ["s"]}},
            "expect: tool 's' is both in tool_calls and in forbidden_tools",
        ),
        (
            {
                "expect": {
                    "facts": [{"id": "f", "statement": "two jobs"}],
                    "forbidden_claims": [{"id": "g", "statement": "two jobs"}],
                }
            },
            "expect: 'two jobs' is both in facts and in forbidden_claims",
        ),
        ({"expect": {"items": [{"item_id": "i"}]}}, "expect.items.0.rule_result: is missing"),
    ],
)
def test_a_wrong_field_is_named_with_the_way_out(
    case_file: Write, change: dict[str, Any], problem: str
) -> None:
    path = case_file({**MINIMAL, **change})
    assert validate_file(path) == [f"{path}:1: {problem}"]


@pytest.mark.parametrize(
    "fault", [{"tool": "s", "kind": "tiemout"}, {"tool": "s", "kind": "timeout", "presentation": "x"}]
)
def test_an_unknown_kind_or_presentation_of_a_fault_is_refused(
    case_file: Write, fault: dict[str, str]
) -> None:
    [problem] = validate_file(case_file({**MINIMAL, "faults": [fault]}))
    assert "'timeout'" in problem or "'typed'" in problem


@pytest.mark.parametrize(
    ("arg", "words"),
    [
        ({"match": "exact"}, "match 'exact' needs a value"),
        ({"match": "present", "value": 1}, "match 'present' takes no value"),
        ({"match": "numeric", "value": "3"}, "match 'numeric' needs a number, got '3'"),
        ({"match": "numeric", "value": True}, "match 'numeric' needs a number, got True"),
        ({"match": "numeric", "value": 3, "tol": -1}, "tol: input should be greater than or equal to 0"),
        ({"match": "numeric", "value": 3, "tol": "1"}, "tol: must be a number, got '1'"),
        ({"match": "exact", "value": 3, "tol": 1}, "tol belongs to 'numeric' and 'date', not to 'exact'"),
        ({"match": "set", "value": "ab"}, "match 'set' needs a list, got 'ab'"),
        ({"match": "regex", "value": "(a"}, "the pattern '(a' does not compile (RE2 syntax): missing )"),
        ({"match": "regex", "value": "a(?=b)"}, "does not compile (RE2 syntax)"),
        ({"match": "date", "value": "29.9.2026"}, "match 'date' needs an ISO date"),
        ({"match": "fuzzy", "value": "x"}, "match: input should be 'exact', 'normalized'"),
    ],
)
def test_an_expected_argument_that_could_never_match_is_refused(
    case_file: Write, arg: dict[str, Any], words: str
) -> None:
    call = {"tool": "s", "args": {"a": arg}}
    [problem] = validate_file(case_file({**MINIMAL, "expect": {"tool_calls": {"calls": [call]}}}))
    assert words in problem


def test_a_pattern_that_does_not_compile_is_found_at_loading(case_file: Write) -> None:
    claim = {"id": "c", "statement": "[a", "match": "regex"}
    for part in ("facts", "forbidden_claims"):
        [problem] = validate_file(case_file({**MINIMAL, "expect": {part: [claim]}}))
        assert f"expect.{part}.0: the pattern '[a' does not compile" in problem


def test_an_empty_file_is_no_set_of_cases(case_file: Write) -> None:
    path = case_file("")
    assert validate_file(path) == [f"{path}: holds no case; write one JSON object a line"]


def test_no_file_is_no_set_of_cases() -> None:
    with pytest.raises(UsageError, match="name at least one"):
        load_cases()


def test_wide_encodings_and_missing_files_are_named_beside_the_rest(case_file: Write, tmp_path: Path) -> None:
    wide = tmp_path / "wide.jsonl"
    wide.write_bytes(json.dumps(MINIMAL).encode("utf-16"))
    with pytest.raises(InputError) as caught:
        load_cases(wide, tmp_path / "none.jsonl", case_file("[1]"))
    assert [
        words in problem
        for words, problem in zip(
            ("UTF-16", "none.jsonl: cannot be read", "cases.jsonl:1: must be an object, got [1]"),
            caught.value.problems,
            strict=True,
        )
    ] == [True, True, True]


LINES = st.text(st.sampled_from('{}[]",: \\"idnputay1\u00e9\ud835NaN'), max_size=40) | st.sampled_from(
    [json.dumps(MINIMAL), json.dumps({**MINIMAL, "tags": ["x"]})]
)


@given(st.lists(LINES, min_size=1, max_size=4))
def test_any_file_is_loaded_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("any") / "cases.jsonl"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    problems = validate_file(path)
    assert all(problem.startswith(str(path)) for problem in problems)
    if not problems:
        assert len(load_cases(path)) == sum(bool(line.strip(" ")) for line in lines)


@given(st.sampled_from([{"id": "a"}, {"must_pass": 1}, {"tags": [1]}, {"language": 3}, {"input": [1]}, {}]))
def test_the_quick_and_the_exact_way_agree(change: dict[str, Any]) -> None:
    line = json.dumps({**MINIMAL, **change})
    try:
        quick: Case | None = Case.model_validate_json(line)
    except ValidationError:
        quick = None
    try:
        exact: Case | None = parse_case(line)
    except (ValidationError, JsonError):
        exact = None
    assert quick == exact
