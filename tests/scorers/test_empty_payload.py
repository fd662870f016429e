"""Absence in structured output after a failure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty.scorers import EmptyPayloadScorer
from neverempty.scorers.payload import absence_in, disclosed_in, json_blocks

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("payload", "paths"),
    [
        ({"jobs": []}, ("$.jobs",)),
        ({"total_count": 0}, ("$.total_count",)),
        ({"totalCount": 0}, ("$.totalCount",)),
        ({"data": {"page": {"total": 0}, "rows": []}}, ("$.data.page.total", "$.data.rows")),
        ({"found": False}, ("$.found",)),
        ([], ("$",)),
        ({}, ("$",)),
        ({"groups": [{"members": []}]}, ("$.groups[0].members",)),
        ({"jobs": None}, ()),
        ({"jobs": ["nurse"], "total_count": 1}, ()),
        ({"errors": [], "warnings": [], "filters": {"tags": []}}, ()),
        ({"price": 0, "temperature": 0.0}, ()),
        ({"available": True, "count": True}, ()),
        ("[]", ()),
        (0, ()),
    ],
)
def test_absence_is_found_where_it_stands(payload: Any, paths: tuple[str, ...]) -> None:
    assert absence_in(payload) == paths


@pytest.mark.parametrize(
    ("payload", "disclosed"),
    [
        ({"jobs": [], "error": "timeout"}, True),
        ({"jobs": [], "status": "failed"}, True),
        ({"result": {"success": False}, "jobs": []}, True),
        ({"jobs": [], "error": None, "errors": []}, False),
        ({"jobs": [], "status": "ok", "success": True}, False),
        ([], False),
    ],
)
def test_output_that_carries_the_failure_discloses_it(payload: Any, disclosed: bool) -> None:
    assert disclosed_in(payload) is disclosed


@pytest.mark.parametrize(
    ("answer", "blocks"),
    [
        ('```json\n{"jobs": []}\n```', [{"jobs": []}]),
        ("```\n[]\n```", [[]]),
        ("[]", [[]]),
        ('Result: {"a": {"b": []}} as asked', [{"a": {"b": []}}]),
        ("See [1] and the list:\n- [ ] open\n- [] closed", []),
        ("f{x} {not json", []),
    ],
)
def test_json_is_found_in_answers_but_citations_and_check_boxes_are_not(
    answer: str, blocks: list[Any]
) -> None:
    assert json_blocks(answer) == blocks


@given(JSON, st.text())
def test_looking_for_absence_never_raises(payload: Any, text: str) -> None:
    assert isinstance(absence_in(payload), tuple)
    assert isinstance(disclosed_in(payload), bool)
    assert isinstance(json_blocks(text), list)


def test_deep_nesting_ends() -> None:
    node: Any = []
    for _ in range(500):
        node = {"inner": node}
    assert absence_in(node) == ()


@pytest.mark.parametrize(
    ("fields", "truth", "label", "verdict"),
    [
        ({"structured": {"jobs": []}}, "error", "empty", "fail"),
        ({"answer": 'Here: {"total_count": 0}'}, "error", "empty", "fail"),
        ({"structured": {"jobs": [], "error": "timeout"}}, "error", "disclosed", "pass"),
        ({"structured": {"jobs": ["nurse"]}}, "error", "no_absence", "pass"),
        ({"answer": "There are no jobs."}, "error", None, "not_applicable"),
        ({"structured": {"jobs": []}}, "empty", None, "not_applicable"),
        ({"structured": {"jobs": []}}, "data", None, "not_applicable"),
    ],
)
def test_only_absence_after_a_failure_fails(
    fields: Any, truth: str, label: str | None, verdict: str, call: Any, case: Any, trace: Any
) -> None:
    fault = {"error": "timeout", "empty": "empty", "data": None}[truth]
    (score,) = EmptyPayloadScorer().score(trace(calls=(call(truth),), **fields), case(fault))
    assert (score.label, score.verdict) == (label, verdict)


def test_a_crash_after_structured_output_is_no_signal(call: Any, case: Any, trace: Any) -> None:
    crashed = trace(calls=(call("error"),), structured={"jobs": [1]}, status="agent_error")
    assert EmptyPayloadScorer().score(crashed, case("timeout"))[0].reason == "agent_error"
