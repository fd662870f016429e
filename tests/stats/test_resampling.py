from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from neverempty import stats


def share(counts: Any) -> Any:
    return counts[:, 0] / counts.sum(axis=1)


def test_bootstrap_of_a_paired_difference_covers_at_95_percent_with_200_pairs() -> None:
    rng, runs, hits, n = np.random.default_rng(3), 2000, 0, 200
    for _ in range(runs):
        cells = rng.multinomial(n, [0.15, 0.10, 0.75])
        found = stats.bootstrap_counts(cells, lambda k: (k[:, 1] - k[:, 0]) / n, 999, rng)
        hits += found.lo <= -0.05 <= found.hi
    assert 0.93 <= hits / runs <= 0.97


def test_bca_of_a_rate_covers_at_95_percent_with_100_cases() -> None:
    rng, runs, hits, n = np.random.default_rng(4), 1500, 0, 100
    for _ in range(runs):
        x = int(rng.binomial(n, 0.8))
        found = stats.bca([x, n - x], share, 999, rng)
        hits += found.lo <= 0.8 <= found.hi
    assert 0.93 <= hits / runs <= 0.97


def test_bca_against_scipy() -> None:
    data = np.repeat([1.0, 0.0], [85, 15])
    theirs = scipy_stats.bootstrap(
        (data,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    ours = stats.bca([85, 15], share, 20_000, rng=0)
    assert (ours.lo, ours.hi) == pytest.approx((theirs.low, theirs.high), abs=0.0101)


def test_closed_form_equals_many_resamples() -> None:
    drawn, closed = stats.bootstrap_counts([57, 3], share, 200_000, 1), stats.bootstrap_rate(57, 60)
    assert (drawn.lo, drawn.hi) == (closed.lo, closed.hi)
    assert drawn.se == pytest.approx(math.sqrt(0.95 * 0.05 / 60), rel=0.01)


def test_a_rate_of_one_has_no_bootstrap_width_and_says_so() -> None:
    assert stats.bootstrap_rate(10, 10).status == "degenerate"
    assert stats.bca([10, 0], share).status == "degenerate"
    assert stats.bootstrap_rate(0, 0).status == "not_measured"
    assert stats.bootstrap_counts([0, 0], share).status == "not_measured"


def test_many_undefined_replicates_leave_no_interval() -> None:
    def odds(counts: Any) -> Any:
        return np.where(counts[:, 1] == 0, np.nan, counts[:, 0] / np.maximum(counts[:, 1], 1))

    found = stats.bootstrap_counts([19, 1], odds, 4000)
    assert (found.status, found.lo) == ("undefined", None)
    assert found.p_undefined == pytest.approx(0.95**20, abs=0.02)
    assert stats.bootstrap_counts([19, 0], odds).status == "undefined"
    assert stats.bootstrap_counts([190, 10], odds).status == "ok"


def test_seed_and_numpy_version_are_recorded() -> None:
    found = stats.bootstrap_counts([5, 5], share, 100, 17)
    assert (found.seed, found.numpy_version, found.n_resamples) == (17, np.__version__, 100)
    assert stats.bootstrap_counts([5, 5], share, 100, np.random.default_rng(17)).seed is None
    assert found == stats.bootstrap_counts([5, 5], share, 100, 17)


@pytest.mark.parametrize(("q", "draw"), [(0.5, "lognormal"), (0.95, "exponential")])
def test_quantile_interval_covers_at_least_at_its_level(q: float, draw: str) -> None:
    rng, runs, hits, n = np.random.default_rng(6), 2000, 0, 120
    truth = 1.0 if draw == "lognormal" else -math.log(1 - q)
    for _ in range(runs):
        values = rng.lognormal(size=n) if draw == "lognormal" else rng.exponential(size=n)
        found = stats.quantile_interval(values, q)
        hits += found.lo <= truth <= found.hi
    assert 0.94 <= hits / runs <= 0.985


@pytest.mark.parametrize("q", [0.1, 0.5, 0.95])
def test_quantile_interval_against_scipy(q: float) -> None:
    values = np.random.default_rng(0).normal(size=250)
    theirs = scipy_stats.quantile_test(values, q=0, p=q).confidence_interval(0.95)
    found = stats.quantile_interval(values, q)
    assert (found.lo, found.hi) == (theirs.low, theirs.high)


def test_too_few_values_leave_a_bound_open() -> None:
    found = stats.quantile_interval([1.0, 2.0, 3.0, None], 0.95)
    assert (found.hi, found.status, found.n_missing) == (None, "cannot_reject", 1)
    assert stats.quantile_interval([], 0.5).status == "not_measured"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.bootstrap_counts([-1, 2], share), "pattern_counts must not be negative"),
        (lambda: stats.bootstrap_counts([1, 2], lambda k: k), "statistic must map counts"),
        (lambda: stats.bootstrap_counts([1, 2], share, 0), "n_resamples must be at least 1"),
        (lambda: stats.bootstrap_counts([1, 2], share, method="basic"), "method must be one of"),  # type: ignore[arg-type]
        (lambda: stats.bootstrap_counts([1, 2], share, rng=-1), "rng must not be negative"),
        (lambda: stats.bootstrap_rate(3, 2), "x must not exceed n"),
        (lambda: stats.quantile_interval([1], 1.0), "q must lie strictly"),
    ],
)
def test_wrong_input_is_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_percentile_interval_without_width_says_that_it_is_degenerate() -> None:
    found = stats.bootstrap_counts([10, 0], lambda c: c[:, 0] / c.sum(axis=1), 100)
    assert (found.value, found.lo, found.hi, found.status) == (1.0, 1.0, 1.0, "degenerate")
    assert "Wilson" in found.reason
