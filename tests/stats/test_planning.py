from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty import stats


def enumerated(n: int, p10: float, p01: float, alpha: float, midp: bool) -> float:
    """Power by going through every table of n pairs."""
    total = 0.0
    for b in range(n + 1):
        for c in range(n - b + 1):
            if float(stats.mcnemar_exact(b, c, midp=midp)) < alpha:
                ways = comb(n, b) * comb(n - b, c)
                total += ways * p10**b * p01**c * (1 - p10 - p01) ** (n - b - c)
    return total


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 18),
    st.floats(0, 0.5),
    st.floats(0, 0.5),
    st.sampled_from([0.05, 0.0625, 0.2]),
    st.booleans(),
)
def test_power_equals_enumeration(n: int, p10: float, p01: float, alpha: float, midp: bool) -> None:
    assert stats.mcnemar_power(n, p10, p01, alpha, midp) == pytest.approx(
        enumerated(n, p10, p01, alpha, midp), abs=1e-10
    )


@pytest.mark.parametrize("churn", [0.0, 0.01, 0.05, 0.1, 0.15, 0.2, 0.24])
def test_power_against_a_real_drop_does_not_fall_with_n_while_discordance_is_at_most_one_half(
    churn: float,
) -> None:
    # At a drop of 0, where it is the test's size, it does dip: by up to 3e-6 at a churn of 0.24.
    drops = [d for d in (0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5) if d + 2 * churn <= 0.5]
    power = stats.mcnemar_power_curve(range(601), drops, churn)
    assert (np.diff(power, axis=1) >= -1e-12).all()


def test_curve_and_points_agree() -> None:
    ns, drops = [0, 7, 60, 210, 210, 500], [0.0, 0.05, 0.3]
    curve = stats.mcnemar_power_curve(ns, drops, 0.02)
    points = stats.mcnemar_power(np.array(ns), np.array(drops)[:, None] + 0.02, 0.02)
    assert np.abs(curve - points).max() < 1e-11


def test_no_discordance_has_no_power_and_certain_regression_all_of_it() -> None:
    assert stats.mcnemar_power(100, 0.0) == 0.0
    assert stats.mcnemar_power(10, 1.0) == 1.0
    assert stats.mcnemar_power(4, 1.0) == 0.0
    assert stats.mcnemar_power_curve([], [0.1]).shape == (1, 0)


@pytest.mark.parametrize(
    ("drop", "churn", "n80", "n90"),
    [(0.05, 0.0, 134, 158), (0.05, 0.01, 189, 242), (0.05, 0.1, 651, 886), (0.1, 0.02, 94, 120)],
)
def test_sample_sizes_of_the_specification(drop: float, churn: float, n80: int, n90: int) -> None:
    assert stats.mcnemar_sample_size(drop + churn, churn, 0.8).n == n80
    assert stats.mcnemar_sample_size(drop + churn, churn, 0.9).n == n90


def test_sample_size_scans_where_power_may_fall_with_n() -> None:
    found = stats.mcnemar_sample_size(0.6, 0.2, 0.8)
    assert found.n is not None
    below = [stats.mcnemar_power(n, 0.6, 0.2) for n in range(1, found.n)]
    assert max(below) < 0.8 <= stats.mcnemar_power(found.n, 0.6, 0.2)


def test_a_size_that_does_not_exist_is_none_with_a_reason() -> None:
    assert stats.mcnemar_sample_size(0.05, 0.05).status == "undefined"
    assert stats.mcnemar_sample_size(0.06, 0.05, max_n=100).status == "cannot_reject"


@pytest.mark.parametrize(
    ("n", "mde"),
    [(60, (10.9, 12.8, 14.3)), (100, (6.6, 8.3, 9.5)), (210, (3.2, 4.6, 5.5)), (500, (1.3, 2.4, 3.1))],
)
def test_minimum_detectable_drops_of_the_specification(n: int, mde: tuple[float, ...]) -> None:
    found = [float(stats.minimum_detectable_drop(n, churn)) * 100 for churn in (0, 0.01, 0.02)]
    assert [round(v, 1) for v in found] == list(mde)


def test_too_few_cases_cannot_reject_whatever_the_drop() -> None:
    assert stats.minimum_detectable_drop(4).status == "cannot_reject"
    assert stats.minimum_detectable_drop(100, 0.5).status == "cannot_reject"


def test_floors_are_read_as_decimals() -> None:
    assert [stats.floor_min_passes(n, f) for n, f in ((100, 0.07), (100, 0.57), (50, 0.14))] == [7, 57, 7]


@given(st.integers(1, 500), st.integers(1, 100))
def test_a_float_comparison_never_disagrees_with_the_planned_floor(n: int, percent: int) -> None:
    floor = float(f"0.{percent:02d}") if percent < 100 else 1.0
    least = stats.floor_min_passes(n, floor)
    assert not least / n < floor
    assert least == 0 or (least - 1) / n < floor


def test_a_rate_at_the_floor_breaches_in_a_third_to_a_half_of_all_runs() -> None:
    for n in (60, 100, 210):
        assert 0.35 <= float(stats.floor_breach_probability(n, 0.95, 0.95)) <= 0.49  # type: ignore[arg-type]


def test_floor_plan_shows_the_saw_tooth() -> None:
    plan = stats.floor_plan(0.95, 0.98, 0.90)
    assert (plan.n_first, plan.n_stable) == (60, 80)
    assert plan.good_sizes[0] == 60
    assert plan.good_sizes[-1] == 80
    assert 60 < len(set(range(60, 81)) - set(plan.good_sizes)) + 60 < 81


def test_floor_plan_without_any_size_says_none() -> None:
    plan = stats.floor_plan(0.95, 0.951, 0.95, max_n=50)
    assert (plan.n_first, plan.n_stable, plan.good_sizes) == (None, None, ())


def test_zero_failure_plans_have_their_closed_form() -> None:
    assert [stats.acceptance_plan(0, p).n for p in (0.05, 0.02, 0.01)] == [45, 114, 230]
    assert stats.acceptance_plan(0.01, 0.011, max_n=100).n is None


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "clopper_pearson_upper"])
@pytest.mark.parametrize("hits", [0, 2])
def test_clean_cases_for_a_limit_are_the_fewest(method: Any, hits: int) -> None:
    n = stats.clean_cases_for_limit(0.02, method=method, hits=hits)
    side: Any = "upper" if method.endswith("upper") else "two-sided"

    def bound(size: int) -> float:
        if method == "wilson":
            return stats.wilson_interval(hits, size).hi or 0.0
        return stats.clopper_pearson_interval(hits, size, side=side).hi or 0.0

    assert bound(n) <= 0.02 < bound(n - 1)


def test_a_limit_of_two_percent_needs_189_clean_cases() -> None:
    assert stats.clean_cases_for_limit(0.02) == 189


def test_a_nominal_five_percent_alarm_rings_within_twenty_nights_two_times_in_three() -> None:
    price = stats.false_alarm_run_length(0.05, 20)
    assert price.expected_runs == 20
    assert price.p_any_alarm == pytest.approx(0.6415, abs=1e-4)
    assert stats.false_alarm_run_length(0.0).expected_runs is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.mcnemar_power(10, 0.7, 0.4), "p_regress .* p_improve must not exceed 1"),
        (lambda: stats.mcnemar_power(10, -0.1), r"p_regress must lie in \[0, 1\]"),
        (lambda: stats.mcnemar_power(-3, 0.1), "n must not be negative"),
        (lambda: stats.mcnemar_power(10, float("nan")), "p_regress must lie"),
        (lambda: stats.mcnemar_power_curve([10], [0.7], 0.2), "must not exceed 1"),
        (lambda: stats.mcnemar_sample_size(0.1, power=1.0), "power must lie strictly"),
        (lambda: stats.floor_breach_probability(10, 1.2, 0.5), "floor must lie"),
        (lambda: stats.floor_breach_probability(10, 0.9, 1.5), "p must lie"),
        (lambda: stats.floor_plan(0.9, 0.8, 0.9), "p_bad must be below p_good"),
        (lambda: stats.acceptance_plan(0.1, 0.05), "p_good must be below p_bad"),
        (lambda: stats.clean_cases_for_limit(0.0), "limit must lie strictly"),
        (lambda: stats.false_alarm_run_length(1.5), "p_alarm must lie"),
    ],
)
def test_wrong_input_is_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
