"""``run`` and ``render``: from a configuration to a report, whatever the agent does."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty.report import Report

_SILENT_CRASH = "def agent(case, tracer):\n    raise RuntimeError('down')\n"
_COSTLY = """
import neverempty as ne
@ne.tool()
def list_orders(customer: str) -> str:
    "List."
    return "none"
def agent(case, tracer):
    list_orders("Elm Optics")
    tracer.usage("some-model", 10, 10)
    return "The lookup failed."
"""
_SLOW = """
import time
from pathlib import Path
def agent(case, tracer):
    with Path("calls.txt").open("a") as file:
        file.write(f"{case.id} {tracer.repeat}\\n")
    time.sleep(0.05)
    return "The lookup failed."
"""
_MODEL = """
import os
def live(messages, tools, params):
    if os.environ.get("OFFLINE"):
        raise RuntimeError("a live call")
    return {"content": "The lookup failed.", "model": "m", "input_tokens": 1, "output_tokens": 1}
def agent(case, tracer):
    return tracer.model_call_sync(case.messages, call=live)["content"]
"""
_SIDE_EFFECT = """
import neverempty as ne
@ne.tool(side_effect=True)
def send(text: str) -> str:
    "Send."
    return text
def agent(case, tracer):
    return send("hello").to_model()
def fake(text):
    return "not sent"
"""


@pytest.fixture
def target(set_up: Path) -> Callable[[str], None]:
    """Put other code in the place of the stand-in for the agent."""

    def write(code: str) -> None:
        (set_up / "target.py").write_text(code, encoding="utf-8")

    return write


def test_the_set_up_of_init_runs_at_once_and_shows_the_bug(cli: Any, set_up: Path) -> None:
    done = cli("run")
    assert done.code == 0
    report = Report.load(set_up / "results")
    misreports = report.metrics.set_index(["metric", "arm"]).loc["misreport_as_empty"]["value"]
    assert misreports.to_dict() == {"typed": 0.0, "swallowed": 1.0}
    assert "misreport_as_empty" in done.out
    assert "What happened × what was said" in done.out
    assert cli("run").code == 0  # a finished run leaves nothing that would have to be dropped first


def test_arms_repeats_and_place_can_be_chosen_for_one_run(cli: Any, set_up: Path) -> None:
    assert cli("run", "--arm", "raised", "--arm", "typed", "--repeats", "1", "--out", "other").code == 0
    traces = Report.load(set_up / "other").traces
    assert set(traces["arm"]) == {"raised", "typed"}
    assert set(traces["repeat"]) == {0}
    assert not (set_up / "results").exists()


@pytest.mark.parametrize(
    ("args", "code", "problem"),
    [
        (("--suite", "ordres"), 4, "did you mean 'orders'?"),
        (("--arm", "flaged"), 64, "flagged"),
        (("--repeats", "0"), 64, "not a whole number from 1"),
        (("--resume",), 64, "no stopped run"),
        (("--resume", "--restart"), 64, "not allowed with"),
        (("--replay", "nothing.jsonl"), 64, "nothing.jsonl"),
        (("--config", "other.toml"), 4, "other.toml"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_call(
    cli: Any, set_up: Path, args: tuple[str, ...], code: int, problem: str
) -> None:
    done = cli("run", *args)
    assert done.code == code
    assert problem in done.err
    assert not (set_up / "results" / "report.json").exists()


def test_an_agent_that_always_crashes_is_not_measured_and_never_zero(
    cli: Any, target: Callable[[str], None]
) -> None:
    target(_SILENT_CRASH)
    done = cli("run")
    assert done.code == 3
    assert "nothing_measured" in done.out
    assert "not measured" in done.out
    assert "0.0 %" not in done.out


def test_the_reason_of_a_broken_agent_is_shown(cli: Any, target: Callable[[str], None]) -> None:
    target("def agent(case, tracer):\n    return {'answr': 'none'}\n")
    done = cli("run")
    assert done.code == 3
    assert "What broke" in done.out
    assert "did you mean 'answer'?" in done.out


def test_a_fault_that_never_fires_is_no_success(cli: Any, set_up: Path, tmp_path: Path) -> None:
    cases = set_up / "cases" / "orders.jsonl"
    text = cases.read_text(encoding="utf-8")
    cases.write_text(text.replace('{"tool": "list_orders", "kind"', '{"tool": "list_order", "kind"'), "utf-8")
    done = cli("run")
    assert done.code == 3
    assert "fault_not_fired" in done.out
    assert "the cases let 'list_order' fail, the agent called 'list_orders'" in done.err


def test_a_run_that_met_its_budget_is_incomplete_and_can_be_continued(
    cli: Any, target: Callable[[str], None], edit: Callable[[str, str], None]
) -> None:
    target(_COSTLY)
    edit("repeats = 3", "repeats = 3\nbudget_tokens = 100")
    done = cli("run")
    assert done.code == 4
    assert "budget_stopped" in done.out
    assert done.err.startswith("neverempty: warning: ")
    assert done.err.count("\n") == 1
    assert "neverempty run --resume" in done.out
    assert cli("run").code == 64  # what was paid for is not dropped without a word
    edit("budget_tokens = 100", "budget_tokens = 100000")
    assert cli("run", "--resume").code == 0
    assert cli("run", "--resume").code == 64


def test_restart_drops_what_a_stopped_run_left(
    cli: Any, target: Callable[[str], None], edit: Callable[[str, str], None]
) -> None:
    target(_COSTLY)
    edit("repeats = 3", "repeats = 3\nbudget_tokens = 100")
    assert cli("run").code == 4
    edit("budget_tokens = 100", "budget_tokens = 100000")
    assert cli("run", "--restart").code == 0


def test_a_recorded_run_is_replayed_without_a_live_call(
    cli: Any, target: Callable[[str], None], set_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target(_MODEL)
    assert cli("run", "--record", "replies.jsonl").code in (0, 3)  # this agent calls no tool: no fault fires
    answers = Report.load(set_up / "results").traces["answer"].tolist()
    monkeypatch.setenv("OFFLINE", "1")
    cli("run", "--replay", "replies.jsonl")
    assert Report.load(set_up / "results").traces["answer"].tolist() == answers
    assert len(answers) == 144


def test_a_tool_with_side_effects_must_be_stubbed_in_the_configuration(
    cli: Any, target: Callable[[str], None], edit: Callable[[str, str], None], set_up: Path
) -> None:
    target(_SIDE_EFFECT)
    done = cli("run")
    assert done.code == 64
    assert "'send'" in done.err
    edit('# stubs = { send_mail = "target:fake_mail" }', 'stubs = { send = "target:fake" }')
    assert cli("run").code != 64
    assert "not sent" in Report.load(set_up / "results").traces["answer"][0]


def test_ctrl_c_keeps_what_had_finished_and_resume_runs_only_the_rest(
    cli: Any, target: Callable[[str], None], set_up: Path
) -> None:
    target(_SLOW)
    process = subprocess.Popen(
        [sys.executable, "-m", "neverempty", "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for_lines(set_up / "calls.txt", 20, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "neverempty run --resume" in err
    kept = len(Report.load(set_up / "results").traces)
    assert kept > 0
    before = len(_lines(set_up / "calls.txt"))
    assert before < 144
    assert cli("run", "--resume").code in (0, 3)
    assert len(_lines(set_up / "calls.txt")) - before == 144 - kept


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _wait_for_lines(path: Path, n: int, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 30
    while len(_lines(path)) < n and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


def test_render_shows_a_saved_report_and_its_status(cli: Any, set_up: Path) -> None:
    cli("run", "--repeats", "1")
    shown = cli("render", "results")
    assert shown.code == 0
    assert shown.out.startswith("# Report\n")
    page = cli("render", "results", "--to", "html", "--out", "report.html")
    assert page.out == "wrote report.html\n"
    assert "<script" not in (set_up / "report.html").read_text(encoding="utf-8")


def test_render_of_nothing_is_refused_and_of_an_unmeasured_run_says_so(
    cli: Any, target: Callable[[str], None]
) -> None:
    assert cli("render", "results").code == 4
    target(_SILENT_CRASH)
    assert cli("run").code == 3
    assert cli("render", "results").code == 3
