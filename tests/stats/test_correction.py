from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import stats


@pytest.mark.parametrize(
    ("theta", "n", "m", "se", "sp"),
    [(0.3, 400, 200, 0.92, 0.96), (0.2, 1000, 300, 0.85, 0.9), (0.5, 210, 100, 0.9, 0.9)],
)
def test_corrected_rate_covers_at_95_percent_at_these_sizes(
    theta: float, n: int, m: int, se: float, sp: float
) -> None:
    rng, runs, hits = np.random.default_rng(9), 3000, 0
    for _ in range(runs):
        flagged = rng.binomial(n, theta * se + (1 - theta) * (1 - sp))
        found = stats.corrected_rate(flagged, n, rng.binomial(m, se), m, rng.binomial(m, sp), m)
        hits += found.lo <= theta <= found.hi
    assert 0.93 <= hits / runs <= 0.97


def test_the_naive_interval_would_miss() -> None:
    rng, runs, hits = np.random.default_rng(9), 500, 0
    for _ in range(runs):
        flagged = int(rng.binomial(210, 0.05 * 0.92 + 0.95 * 0.04))
        naive = stats.wilson_interval(flagged, 210)
        hits += naive.lo <= 0.05 <= naive.hi
    assert hits / runs < 0.6


@given(st.integers(1, 300), st.data())
def test_bounds_stay_in_the_unit_interval_and_statuses_say_what_happened(n: int, data: st.DataObject) -> None:
    flagged = data.draw(st.integers(0, n))
    m_pos, m_neg = data.draw(st.integers(0, 60)), data.draw(st.integers(0, 60))
    tp, tn = data.draw(st.integers(0, m_pos)), data.draw(st.integers(0, m_neg))
    found = stats.corrected_rate(flagged, n, tp, m_pos, tn, m_neg)
    assert found.naive == flagged / n
    if m_pos == 0 or m_neg == 0:
        assert found.status == "not_measured"
    elif tp / m_pos + tn / m_neg <= 1:
        assert (found.status, found.value) == ("judge_uninformative", None)
    elif (tp + 1) / (m_pos + 2) + (tn + 1) / (m_neg + 2) <= 1:
        assert found.status == "judge_uninformative"
    else:
        assert 0 <= found.lo <= found.hi <= 1
        assert 0 <= found.value <= 1
        outside = not -1e-9 <= found.unclipped <= 1 + 1e-9
        assert (found.status in {"clipped", "inconsistent"}) == outside


def test_a_perfect_judge_changes_nothing() -> None:
    found = stats.corrected_rate(20, 210, 50, 50, 50, 50)
    assert (found.value, found.status) == (pytest.approx(20 / 210), "ok")


def test_too_few_labels_to_tell_the_judge_from_a_coin_report_nothing() -> None:
    found = stats.corrected_rate(0, 1, tp=1, m_pos=1, tn=1, m_neg=5)
    assert (found.value, found.lo, found.status) == (None, None, "judge_uninformative")


def test_a_stale_calibration_reports_nothing() -> None:
    stale = stats.corrected_rate(20, 210, 46, 50, 48, 50, calibrated_for="judge-1", used_judge="judge-2")
    assert (stale.value, stale.status) == (None, "not_measured")
    assert "judge-1" in stale.reason
    fresh = stats.corrected_rate(20, 210, 46, 50, 48, 50, calibrated_for="judge-1", used_judge="judge-1")
    assert fresh.status == "ok"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((5, 4, 1, 2, 1, 2), "flagged must not exceed n"),
        ((1, 4, 3, 2, 1, 2), "tp must not exceed m_pos"),
        ((1, 4, 1, 2, 3, 2), "tn must not exceed m_neg"),
        ((-1, 4, 1, 2, 1, 2), "flagged must not be negative"),
        ((math.nan, 4, 1, 2, 1, 2), "flagged must hold counts"),
    ],
)
def test_wrong_counts_are_refused_by_name(numbers: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.corrected_rate(*numbers)


def test_labels_go_where_the_variance_is() -> None:
    def variance(pos: int, neg: int) -> float:
        return 0.1**2 * 0.8 * 0.2 / pos + 0.9**2 * 0.95 * 0.05 / neg

    pos, neg = stats.allocate_labels(200, 0.1, 0.8, 0.95)
    assert pos + neg == 200
    assert variance(pos, neg) == min(variance(p, 200 - p) for p in range(1, 200))
    assert stats.allocate_labels(10, 0.5, 1.0, 1.0) == (5, 5)
    assert stats.allocate_labels(10, 0.0, 0.8, 0.9) == (1, 9)
    with pytest.raises(ValueError, match="budget must be at least 2"):
        stats.allocate_labels(1, 0.1, 0.8, 0.9)
