"""The exact checks: for each a table of inputs with the verdict that each deserves."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from neverempty import Case, InputError, ToolCall, Trace, UsageError, tool
from neverempty.scorers import (
    ArgumentsLegalScorer,
    BannedWordsScorer,
    ContractPinnedScorer,
    CriteriaScorer,
    GoalStateScorer,
    LocaleScorer,
    ProvenanceRule,
    ProvenanceScorer,
    TerminalEventScorer,
    ToolExistsScorer,
    builtin_metrics,
)
from neverempty.tools.contract import pin_contract

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "n": {"type": "integer"},
        "day": {"type": "string", "format": "date"},
    },
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = {"search": SCHEMA, "book": {"type": "object"}}
CRASHED = {"status": "agent_error"}


def _case(**more: Any) -> Case:
    return Case(id="a", input={"payload": "Any flats?"}, **more)


def _trace(*calls: ToolCall, **more: Any) -> Trace:
    return Trace("default", "a", "typed", 0, **{"answer": "Done.", "calls": list(calls), **more})


def _verdict(scorer: Any, trace: Trace, case: Case | None = None) -> str:
    (score,) = scorer.score(trace, case or _case())
    assert score.metric in builtin_metrics()
    said = score.reason if score.verdict in ("no_signal", "not_applicable") else score.label
    return f"{score.verdict}: {said}"


def _asked(name: str, arguments: Any = "{}", call_id: str = "c1") -> list[dict[str, Any]]:
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    return [{"role": "assistant", "tool_calls": [call]}]


SEARCH = ToolCall(0, "search", {"city": "Pune"}, "data", '{"id": 1}', call_id="c1")


@pytest.mark.parametrize(
    ("trace", "verdict"),
    [
        (_trace(SEARCH), "pass: known"),
        (_trace(SEARCH, messages=_asked("search")), "pass: known"),
        (_trace(messages=_asked("serch")), "fail: unknown_tool"),
        (_trace(SEARCH, messages=_asked("serch", call_id="c2")), "fail: unknown_tool"),
        (
            _trace(messages=[{"role": "ai", "tool_calls": [{"name": "delete", "args": {}}]}]),
            "fail: unknown_tool",
        ),
        (
            _trace(
                messages=[
                    {"role": "assistant", "content": [{"type": "tool_use", "name": "pay", "input": {}}]}
                ]
            ),
            "fail: unknown_tool",
        ),
        (
            _trace(messages=[{"role": "assistant", "content": [{"toolUse": {"name": "pay", "input": {}}}]}]),
            "fail: unknown_tool",
        ),
        (_trace(messages=[{"role": "user", "tool_calls": [{"name": "delete"}]}]), "not_applicable: no_call"),
        (_trace(), "not_applicable: no_call"),
        (_trace(messages=_asked("serch"), **CRASHED), "no_signal: agent_error"),
    ],
)
def test_only_tools_that_there_are_may_be_asked_for(trace: Trace, verdict: str) -> None:
    assert _verdict(ToolExistsScorer(TOOLS), trace) == verdict


def _search(**args: Any) -> Trace:
    return _trace(ToolCall(0, "search", args, "data", "{}"))


@pytest.mark.parametrize(
    ("trace", "verdict"),
    [
        (_search(city="Pune"), "pass: legal"),
        (_search(city="Pune", n=3, day="2026-05-03"), "pass: legal"),
        (_search(), "fail: illegal"),
        (_search(city=7), "fail: illegal"),
        (_search(city="Pune", n=2.5), "fail: illegal"),
        (_search(city="Pune", n=True), "fail: illegal"),
        (_search(city="Pune", day="3 May"), "fail: illegal"),
        (_search(city="Pune", colour="red"), "fail: illegal"),
        (_trace(messages=_asked("search", '{"city": "Pune"}')), "pass: legal"),
        (_trace(messages=_asked("search", '{"city": ')), "fail: illegal"),
        (_trace(messages=_asked("search", '["Pune"]')), "fail: illegal"),
        (_trace(messages=_asked("search", "")), "fail: illegal"),
        (_trace(messages=_asked("serch")), "not_applicable: no_known_call"),
        (_trace(), "not_applicable: no_known_call"),
        (_trace(SEARCH, status="agent_timeout"), "no_signal: agent_timeout"),
    ],
)
def test_arguments_are_held_against_the_schema_of_their_tool(trace: Trace, verdict: str) -> None:
    assert _verdict(ArgumentsLegalScorer(TOOLS), trace) == verdict


def test_a_call_that_never_ran_counts_beside_one_that_did() -> None:
    broken = [*_asked("search", "{}", "c1"), *_asked("search", '{"city": ', "c2")]
    assert _verdict(ArgumentsLegalScorer(TOOLS), _trace(SEARCH, messages=broken)) == "fail: illegal"
    unnamed = ToolCall(0, "search", {"city": "Pune"}, "data")
    assert _verdict(ArgumentsLegalScorer(TOOLS), _trace(unnamed, messages=_asked("search"))) == "pass: legal"


def test_a_reference_that_leads_nowhere_is_a_broken_schema() -> None:
    with pytest.raises(UsageError, match="schema of tool 'search' is broken"):
        ArgumentsLegalScorer({"search": {"properties": {"n": {"$ref": "#/$defs/none"}}}})


def test_a_broken_schema_names_its_tool_and_place() -> None:
    with pytest.raises(UsageError, match=r"schema of tool 'search' is broken at \$\.properties\.n\.type"):
        ArgumentsLegalScorer({"search": {"properties": {"n": {"type": "whole"}}}})
    with pytest.raises(UsageError, match="give tools, or their schemas"):
        ToolExistsScorer(["search"])  # type: ignore[list-item]


def test_schemas_are_taken_from_the_tools_themselves() -> None:
    @tool(never_empty=True)
    def stock(item: str, limit: int = 3) -> int:
        """Count."""
        return 3

    scorer = ArgumentsLegalScorer([stock])
    assert _verdict(scorer, _trace(ToolCall(0, "stock", {"item": "nails"}, "data"))) == "pass: legal"
    assert _verdict(scorer, _trace(ToolCall(0, "stock", {"item": 7}, "data"))) == "fail: illegal"


def _preview(returned: str | None, truth: Any = "data") -> ToolCall:
    return ToolCall(0, "preview", {}, truth, returned)


def _create(value: Any, name: str = "preview_id") -> ToolCall:
    return ToolCall(1, "create", {name: value}, "data", "{}")


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        ([_preview('{"id": "p-1"}'), _create("p-1")], "pass: founded"),
        ([_preview('{"status": "ok", "data": {"id": "p-1"}}'), _create("p-1")], "pass: founded"),
        ([_preview('{"data": [{"id": "p-1"}, {"id": "p-2"}]}'), _create("p-2")], "pass: founded"),
        ([_preview('{"id": 17}'), _create("17")], "pass: founded"),
        ([_preview('{"id": ["p-1", "p-2"]}'), _create(["p-1", "p-2"])], "pass: founded"),
        ([_preview('{"id": ["p-1"]}'), _create(["p-1", "p-3"])], "fail: unfounded"),
        ([_preview('{"id": "p-1"}'), _create("p-9")], "fail: unfounded"),
        ([_preview('{"other": "p-1"}'), _create("p-1")], "fail: unfounded"),
        ([_preview('{"id": "p-1"}', "error"), _create("p-1")], "fail: unfounded"),
        ([_create("p-1"), _preview('{"id": "p-1"}')], "fail: unfounded"),
        ([_create("p-1")], "fail: unfounded"),
        ([_preview('{"id": true}'), _create(1)], "fail: unfounded"),
        ([_preview(None), _create("p-1")], "no_signal: source_not_recorded"),
        ([_preview('{"id": "p-1"}'), _create("p-1", "name")], "not_applicable: no_call"),
        ([_preview('{"id": "p-1"}')], "not_applicable: no_call"),
        ([], "not_applicable: no_call"),
    ],
)
def test_a_value_must_have_been_returned_before_it_is_used(calls: list[ToolCall], verdict: str) -> None:
    scorer = ProvenanceScorer(["create.preview_id <- preview.id"])
    assert _verdict(scorer, _trace(*calls)) == verdict
    assert _verdict(scorer, _trace(*calls, **CRASHED)) == "no_signal: agent_error"


def test_provenance_rules_are_read_or_refused() -> None:
    assert ProvenanceRule.of("pay.order.id<-cart") == ("pay", "order.id", "cart", None)
    nested = _trace(_preview("ref p-1"), ToolCall(1, "create", {"order": {"id": "p-1"}}, "data"))
    assert _verdict(ProvenanceScorer(["create.order.id <- preview"]), nested) == "pass: founded"
    for rules in ([], ["create <- preview"], ["create.id"]):
        with pytest.raises(UsageError, match=r"create\.preview_id <- preview\.id"):
            ProvenanceScorer(rules)


def _events(*events: tuple[str, str | None]) -> Trace:
    return _trace(structured=[{"type": kind, "reason": reason} for kind, reason in events])


@pytest.mark.parametrize(
    ("trace", "verdict"),
    [
        (_events(("step", None), ("completed", "answered")), "pass: once"),
        (_events(("failed", "tool timed out")), "pass: once"),
        (_events(("step", None)), "fail: ended_0_times"),
        (_events(("completed", "a"), ("completed", "b")), "fail: ended_2_times"),
        (_events(("completed", "a"), ("step", None)), "fail: not_last"),
        (_events(("completed", " ")), "fail: no_reason"),
        (_trace(structured=None), "no_signal: events_not_kept"),
        (_trace(structured=[], **CRASHED), "no_signal: agent_error"),
    ],
)
def test_an_episode_ends_once_and_says_why(trace: Trace, verdict: str) -> None:
    assert _verdict(TerminalEventScorer(lambda one: one.structured), trace) == verdict


def test_without_events_the_trace_itself_must_name_the_reason_of_its_end() -> None:
    assert _verdict(TerminalEventScorer(), _trace(terminal_reason="completed")) == "pass: once"
    assert _verdict(TerminalEventScorer(), _trace(terminal_reason=" ")) == "fail: no_reason"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "bookings.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table bookings (id text, kayak text)")
        database.executemany("insert into bookings values (?, ?)", [("b-1", "red"), ("b-2", "blue")])
    return path


@pytest.mark.parametrize(
    ("goal", "verdict"),
    [
        ({"ids": ["b-2", "b-1"]}, "pass: met"),
        ({"count": 2}, "pass: met"),
        ({"ids": ["b-1", "b-2"], "count": 2}, "pass: met"),
        ({"ids": ["b-1"]}, "fail: missed"),
        ({"ids": ["b-1", "b-2", "b-3"]}, "fail: missed"),
        ({"ids": ["b-1", "b-1", "b-2"]}, "fail: missed"),
        ({"count": 3}, "fail: missed"),
        (None, "not_applicable: no_expectation"),
        ({"idz": []}, "no_signal: bad_expectation: goal_state is an object with ids, count or both"),
        ({"count": True}, "no_signal: bad_expectation: count is no whole number"),
    ],
)
def test_the_goal_is_looked_up_in_the_real_store(store: Path, goal: Any, verdict: str) -> None:
    def look(trace: Trace, case: Case) -> list[str]:
        with closing(sqlite3.connect(store)) as database:
            return [name for (name,) in database.execute("select id from bookings")]

    case = _case(expect={"custom": {} if goal is None else {"goal_state": goal}})
    assert _verdict(GoalStateScorer(look), _trace(), case) == verdict


def test_a_look_that_cannot_tell_is_no_signal_and_a_crash_neither(store: Path) -> None:
    from neverempty import score, traces_frame

    case = _case(expect={"custom": {"goal_state": {"count": 0}}})
    assert _verdict(GoalStateScorer(lambda trace, case: None), _trace(), case) == "no_signal: not_observed"
    assert (
        _verdict(GoalStateScorer(lambda trace, case: []), _trace(**CRASHED), case) == "no_signal: agent_error"
    )

    def broken(trace: Trace, case: Case) -> list[str]:
        raise sqlite3.OperationalError("no such table")

    (row,) = score(traces_frame([_trace()]), [case], [GoalStateScorer(broken)]).to_dict("records")
    assert row["verdict"] == "no_signal"
    assert "no such table" in row["reason"]


@pytest.mark.parametrize(
    ("structured", "verdict"),
    [
        ({"criteria": {"city": "Pune", "tags": ["sea", "quiet"]}}, "pass: acceptable"),
        ({"tags": ["quiet", "sea"], "city": "Pune"}, "pass: acceptable"),
        ({"criteria": {"city": "Goa"}}, "pass: acceptable"),
        ({"criteria": {"city": "Pune"}}, "fail: other"),
        ({"criteria": {}}, "fail: other"),
        (None, "no_signal: no_structure"),
    ],
)
def test_structured_routes_are_compared_by_hash(structured: Any, verdict: str) -> None:
    from neverempty.scorers import criteria_hash

    acceptable = [{"city": "Pune", "tags": ["quiet", "sea"]}, "sha:" + criteria_hash({"city": "Goa"})]
    case = _case(expect={"custom": {"criteria": acceptable}})
    assert _verdict(CriteriaScorer(), _trace(structured=structured), case) == verdict
    assert _verdict(CriteriaScorer(), _trace(structured=structured)) == "not_applicable: no_expectation"


@pytest.mark.parametrize(
    ("word", "answer", "said"),
    [
        ("guaranteed", "Delivery is GUARANTEED!", True),
        ("guaranteed", "unguaranteed", False),
        ("guaranteed", "It is ｇｕａｒａｎｔｅｅｄ.", True),
        ("guaranteed", "gua\u200bran\u00adteed", True),
        ("as an AI", "As  an\nAI, I think so.", True),
        ("café", "Le cafe\u0301 est là.", True),
        ("नहीं", "कोई नहीं।", True),
        ("नह", "कोई नहीं।", False),
        ("保証", "これは保証されません。", True),
        ("C++", "I like C++.", True),
        ("Straße", "in der STRASSE", True),
    ],
)
def test_a_banned_word_counts_where_it_stands_by_itself(word: str, answer: str, said: bool) -> None:
    wanted = "fail: said" if said else "pass: clean"
    assert _verdict(BannedWordsScorer([word]), _trace(answer=answer)) == wanted


def test_silence_never_passes_a_ban_and_words_belong_to_languages() -> None:
    scorer = BannedWordsScorer({"de": ["garantiert"]})
    assert _verdict(scorer, _trace(answer=" \u200b"), _case(language="de")) == "no_signal: empty_answer"
    assert _verdict(scorer, _trace(answer="garantiert"), _case(language="de")) == "fail: said"
    assert (
        _verdict(scorer, _trace(answer="garantiert"), _case(language="en"))
        == "not_applicable: no_expectation"
    )
    assert _verdict(scorer, _trace(**CRASHED), _case(language="de")) == "no_signal: agent_error"
    for words in ("guaranteed", ["ok", " "]):
        with pytest.raises(UsageError):
            BannedWordsScorer(words)


@pytest.mark.parametrize(
    ("language", "answer", "verdict"),
    [
        ("de", "Der Betrag ist 1.234,50 Euro.", "pass: fits"),
        ("de", "Der Betrag ist 1,234.50 Euro.", "fail: number_format"),
        ("en", "The amount is 1.234,50 euros.", "fail: number_format"),
        ("en", "The amount is 1,234.50 euros, version 1.2.3.", "pass: fits"),
        ("de", "The amount is open, I am afraid.", "fail: other_language"),
        ("ja", "電車は見つかりませんでした。", "pass: fits"),
        ("ja", "没有找到任何车次。", "fail: other_language"),
        ("en", "Bussen är försenad och jag vet inte varför.", "fail: other_language"),
        ("en", "42", "no_signal: language_not_told"),
        ("en", "", "no_signal: empty_answer"),
        ("sv", "Bussen är sen.", "not_applicable: no_language"),
        (None, "Hello there.", "not_applicable: no_language"),
    ],
)
def test_a_reply_speaks_the_language_of_its_case(language: str | None, answer: str, verdict: str) -> None:
    assert _verdict(LocaleScorer(), _trace(answer=answer), _case(language=language)) == verdict


def test_a_drifted_tool_fails_where_it_was_called(tmp_path: Path) -> None:
    @tool(never_empty=True)
    def stock(item: str) -> int:
        """Count."""
        return 3

    @tool(name="stock", never_empty=True)
    def wider(item: str, depot: str = "") -> int:
        """Count."""
        return 3

    file = tmp_path / "tools.json"
    pin_contract([stock], file)
    called = _trace(ToolCall(0, "stock", {}, "data"))
    assert _verdict(ContractPinnedScorer([stock], file), called) == "pass: pinned"
    assert _verdict(ContractPinnedScorer([wider], file), called) == "fail: drifted"
    assert _verdict(ContractPinnedScorer([wider], file), _trace()) == "not_applicable: no_call"
    assert _verdict(ContractPinnedScorer([stock], file), _trace(**CRASHED)) == "no_signal: agent_error"
    with pytest.raises(InputError, match="pin_contract"):
        ContractPinnedScorer([stock], tmp_path / "none.json")
