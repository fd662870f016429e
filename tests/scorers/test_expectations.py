"""Route, tools, arguments, facts, forbidden claims and tools: each can pass, fail, and have no signal."""

from __future__ import annotations

from typing import Any

import pytest

from neverempty.cases import ExpectedArg
from neverempty.scorers import (
    ArgumentsScorer,
    FactsScorer,
    ForbiddenClaimsScorer,
    ForbiddenToolsScorer,
    RouteScorer,
    ToolCallsScorer,
    UsageScorer,
)
from neverempty.scorers.argument_match import matches
from neverempty.traces.model import ToolCall

ALL = [
    RouteScorer,
    ToolCallsScorer,
    ArgumentsScorer,
    ForbiddenToolsScorer,
    FactsScorer,
    ForbiddenClaimsScorer,
]
EXPECT: dict[str, Any] = {
    "route": {"label": "billing", "acceptable": ["accounts"]},
    "tool_calls": {"mode": "first", "calls": [{"tool": "search", "args": {"q": {"value": "jobs"}}}]},
    "forbidden_tools": ["pay"],
    "facts": [{"id": "f", "statement": "two jobs"}],
    "forbidden_claims": [{"id": "c", "statement": "guaranteed"}],
}


def calls(*tools: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(at, tool, {"q": "jobs"}, "data") for at, tool in enumerate(tools))


def verdicts(scorer: Any, trace: Any, case: Any) -> dict[str, str]:
    return {
        score.metric: score.verdict for score in scorer.score(trace, case) if score.reason != "other_mode"
    }


@pytest.mark.parametrize("scorer", ALL)
def test_without_an_expectation_a_check_does_not_apply(scorer: Any, trace: Any, case: Any) -> None:
    assert {score.verdict for score in scorer().score(trace("Hello."), case())} == {"not_applicable"}


@pytest.mark.parametrize("scorer", ALL)
@pytest.mark.parametrize("status", ["agent_error", "agent_timeout", "replay_miss"])
def test_a_crash_satisfies_no_check(scorer: Any, status: str, trace: Any, case: Any) -> None:
    assert set(verdicts(scorer(), trace("", status=status), case(expect=EXPECT)).values()) == {"no_signal"}


@pytest.mark.parametrize("scorer", [ForbiddenToolsScorer, ForbiddenClaimsScorer])
@pytest.mark.parametrize("answer", [None, "", " \u200b"])
def test_an_empty_answer_passes_no_negative_check(scorer: Any, answer: Any, trace: Any, case: Any) -> None:
    (score,) = scorer().score(trace(answer), case(expect=EXPECT))
    assert (score.verdict, score.reason) == ("no_signal", "empty_answer")


@pytest.mark.parametrize(
    ("route", "verdict", "label"),
    [
        ("billing", "pass", "match"),
        ("accounts", "pass", "acceptable"),
        ("sales", "fail", "wrong"),
        (None, "no_signal", None),
    ],
)
def test_route(route: str | None, verdict: str, label: str | None, trace: Any, case: Any) -> None:
    (score,) = RouteScorer().score(trace("Done.", route=route), case(expect=EXPECT))
    assert (score.verdict, score.label) == (verdict, label)


@pytest.mark.parametrize(
    ("mode", "expected", "called", "label"),
    [
        ("first", ["a"], ["a", "b"], "match"),
        ("first", ["a"], ["b", "a"], "wrong"),
        ("first", ["a"], [], "no_call"),
        ("set", ["a", "b"], ["b", "a", "b"], "match"),
        ("set", ["a", "b"], ["a"], "missing"),
        ("set", ["a"], ["a", "c"], "unexpected"),
        ("set", [], [], "match"),
        ("set", [], ["a"], "unexpected"),
        ("set", ["a"], [], "no_call"),
        ("sequence", ["a", "b"], ["a", "b"], "match"),
        ("sequence", ["a", "b"], ["b", "a"], "wrong_order"),
        ("sequence", ["a", "b"], ["a", "b", "b"], "wrong_number"),
    ],
)
def test_tools(mode: str, expected: list[str], called: list[str], label: str, trace: Any, case: Any) -> None:
    expect = {"tool_calls": {"mode": mode, "calls": [{"tool": tool} for tool in expected]}}
    scores = ToolCallsScorer().score(trace("Done.", calls(*called)), case(expect=expect))
    (score,) = [one for one in scores if one.reason != "other_mode"]
    assert score.label == label
    assert score.verdict == ("pass" if label == "match" else "fail")


def test_repeating_a_failed_call_is_no_second_call_in_a_sequence(trace: Any, case: Any) -> None:
    expect = {"tool_calls": {"mode": "sequence", "calls": [{"tool": "a"}, {"tool": "b"}]}}
    made = (ToolCall(0, "a", {}, "error"), ToolCall(1, "a", {}, "data"), ToolCall(2, "b", {}, "data"))
    assert verdicts(ToolCallsScorer(), trace("Done.", made), case(expect=expect)) == {"tool_sequence": "pass"}


@pytest.mark.parametrize(
    ("match", "value", "tol", "got", "fits"),
    [
        ("exact", "a", None, "a", True),
        ("exact", "a", None, "A", False),
        ("exact", 1, None, 1.0, True),
        ("exact", 1, None, True, False),
        ("exact", {"a": [1, True]}, None, {"a": [1, 1]}, False),
        ("normalized", "São Paulo", None, " SA\u0303O  paulo ", True),
        ("normalized", "a", None, ["a"], False),
        ("set", ["a", "b"], None, ["b", "a", "a"], True),
        ("set", ["a"], None, "a", False),
        ("numeric", 0.3, None, 0.1 + 0.2, True),
        ("numeric", 10, 0.5, "10.5", True),
        ("numeric", 10, 0.5, 10.6, False),
        ("numeric", 1, None, True, False),
        ("numeric", 1, None, "nan", False),
        ("regex", "^p.ne$", None, "pune", True),
        ("regex", "^p.ne$", None, "prune", False),
        ("present", None, None, 0, True),
        ("present", None, None, None, False),
        ("date", "2026-03-04", None, "2026-03-04T10:00:00Z", True),
        ("date", "2026-03-04", 1, "2026-03-05", True),
        ("date", "2026-03-04", None, "2026-03-05", False),
        ("date", "2026-03-04", None, "2026-13-05", False),
    ],
)
def test_argument_comparisons(match: Any, value: Any, tol: Any, got: Any, fits: bool) -> None:
    fields = {"match": match, "tol": tol} | ({} if match == "present" else {"value": value})
    assert matches(ExpectedArg(**fields), got) is fits


def test_arguments_pair_calls_so_that_as_many_as_possible_fit(trace: Any, case: Any) -> None:
    # the first call fits both expectations, the second only the vague one
    expected = [
        {"tool": "s", "args": {"q": {"match": "present"}}},
        {"tool": "s", "args": {"q": {"value": "x"}}},
    ]
    made = (ToolCall(0, "s", {"q": "x"}, "data"), ToolCall(1, "s", {"q": "y"}, "data"))
    expect = {"tool_calls": {"mode": "set", "calls": expected}}
    (score,) = ArgumentsScorer().score(trace("Done.", made), case(expect=expect))
    assert (score.verdict, score.value) == ("pass", 1.0)


@pytest.mark.parametrize(
    ("made", "label", "value"),
    [
        ((ToolCall(0, "search", {"q": "jobs"}, "data"),), "match", 1.0),
        ((ToolCall(0, "search", {"q": "cars"}, "data"),), "wrong", 0.0),
        ((ToolCall(0, "search", {}, "data"),), "wrong", 0.0),
        ((ToolCall(0, "other", {"q": "jobs"}, "data"),), "not_called", 0.0),
        ((), "not_called", 0.0),
    ],
)
def test_arguments(made: Any, label: str, value: float, trace: Any, case: Any) -> None:
    (score,) = ArgumentsScorer().score(trace("Done.", made), case(expect=EXPECT))
    assert (score.label, score.value) == (label, value)
    assert score.verdict == ("pass" if label == "match" else "fail")


def test_a_forbidden_tool_fails_even_where_it_failed(trace: Any, case: Any) -> None:
    made = (ToolCall(0, "pay", {}, "error"),)
    assert verdicts(ForbiddenToolsScorer(), trace("", made), case(expect=EXPECT)) == {
        "forbidden_tools": "fail"
    }
    assert verdicts(ForbiddenToolsScorer(), trace("Hi.", calls("search")), case(expect=EXPECT)) == {
        "forbidden_tools": "pass"
    }


@pytest.mark.parametrize(
    ("statement", "match", "answer", "made"),
    [
        ("two jobs", "contains", "TWO\u00a0 Jobs found", True),
        ("two jobs", "contains", "three jobs", False),
        (r"\b\d+ jobs\b", "regex", "I see 12 jobs.", True),
        (r"\b\d+ jobs\b", "regex", "I see jobs.", False),
    ],
)
def test_statements_are_looked_for(
    statement: str, match: str, answer: str, made: bool, trace: Any, case: Any
) -> None:
    one = [{"id": "s", "statement": statement, "match": match}]
    read = trace(answer)
    assert FactsScorer().score(read, case(expect={"facts": one}))[0].verdict == ("pass" if made else "fail")
    (forbidden,) = ForbiddenClaimsScorer().score(read, case(expect={"forbidden_claims": one}))
    assert forbidden.verdict == ("fail" if made else "pass")


def test_facts_count_the_share_that_was_made(trace: Any, case: Any) -> None:
    facts = [{"id": "a", "statement": "nurse"}, {"id": "b", "statement": "porter"}]
    (score,) = FactsScorer().score(trace("A nurse."), case(expect={"facts": facts}))
    assert (score.verdict, score.value, score.evidence) == ("fail", 0.5, {"missing": ["b"]})


@pytest.mark.parametrize(
    ("scorer", "field"), [(FactsScorer, "facts"), (ForbiddenClaimsScorer, "forbidden_claims")]
)
def test_a_judged_statement_without_a_judge_is_no_signal(
    scorer: Any, field: str, trace: Any, case: Any
) -> None:
    judged = case(expect={field: [{"id": "j", "statement": "It is kind.", "match": "judge"}]})
    (score,) = scorer().score(trace("Hello."), judged)
    assert (score.verdict, score.reason) == ("no_signal", "judge_not_configured")
    for reply, verdict in ((True, "pass"), (False, "fail")):
        (score,) = scorer(lambda statement, trace, case, reply=reply: reply).score(trace("Hello."), judged)
        assert score.verdict == (verdict if field == "facts" else {"pass": "fail", "fail": "pass"}[verdict])
    (score,) = scorer(lambda statement, trace, case: None).score(trace("Hello."), judged)
    assert (score.verdict, score.reason) == ("no_signal", "judge_no_verdict")


def test_what_string_logic_decides_needs_no_judge(trace: Any, case: Any) -> None:
    judged = {"id": "j", "statement": "It is kind.", "match": "judge"}
    facts = case(expect={"facts": [judged, {"id": "f", "statement": "nurse"}]})
    assert FactsScorer().score(trace("Hello."), facts)[0].verdict == "fail"
    claims = case(expect={"forbidden_claims": [judged, {"id": "c", "statement": "hello"}]})
    assert ForbiddenClaimsScorer().score(trace("Hello."), claims)[0].verdict == "fail"


def test_unknown_cost_is_no_signal_with_its_reason_and_never_zero(trace: Any, case: Any) -> None:
    priced, unpriced = (
        trace("Hi.", cost_usd=0.02, input_tokens=5),
        trace("Hi.", input_tokens=5, cost_unknown_reason="no price"),
    )
    assert UsageScorer().score(priced, case())[1].value == 0.02
    assert UsageScorer().score(unpriced, case())[1][2:5] == ("no_signal", None, "no price")
    assert UsageScorer().score(trace("Hi."), case())[1].verdict == "not_applicable"
    assert {score.verdict for score in UsageScorer().score(trace("", status="agent_error"), case())} == {
        "no_signal"
    }
