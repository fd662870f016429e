from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from neverempty import stats

INTERVALS = [stats.wilson_interval, stats.clopper_pearson_interval]


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("conf", [0.5, 0.95, 0.999])
def test_bounds_enclose_the_rate_and_stay_in_the_unit_interval_for_all_n_to_300(
    interval: Callable[..., Any], conf: float
) -> None:
    n, x = (a.ravel() for a in np.mgrid[1:301, 0:301])
    x, n = x[x <= n], n[x <= n]
    value, lo, hi = interval(x, n, conf)
    assert (lo >= 0).all()
    assert (lo <= x / n).all()
    assert (x / n <= hi).all()
    assert (hi <= 1).all()
    assert (lo[x == 0] == 0).all()
    assert (hi[x == n] == 1).all()
    assert (value == x / n).all()


@pytest.mark.parametrize("interval", INTERVALS)
def test_array_input_gives_the_same_numbers_as_one_at_a_time(interval: Callable[..., Any]) -> None:
    arrays = interval([0, 3, 17, 0], [1, 9, 17, 0])
    for i, (x, n) in enumerate([(0, 1), (3, 9), (17, 17)]):
        one = interval(x, n)
        assert (one.value, one.lo, one.hi) == (arrays.value[i], arrays.lo[i], arrays.hi[i])
    assert all(math.isnan(column[3]) for column in arrays)


@pytest.mark.parametrize("interval", INTERVALS)
def test_no_case_is_not_measured_and_not_an_interval_from_0_to_1(interval: Callable[..., Any]) -> None:
    nothing = interval(0, 0)
    assert (nothing.value, nothing.lo, nothing.hi, nothing.status) == (None, None, None, "not_measured")


@pytest.mark.parametrize("x", [0, 1, 7, 40, 60])
def test_intervals_against_scipy_binomtest(x: int) -> None:
    oracle = scipy_stats.binomtest(x, 60)
    for ours, method in (
        (stats.wilson_interval(x, 60), "wilson"),
        (stats.clopper_pearson_interval(x, 60), "exact"),
    ):
        theirs = oracle.proportion_ci(0.95, method=method)
        assert (ours.lo, ours.hi) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_zero_failures_give_the_rule_of_three() -> None:
    upper = stats.clopper_pearson_interval(0, 60, 0.95, "upper").hi
    assert upper == pytest.approx(1 - 0.05 ** (1 / 60), abs=1e-14)


def test_a_lower_bound_at_all_hits_mirrors_the_upper_bound_at_none() -> None:
    lower = stats.clopper_pearson_interval(60, 60, 0.95, "lower")
    assert lower.lo == pytest.approx(0.05 ** (1 / 60), abs=1e-14)
    assert lower.hi == 1.0


def test_a_design_effect_widens_the_interval_like_fewer_cases() -> None:
    wide, few = stats.wilson_interval(40, 80, design_effect=2.0), stats.wilson_interval(20, 40)
    assert (wide.lo, wide.hi) == pytest.approx((few.lo, few.hi))
    assert wide.n == 80


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(
    ("x", "n", "message"),
    [
        (4, 3, "x must not exceed n; got x=4, n=3"),
        (-1, 3, "x must not be negative; got -1"),
        (math.nan, 3, r"x must hold counts .* got nan"),
        (1.5, 3, r"x must hold counts .* got 1\.5"),
        (1, math.inf, "n must hold counts"),
        (None, 3, "x must be a count; got None"),
        ("2", 3, "x must hold counts"),
        ([1, 5], [3, 4], "x must not exceed n; got x=5, n=4"),
    ],
)
def test_wrong_counts_are_refused_by_name(interval: Callable[..., Any], x: Any, n: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        interval(x, n)


@pytest.mark.parametrize("conf", [0.0, 1.0, -0.1, 95, math.nan, None])
def test_a_confidence_outside_the_unit_interval_is_refused(conf: Any) -> None:
    with pytest.raises(ValueError, match="conf must"):
        stats.wilson_interval(1, 2, conf)


def test_an_unknown_side_or_design_effect_is_refused() -> None:
    with pytest.raises(ValueError, match="side must be one of"):
        stats.clopper_pearson_interval(1, 2, side="both")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="design_effect must be positive"):
        stats.wilson_interval(1, 2, design_effect=0)


@given(st.lists(st.sampled_from([True, False, None, math.nan, 1, 0.0]), max_size=40))
def test_missing_values_are_dropped_and_counted_never_zero(values: list[Any]) -> None:
    missing = [v for v in values if v is None or v != v]
    measured = [v for v in values if not (v is None or v != v)]
    found = stats.rate(values)
    assert (found.n, found.n_missing) == (len(measured), len(missing))
    assert found.value == (sum(measured) / len(measured) if measured else None)


def test_partial_credit_is_refused_a_binomial_interval() -> None:
    with pytest.raises(ValueError, match=r"position 1 is 0\.5"):
        stats.rate([1, 0.5])


def test_a_rate_of_numpy_booleans_and_of_arrays_with_nan() -> None:
    assert stats.rate(np.array([True, False])).value == 0.5
    assert stats.rate(np.array([1.0, np.nan])).n_missing == 1
    assert stats.rate([1, 1], method="clopper_pearson").method == "clopper_pearson"


def test_jeffreys_interval_against_scipy_beta() -> None:
    found = stats.beta_posterior(3, 20)
    lo, hi = scipy_stats.beta.ppf([0.025, 0.975], 3.5, 17.5)
    assert (found.value, found.lo, found.hi) == pytest.approx((3.5 / 21, lo, hi))
    assert stats.beta_posterior(0, 0).status == "not_measured"
    with pytest.raises(ValueError, match="prior must be two positive numbers"):
        stats.beta_posterior(1, 2, prior=(0, 1))


def test_unchanged_mutants_stay_in_the_denominator() -> None:
    score = stats.mutation_score(9, 1, 2)
    assert (score.value, score.n) == (0.75, 12)
    assert score.score_changed_only is not None
    assert (score.score_changed_only.value, score.score_changed_only.n) == (0.9, 10)


def test_no_mutant_is_not_measured() -> None:
    assert stats.mutation_score(0, 0).status == "not_measured"


def test_catch_and_false_alarm_rates_are_wilson_rates_of_their_own_controls() -> None:
    assert stats.catch_rate(19, 20).lo == stats.wilson_interval(19, 20).lo
    assert stats.false_alarm_rate(0, 20).hi == stats.wilson_interval(0, 20).hi
    assert stats.false_alarm_rate(0, 0).status == "not_measured"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.rate({0: 1, 1: 0}), "values is a mapping"),
        (lambda: stats.rate(5), "values must be a sequence of values; got 5"),
        (lambda: stats.wilson_interval([1, 2, 3], [5, 5]), r"x has \(3,\), n has \(2,\)"),
        (lambda: stats.wilson_interval(1e300, 1e300), "x must hold counts"),
        (lambda: stats.catch_rate([1], [2]), "caught must be a single number"),
        (lambda: stats.false_alarm_rate([1], [2]), "flagged must be a single number"),
        (lambda: stats.beta_posterior([1, 2], 5), "x must be a single number"),
        (lambda: stats.beta_posterior(1, 5, prior=(1,)), "prior must be two positive numbers"),
        (lambda: stats.beta_posterior(0, 0, conf=2), "conf must lie strictly between 0 and 1"),
        (lambda: stats.bootstrap_rate([1], 5), "x must be a single number"),
        (lambda: stats.bootstrap_counts([1, 2], lambda c: c[:, 0], 10, None), "rng must be a count"),
        (lambda: stats.pass_at_k([5], 3, 2), "n must be a single number"),
        (lambda: stats.corrected_rate([5], 10, 9, 10, 9, 10), "flagged must be a single number"),
        (lambda: stats.mcnemar_sample_size([0.05, 0.1]), "p_regress must be a number"),
        (lambda: stats.floor_breach_probability(60, 0.9, "x"), r"p must hold numbers in \[0, 1\]"),
        (lambda: stats.GateDesign(60, 3, [0.1], p_base=0.9), "q must be one rate, or pairs"),
        (lambda: stats.paired_diff_interval((1, 2, 3)), "table must be the four counts"),
    ],
)
def test_input_of_the_wrong_shape_is_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_columns_of_a_frame_are_taken_as_they_are() -> None:
    column = pd.Series([1, 0, pd.NA], dtype="Int64")
    assert (stats.rate(column).n, stats.rate(column).n_missing) == (2, 1)
    bounds = stats.wilson_interval(pd.Series([1, 2]), pd.Series([5, 5]))
    assert bounds.lo.tolist() == [stats.wilson_interval(x, 5).lo for x in (1, 2)]
