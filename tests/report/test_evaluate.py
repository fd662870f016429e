"""The whole way, from an agent to a report: what people met with tools of this kind."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from typing import Any

import pytest

import neverempty as ne
from neverempty.report import EvaluationInterrupted

ABSENCE, FAILURE, FOUND = "There are no open jobs.", "The search failed.", "I found one job: Night Nurse."


@ne.tool(empty_when=lambda rows: not rows)
def search(q: str) -> list[dict[str, str]]:
    """Search jobs."""
    return [{"title": "Night Nurse"}]


def suite(n: int, kind: str = "timeout", **fault: Any) -> list[ne.Case]:
    faults = [{"tool": "search", "kind": kind, **fault}]
    return [
        ne.Case(id=f"{kind}-{at}", input={"payload": "Any jobs?"}, language="en", faults=faults)
        for at in range(n)
    ]


def says(answer: str | None) -> Any:
    def agent(case: ne.Case, tracer: ne.Tracer) -> str | None:
        search(q="jobs")
        return answer

    return agent


def row(report: ne.Report, metric: str = "misreport_as_empty") -> Any:
    (found,) = report.metrics[report.metrics["metric"] == metric].to_dict("records")
    return found


@pytest.mark.parametrize("presentation", ["typed", "raised", "flagged", "declined", "swallowed"])
@pytest.mark.parametrize(("answer", "hits"), [(ABSENCE, 12), (FAILURE, 0)])
def test_what_the_agent_says_decides_however_the_failure_is_shown(
    presentation: str, answer: str, hits: int
) -> None:
    report = ne.evaluate(says(answer), suite(12), arms=presentation)
    assert report.status == "ok"
    assert row(report)["hits"] == hits
    assert row(report)["n_measured"] == 12


def test_an_agent_that_crashes_on_everything_is_not_measured() -> None:
    def agent(case: ne.Case, tracer: ne.Tracer) -> str:
        raise RuntimeError("broken")

    report = ne.evaluate(agent, suite(5))
    assert report.status == "nothing_measured"
    assert (row(report)["status"], row(report)["n_no_signal"]) == ("not_measured", 5)
    assert "0.0 %" not in report.to_markdown()
    assert "not measured" in report._repr_html_()


def test_a_fault_that_never_fires_is_no_signal_and_bounds_show_both_readings() -> None:
    report = ne.evaluate(says(FAILURE), suite(3) + suite(7, "connection", after_calls=5))
    found = row(report)
    assert (found["n_applicable"], found["n_measured"], found["bound_lo"], found["bound_hi"]) == (
        10,
        3,
        0.0,
        0.7,
    )
    assert found["note"] == "without signal: fault_not_fired 7"


def test_a_timed_out_agent_is_told_apart_from_an_injected_timeout() -> None:
    async def slow(case: ne.Case, tracer: ne.Tracer) -> str:
        search(q="jobs")
        await asyncio.sleep(30)
        return FAILURE

    report = ne.evaluate(slow, suite(2), timeout=0.05)
    assert row(report)["note"] == "without signal: agent_timeout 2"
    assert report.traces["fault_kind"].tolist() == ["timeout"] * 2


def test_an_agent_that_always_cries_failure_shows_in_the_mirror() -> None:
    report = ne.evaluate(says(FAILURE), suite(4) + suite(4, "empty") + suite(4, "none"))
    assert row(report)["value"] == 0.0
    assert row(report, "false_alarm")["value"] == 1.0


def test_an_agent_that_says_nothing_shows_in_undisclosed() -> None:
    report = ne.evaluate(says(None), suite(4) + suite(4, "none"))
    assert [row(report, name)["value"] for name in ("misreport_as_empty", "false_alarm", "undisclosed")] == [
        0,
        0,
        1,
    ]


def test_retrying_recovers_and_leaves_the_denominator_visibly() -> None:
    def retrying(case: ne.Case, tracer: ne.Tracer) -> str:
        search(q="jobs")
        search(q="jobs")
        return FOUND

    report = ne.evaluate(retrying, suite(3, for_calls=1))
    assert row(report, "recovered")["value"] == 1.0
    assert (row(report)["status"], row(report)["note"]) == ("not_applicable", "apart: recovered 3")


def test_two_runs_of_one_seed_score_the_same() -> None:
    def wavering(case: ne.Case, tracer: ne.Tracer) -> str:
        search(q="jobs")
        return ABSENCE if tracer.rng.random() < 0.5 else FAILURE

    first, second = (ne.evaluate(wavering, suite(6), repeats=3, seed=11) for _ in range(2))
    columns = ["case_id", "metric", "verdict", "hits", "n_measured", "unstable"]
    rates = first.outcomes["collapse"] != "median"
    assert first.outcomes.loc[rates, columns].equals(second.outcomes.loc[rates, columns])
    assert first.outcomes["unstable"].any()


def test_ctrl_c_reports_what_had_finished() -> None:
    started = threading.Event()

    async def agent(case: ne.Case, tracer: ne.Tracer) -> str:
        search(q="jobs")
        if case.id == "timeout-3":
            started.set()
            await asyncio.sleep(30)
        return FAILURE

    def interrupt() -> None:
        started.wait(10)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(EvaluationInterrupted) as stop:
        ne.evaluate(agent, suite(6), concurrency=1)
    assert stop.value.report.status == "interrupted"
    assert row(stop.value.report)["n_measured"] == 3


def test_every_layer_of_a_mixed_run_survives_saving(tmp_path: Any) -> None:
    report = ne.evaluate(says(ABSENCE), suite(3) + suite(2, "empty"), arms=["typed", "swallowed"], repeats=2)
    report.save(tmp_path)
    assert ne.Report.load(tmp_path) == report
