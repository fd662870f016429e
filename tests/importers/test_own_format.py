"""Traces of an agent in another language: completed from their cases, or refused with every reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty import Case, InputError, UsageError
from neverempty.cli.app import main
from neverempty.importers import import_traces

Write = Callable[..., Path]
FAILED = {"tool": "search", "args": {"q": "jobs"}, "truth": "error", "kind": "timeout", "injected": True}
WORKED = {"tool": "search", "args": {}, "truth": "data", "returned": '[{"title": "Welder"}]'}


@pytest.fixture
def cases() -> list[Case]:
    fault = {"tool": "search", "kind": "timeout"}
    failing = [
        Case(
            id=f"f{at}",
            suite="jobs",
            input={"payload": "Any jobs?"},
            language="en",
            split="test",
            faults=[fault],
        )
        for at in range(12)
    ]
    return [*failing, Case(id="control", suite="jobs", input={"payload": "Any jobs?"}, language="en")]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(*lines: dict[str, Any] | str) -> Path:
        path = tmp_path / "traces.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return make


def _lines(answer: str = "There are no jobs.", **more: Any) -> list[dict[str, Any]]:
    failing = [{"case_id": f"f{at}", "answer": answer, "calls": [FAILED]} | more for at in range(12)]
    return [*failing, {"case_id": "control", "answer": "One job: welder.", "calls": [WORKED]}]


def _reasons(path: Path, cases: list[Case], **more: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        import_traces(path, cases, **more)
    return [problem.replace(str(path), "FILE") for problem in caught.value.problems]


def test_traces_are_completed_from_their_cases_and_scored(write: Write, cases: list[Case]) -> None:
    report = import_traces(write(*_lines()), cases)
    assert report.status == "ok"
    row = report.metrics.set_index("metric").loc["misreport_as_empty"]
    assert (row["hits"], row["n_measured"], row["value"]) == (12, 12, 1.0)
    first = report.traces.iloc[0]
    assert (first["suite"], first["split"], first["language"], first["fault_kind"]) == (
        "jobs",
        "test",
        "en",
        "timeout",
    )
    assert (first["fault_state"], first["arm"]) == ("fired", "imported")
    assert report.provenance["imported"]["traces"] == 13


def test_a_missing_case_leaves_the_report_incomplete(write: Write, cases: list[Case]) -> None:
    report = import_traces(write(*_lines()[1:]), cases)
    assert report.status == "incomplete"
    assert report.metrics["value"].isna().all()


def test_every_reason_for_refusal_is_listed_with_its_line(write: Write, cases: list[Case]) -> None:
    lines = _lines()
    lines[0]["case_id"] = "f0x"
    lines[1]["fault_kind"] = "auth"
    reasons = _reasons(write("", *lines), cases)
    assert reasons[0].startswith("FILE:2: there is no case 'f0x' in suite 'default'; did you mean 'f")
    assert reasons[1] == "FILE:3: case 'f1' plans the fault 'timeout', the trace names 'auth'"


def test_a_trace_that_ends_twice_is_refused(write: Write, cases: list[Case]) -> None:
    (reason,) = _reasons(write(*_lines(), _lines()[0]), cases)
    assert "ended at FILE:1 already" in reason


def test_too_many_errors_are_above_the_ceiling(write: Write, cases: list[Case]) -> None:
    lines = _lines()
    for line in lines[:2]:
        line |= {"status": "agent_error", "terminal_reason": "crashed"}
    (reason,) = _reasons(write(*lines), cases)
    assert "2 of 13 traces did not end well (agent_error 2), above the ceiling of 10%" in reason
    assert import_traces(write(*lines), cases, error_ceiling=0.2).status in ("ok", "partial_errors")
    with pytest.raises(UsageError, match="error_ceiling is 2"):
        import_traces(write(*lines), cases, error_ceiling=2)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ({"injected": False, "truth": "data", "kind": None}, "shows that it fired"),
        ({"injected": False, "truth": "unknown", "kind": None}, "shows that it fired"),
    ],
)
def test_faults_that_never_fired_support_no_number(
    write: Write, cases: list[Case], call: dict[str, Any], reason: str
) -> None:
    lines = _lines(calls=[FAILED | call])
    assert any(reason in one for one in _reasons(write(*lines), cases))


def test_calls_without_a_truth_support_no_number(write: Write, cases: list[Case]) -> None:
    lines = [{"case_id": "control", "answer": "None.", "calls": [{"tool": "search"}]}]
    (reason,) = _reasons(write(*lines), cases[-1:])
    assert 'write its "truth"' in reason
    (reason,) = _reasons(write({"case_id": "control", "answer": "None."}), cases[-1:])
    assert "no trace has a tool call" in reason
    assert _reasons(write(""), cases) == ["FILE: holds no trace"]


@pytest.mark.parametrize(
    "returned",
    [
        '{"success": false, "error_code": "SQL_ERROR", "error": "no such table"}',
        '{"status": "error", "reason": "1 validation error"}',
        '{"content": [{"type": "text", "text": "denied"}], "isError": true}',
        '{"content": [{"type": "text", "text": "denied"}], "is_error": true}',
        "Error: Exception('socket closed')",
    ],
)
def test_a_success_whose_text_tells_of_a_failure_is_never_taken_for_data(
    write: Write, cases: list[Case], returned: str
) -> None:
    lines = _lines()
    lines[-1]["calls"] = [WORKED | {"returned": returned}]
    report = import_traces(write(*lines), cases)
    truths = report.calls.loc[report.calls["case_id"] == "control", "truth"].tolist()
    assert truths[0] in ("unknown", "error")
    assert report.provenance["imported"]["notes"]["results that tell of a failure in their text alone"] == 1
    trusted = import_traces(write(*lines), cases, trust_text=True)
    assert trusted.calls.loc[trusted.calls["case_id"] == "control", "truth"].tolist() == ["error"]


def test_the_command_saves_a_report_or_says_why_not(
    write: Write, cases: list[Case], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "cases.jsonl"
    suite.write_text("".join(case.model_dump_json() + "\n" for case in cases), encoding="utf-8")
    out = tmp_path / "out"
    good = write(*_lines())
    assert main(["import", str(good), "--cases", str(suite), "--out", str(out)]) == 0
    assert "misreport_as_empty" in capsys.readouterr().out
    assert main(["render", str(out)]) == 0
    capsys.readouterr()
    bad = write({"case_id": "nobody", "answer": "None."})
    assert main(["import", str(bad), "--cases", str(suite), "--out", str(tmp_path / "none")]) == 4
    said = capsys.readouterr().err
    assert "there is no case 'nobody'" in said
    assert "Traceback" not in said
    assert not (tmp_path / "none").exists()
