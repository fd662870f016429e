"""Stated confidence: what is stated, what is measured, and what may be accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from neverempty import (
    Case,
    Trace,
    UsageError,
    confidence_pairs,
    plots,
    score,
    stated_confidence,
    stats,
    traces_frame,
)

REFERENCE = Path(__file__).parents[1] / "reference" / "risk_coverage.json"


def _frames(sure: list[float | None], wrong: list[int | None]) -> tuple[pd.DataFrame, pd.DataFrame]:
    cases = [
        Case(id=str(at), input={"payload": 1}, expect={"route": {"label": "x"}}) for at in range(len(sure))
    ]
    traces = traces_frame(
        Trace(
            "default",
            str(at),
            "typed",
            0,
            "ok" if bad is not None else "agent_error",
            answer="Ok.",
            route="y" if bad else "x",
            confidence=confidence,
        )
        for at, (confidence, bad) in enumerate(zip(sure, wrong, strict=True))
    )
    return traces, score(traces, cases)


@pytest.mark.parametrize(
    "row", json.loads(REFERENCE.read_text(encoding="utf-8")), ids=lambda row: row["kind"]
)
def test_risk_and_coverage_are_those_of_the_reference(row: dict) -> None:
    (found,) = stated_confidence(*_frames(row["confidence"], row["error"]), "route").to_dict("records")
    for name in ("aurc", "augrc"):
        wanted = row["expected"][name]
        assert pd.isna(found[name]) if wanted is None else found[name] == pytest.approx(wanted)


def test_the_calibration_error_is_weighted_by_answers_and_the_top_bin_is_closed() -> None:
    (row,) = stated_confidence(*_frames([1.0, 0.95, 0.92, 0.15], [0, 0, 1, 1]), "route").to_dict("records")
    top = abs(2 / 3 - (1.0 + 0.95 + 0.92) / 3)
    assert row["ece"] == pytest.approx(3 / 4 * top + 1 / 4 * 0.15)
    assert (row["n_answers"], row["n_stated"], row["n_measured"], row["accuracy"]) == (4, 4, 4, 0.5)


def test_unstated_and_unmeasured_answers_are_counted_apart() -> None:
    (row,) = stated_confidence(*_frames([0.9, None, 0.7], [0, 0, None]), "route").to_dict("records")
    assert (row["n_answers"], row["n_stated"], row["n_measured"]) == (3, 2, 1)
    assert "1 of 3 answers state no confidence" in row["note"]


def test_without_confidence_nothing_is_measured() -> None:
    (row,) = stated_confidence(*_frames([None, None], [0, 1]), "route").to_dict("records")
    assert row["status"] == "not_measured"
    assert pd.isna(row["ece"])
    assert pd.isna(row["coverage"])


def test_a_threshold_is_certified_or_coverage_is_nought() -> None:
    sure, wrong = [0.9] * 200 + [0.3] * 50, [0] * 200 + [1] * 50
    (row,) = stated_confidence(*_frames(sure, wrong), "route", max_risk=0.05).to_dict("records")
    assert (row["threshold"], row["coverage"]) == (0.9, 0.8)
    (row,) = stated_confidence(*_frames([0.9] * 5, [0] * 5), "route", max_risk=0.01).to_dict("records")
    assert row["coverage"] == 0.0
    assert pd.isna(row["threshold"])


def test_the_pairs_feed_the_plots() -> None:
    pairs = confidence_pairs(*_frames([0.9, 0.6, None], [0, 1, 0]), "route")
    assert plots.reliability(pairs["confidence"], 1 - pairs["error"]).get_ylabel() == "right answers"
    assert len(plots.risk_coverage_data(pairs["confidence"], pairs["error"])) == 2
    curve = stats.risk_coverage([0.9, 0.6, None], [0, 1, 0])
    assert curve.coverage_max == pytest.approx(2 / 3)


def test_a_metric_that_was_not_scored_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no answer was scored by 'rout'; did you mean 'route'"):
        confidence_pairs(*_frames([0.9], [0]), "rout")
