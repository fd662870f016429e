"""No number unless a report has earned it: not in the object, not in its files, not in its renderings."""

from __future__ import annotations

import re
from typing import Any

import pytest

from neverempty.report import Report
from neverempty.report.status import allows_numbers, ceiling

ABSENCE, FAILURE = "There are no open jobs.", "The search failed."
NUMBERS = ["value", "lo", "hi", "bound_lo", "bound_hi", "per_answer", "per_answer_lo", "per_answer_hi"]
CUT_OFF = [
    ([ABSENCE, (None, "budget_stopped")], {}, "budget_stopped"),
    ([ABSENCE] * 60, {"repeats": 2}, "incomplete"),
    ([ABSENCE] * 60, {"interrupted": True}, "interrupted"),
    ([(None, "agent_error")] * 2, {}, "nothing_measured"),
    ([ABSENCE] * 50 + [(None, "agent_timeout")] * 10, {}, "partial_errors"),
]


@pytest.mark.parametrize(("answers", "settings", "status"), CUT_OFF, ids=[row[2] for row in CUT_OFF])
def test_a_report_that_was_cut_off_has_no_number_anywhere(
    answers: Any, settings: Any, status: str, report_of: Any, tmp_path: Any
) -> None:
    report = report_of(answers, **settings)
    report.save(tmp_path)
    for one in (report, Report.load(tmp_path)):
        assert one.status == status
        rates = one.metrics[one.metrics["metric"] != "latency_ms"]
        assert not rates[[*NUMBERS, "unstable_rate"]].notna().any().any()
        assert rates["hits"].isna().all()
        assert not one.metrics["value"].notna().any()
        assert one.honesty["share"].isna().all()
    assert '"value":0' not in (tmp_path / "metrics.jsonl").read_text()
    for form in ("markdown", "html"):
        assert not re.search(r"\d\.\d %", report.render(form))


def test_a_number_that_is_withheld_is_not_called_unmeasured(report_of: Any) -> None:
    report = report_of([ABSENCE] * 60, interrupted=True)
    row = report.metrics.set_index("metric").loc["misreport_as_empty"]
    assert (row["status"], row["n_measured"]) == ("withheld", 60)
    assert "withheld" in report.to_markdown()


@pytest.mark.parametrize(("broken", "status"), [(6, "ok"), (7, "partial_errors")])
def test_up_to_a_tenth_of_the_repeats_may_break(broken: int, status: str, report_of: Any) -> None:
    report = report_of([FAILURE] * (60 - broken) + [(None, "agent_error")] * broken)
    assert report.status == status
    assert report.metrics["value"].notna().any() == allows_numbers(status)


def test_a_suite_that_everything_passes_cannot_rank(report_of: Any) -> None:
    best = report_of([FAILURE] * 15)
    assert best.warnings == [
        "15 of 15: every measured case passes every check; this suite cannot rank two agents"
    ]
    for rendered in (best.to_markdown(), best._repr_html_()):
        assert "Warning: 15 of 15" in rendered
    assert report_of([FAILURE] * 14 + [ABSENCE]).warnings == []
    assert ceiling(report_of([(None, "agent_error")] * 3).outcomes) is None
