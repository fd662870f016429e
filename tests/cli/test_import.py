"""`neverempty import`: what it prints and saves, and with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty.cli.app import main

FIRED = {"tool": "search", "truth": "error", "kind": "timeout", "injected": True}


@pytest.fixture
def imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Import traces of twelve cases whose search fails: exit code, output, errors."""
    cases = [
        {"id": f"f{at}", "input": {"payload": "Any jobs?"}, "language": "en",
         "faults": [{"tool": "search", "kind": "timeout"}]}
        for at in range(12)
    ]  # fmt: skip
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")

    def run(lines: list[dict[str, Any]], *options: str) -> tuple[int, str, str]:
        traces = tmp_path / "traces.jsonl"
        traces.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        given = ["--cases", str(tmp_path / "cases.jsonl"), "--out", str(tmp_path / "out"), *options]
        code = main(["import", str(traces), *given])
        return code, *capsys.readouterr()

    return run


def _lines(**more: Any) -> list[dict[str, Any]]:
    answer = "There are no jobs."
    return [{"case_id": f"f{at}", "answer": answer, "calls": [FIRED], **more} for at in range(12)]


def test_a_report_is_saved_and_its_doubts_are_printed(
    imported: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = imported(_lines())
    assert code == 0
    assert "misreport_as_empty" in out
    assert "note: language taken from the case: 12" in out
    assert main(["render", str(tmp_path / "out")]) == 0


def test_what_supports_no_number_is_refused_and_leaves_no_report(
    imported: Callable[..., Any], tmp_path: Path
) -> None:
    code, _, err = imported([{"case_id": "nobody", "answer": "None."}, *_lines(calls=[])])
    assert code == 4
    assert "traces.jsonl:1: there is no case 'nobody'" in err
    assert "no call of the 12 traces with a planned fault shows that it fired" in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_the_ceiling_can_be_raised(imported: Callable[..., Any]) -> None:
    lines = _lines()
    for line in lines[:3]:
        line |= {"status": "agent_error", "terminal_reason": "crashed"}
    assert imported(lines)[0] == 4
    code, out, _ = imported(lines, "--error-ceiling", "0.5")
    assert code == 0
    assert "partial_errors" in out


def test_a_trusted_text_makes_an_error_of_a_call(imported: Callable[..., Any], tmp_path: Path) -> None:
    lines = _lines()
    lines[0]["calls"] = [FIRED, {"tool": "other", "truth": "data", "returned": "Error: Exception('x')"}]
    out = imported(lines, "--trust-text")[1]
    assert "note: results that tell of a failure in their text alone: 1" in out


def test_traces_that_leave_cases_out_are_not_whole(imported: Callable[..., Any]) -> None:
    assert imported(_lines()[:6])[0] == 4


@pytest.mark.parametrize("options", [["--error-ceiling", "2"], ["--error-ceiling", "x"], ["--nonsense"]])
def test_wrong_options_are_usage_errors(imported: Callable[..., Any], options: list[str]) -> None:
    assert imported(_lines(), *options)[0] == 64
