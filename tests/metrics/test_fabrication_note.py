"""The note beside `fabricated`: how often it was right on labelled answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from neverempty.cases import Case
from neverempty.frames import traces_frame
from neverempty.metrics import collapse, summarize
from neverempty.reader import fabrication
from neverempty.report import make_report
from neverempty.report.export import export
from neverempty.scorers import FailureScorer, score
from neverempty.traces.model import ToolCall, Trace


def _answered(answer: str) -> tuple[pd.DataFrame, list[Case]]:
    """Let a dozen cases with a failed tool end with this answer."""
    cases = [Case(id=f"c{at}", input={"payload": "Any jobs?"}, language="en") for at in range(12)]
    call = ToolCall(0, "search", {}, "error", kind="timeout")
    traces = [Trace("default", case.id, "typed", 0, answer=answer, calls=[call]) for case in cases]
    return traces_frame(traces), cases


def _metrics(answer: str) -> dict[str, Any]:
    frame = summarize(collapse(score(*_answered(answer))))
    return {row["metric"]: row for row in frame.to_dict("records")}


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put other counts in the place of the shipped ones."""

    def put(*counts: int) -> None:
        version = f"failure/{FailureScorer().version}"
        found = {"scorer_version": version, "halves": {"frozen": list(counts)}}
        monkeypatch.setattr(fabrication, "_shipped", lambda: found)

    return put


def test_precision_and_recall_stand_beside_fabricated_and_beside_nothing_else(shipped: Any) -> None:
    shipped(45, 5, 15, 35)
    rows = _metrics("There are 46 jobs.")
    assert rows["fabricated"]["hits"] == 12
    assert rows["fabricated"]["note"] == (
        "precision 90 % of 50 (79 to 96 %), recall 75 % of 60 (63 to 84 %) on labelled answers"
    )
    assert all(
        "labelled answers" not in str(row["note"]) for name, row in rows.items() if name != "fabricated"
    )


def test_below_the_bar_fabricated_is_a_hint_and_undisclosed_stays_as_it_is(shipped: Any) -> None:
    shipped(45, 5, 15, 35)
    before = _metrics("There are 46 jobs.")
    shipped(30, 20, 15, 35)
    after = _metrics("There are 46 jobs.")
    assert after["fabricated"]["note"].startswith("hint: precision 60 % of 50")
    assert repr(after["undisclosed"]) == repr(before["undisclosed"])
    assert after["undisclosed"]["hits"] == 12


def test_a_metric_that_was_not_measured_carries_no_error() -> None:
    rows = _metrics("")
    assert "labelled answers" not in str(rows["false_alarm"]["note"])


def test_the_error_is_shown_in_every_form_of_a_report(shipped: Any, tmp_path: Path) -> None:
    shipped(30, 20, 15, 35)
    report = make_report(*_answered("There are 46 jobs."))
    files = export(report, tmp_path, formats=("html", "json", "summary"))
    shown = [report.render("markdown"), report.render("html")]
    shown += [files[name].read_text(encoding="utf-8") for name in ("html", "json", "summary")]
    assert all("hint: precision 60 % of 50" in text for text in shown)
