"""Traces of an agent in another language: completed from their cases, and scored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty import Case
from neverempty.importers import import_traces

Write = Callable[..., Path]
Lines = Callable[..., list[dict[str, Any]]]
CALLED = {"tool": "search", "call_id": "c1", "truth": "data", "returned": "two jobs"}
ASKED = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def _notes(report: Any) -> dict[str, int]:
    notes: dict[str, int] = report.provenance["imported"]["notes"]
    return {note: n for note, n in notes.items() if "taken from the case" not in note}


def _control(report: Any) -> Any:
    return report.calls[report.calls["case_id"] == "control"].iloc[0]


def test_traces_are_completed_from_their_cases_and_scored(
    write: Write, lines: Lines, cases: list[Case]
) -> None:
    report = import_traces(write(*lines()), cases)
    assert report.status == "ok"
    row = report.metrics.set_index("metric").loc["misreport_as_empty"]
    assert (row["hits"], row["n_measured"], row["value"]) == (12, 12, 1.0)
    first = report.traces.iloc[0]
    columns = ["suite", "split", "language", "fault_kind", "fault_state", "arm"]
    assert first[columns].tolist() == ["jobs", "test", "en", "timeout", "fired", "imported"]
    assert report.provenance["imported"]["traces"] == 13
    assert report.provenance["imported"]["notes"]["language taken from the case"] == 13


def test_the_truth_of_an_injected_fault_is_known_from_the_case(
    write: Write, lines: Lines, cases: list[Case]
) -> None:
    report = import_traces(write(*lines(calls=[{"tool": "search", "injected": True}])), cases)
    call = report.calls.iloc[0]
    assert (call["truth"], call["kind"], call["state"]) == ("error", "timeout", "fired")
    notes = report.provenance["imported"]["notes"]
    assert notes["truths of injected faults taken from the case"] == 12


def test_a_retry_that_got_over_the_fault_may_have_ended_well(
    write: Write, lines: Lines, cases: list[Case]
) -> None:
    call = {"tool": "search", "injected": True, "kind": "timeout", "truth": "data", "attempts": 2}
    report = import_traces(write(*lines(calls=[call])), cases)
    assert set(report.calls["truth"]) == {"data"}


def test_a_missing_case_or_repeat_leaves_the_report_incomplete(
    write: Write, lines: Lines, cases: list[Case]
) -> None:
    missing_repeat = [*lines(), *(line | {"repeat": 1} for line in lines()[:6])]
    for found in (lines()[1:], missing_repeat):
        report = import_traces(write(*found), cases)
        assert report.status == "incomplete"
        assert report.metrics["value"].isna().all()


def test_faults_that_did_not_fire_are_counted_and_not_measured(
    write: Write, lines: Lines, cases: list[Case]
) -> None:
    found = lines()
    found[0]["calls"] = [CALLED]
    report = import_traces(write(*found), cases)
    assert _notes(report) == {"traces whose planned fault did not fire, which are not measured": 1}
    row = report.metrics.set_index("metric").loc["misreport_as_empty"]
    assert (row["n_measured"], row["n_no_signal"]) == (11, 1)


UNFLAGGED = [
    '{"success": false, "error_code": "SQL_ERROR", "error": "no such table"}',
    '{"status": "error", "reason": "1 validation error"}',
    '{"content": [{"text": "{\\"error\\": \\"exit 1\\"}"}], "isError": false}',
    "Error: Exception('socket closed')",
]


@pytest.mark.parametrize("truth", ["data", "empty"])
@pytest.mark.parametrize("returned", UNFLAGGED)
def test_a_success_whose_text_tells_of_a_failure_is_unknown_unless_the_text_is_trusted(
    write: Write, lines: Lines, cases: list[Case], returned: str, truth: str
) -> None:
    found = lines()
    found[-1]["calls"] = [CALLED | {"returned": returned, "truth": truth}]
    report = import_traces(write(*found), cases)
    assert _control(report)["truth"] == "unknown"
    assert _notes(report) == {"results that tell of a failure in their text alone": 1}
    assert _control(import_traces(write(*found), cases, trust_text=True))["truth"] == "error"


@pytest.mark.parametrize("flag", ["isError", "is_error"])
def test_a_flag_in_what_a_tool_returned_makes_an_error_of_it(
    write: Write, lines: Lines, cases: list[Case], flag: str
) -> None:
    found = lines()
    body = f'{{"content": [{{"type": "text", "text": "denied"}}], "{flag}": true}}'
    found[-1]["calls"] = [CALLED | {"returned": body}]
    report = import_traces(write(*found), cases)
    assert (_control(report)["truth"], _control(report)["kind"]) == ("error", "exception")
    assert _notes(report) == {"results that tell of a failure by a flag": 1}


MESSAGES = [
    ({"role": "tool", "tool_call_id": "c1", "content": "no", "status": "error"}, "error"),
    ({"role": "tool", "toolCallId": "c1", "content": "", "error": "timed out"}, "error"),
    ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "is_error": True}]}, "error"),
    ({"role": "tool", "tool_call_id": "c1", "content": "Error: Exception('gone')"}, "unknown"),
    ({"role": "tool", "tool_call_id": "c2", "content": "no", "status": "error"}, "data"),
    ({"role": "tool", "tool_call_id": "c1", "content": "two jobs", "status": "success"}, "data"),
]


@pytest.mark.parametrize(("message", "truth"), MESSAGES)
def test_the_message_of_a_call_is_read_too(
    write: Write, lines: Lines, cases: list[Case], message: dict[str, Any], truth: str
) -> None:
    found = lines()
    found[-1] |= {"calls": [CALLED], "messages": [message]}
    report = import_traces(write(*found), cases)
    assert _control(report)["truth"] == truth
    assert report.traces.iloc[-1]["messages"] == [message]


ENDINGS = [
    ({"role": "assistant", "content": None, "tool_calls": [ASKED]}, "", "agent_error"),
    ({"role": "assistant", "content": [{"type": "tool_use", "id": "c1"}]}, None, "agent_error"),
    ({"role": "assistant", "content": "Wait.", "tool_calls": [ASKED]}, "No jobs.", "ok"),
    ({"role": "assistant", "content": ""}, "", "ok"),
]


@pytest.mark.parametrize(("last", "answer", "status"), ENDINGS)
def test_a_trace_that_ends_on_calls_that_nobody_made_crashed_and_said_nothing(
    write: Write, lines: Lines, cases: list[Case], last: Any, answer: str | None, status: str
) -> None:
    found = lines()
    found[0] |= {"status": "ok", "answer": answer, "messages": [last]}
    report = import_traces(write(*found), cases)
    first = report.traces.iloc[0]
    assert first["status"] == status
    assert (first["terminal_reason"] == "ended with tool calls that nobody made") is (status != "ok")
    row = report.metrics.set_index("metric").loc["misreport_as_empty"]
    assert row["n_no_signal"] == (1 if status != "ok" else 0)


@pytest.mark.parametrize("answer", ["No jobs \ud835", "\x00", "<script>alert(1)</script>", "x" * 100_000])
def test_any_text_survives_into_the_saved_report(
    write: Write, lines: Lines, cases: list[Case], tmp_path: Path, answer: str
) -> None:
    report = import_traces(write(*lines(answer)), cases)
    report.save(tmp_path / "out")
    assert type(report).load(tmp_path / "out").traces["answer"].iloc[0] == answer
