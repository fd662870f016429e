"""Flake rate, churn and pass rate from earlier runs, with their uncertainty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import neverempty as ne
from neverempty import UsageError

Outcomes = Callable[..., pd.DataFrame]


def test_flake_rate_and_pass_rate_are_taken_from_the_repeats(outcomes: Outcomes) -> None:
    plan = ne.plan(report=outcomes([0] * 54 + [1] * 4 + [2, 3], must_pass=[0, 1]))
    assert (plan.setting.n, plan.setting.must_pass, plan.setting.repeats) == (60, 2, 3)
    flake, passing = plan.setting.flake, plan.setting.pass_rate
    assert flake.value == pytest.approx((1 - np.sqrt(1 - 4 * 5 / 180)) / 2)
    assert flake.lo is not None
    assert flake.hi is not None
    assert flake.lo < float(flake) < flake.hi
    assert passing.value == pytest.approx(58 / 60)  # by the majority of each case's repeats


def test_no_unstable_case_does_not_mean_no_uncertainty(outcomes: Outcomes) -> None:
    flake = ne.plan(report=outcomes([0] * 60)).setting.flake
    assert flake.value == 0.0
    assert flake.hi == pytest.approx(0.0206, abs=5e-4)


def test_the_flake_rate_put_in_is_recovered(outcomes: Outcomes, rng: np.random.Generator) -> None:
    inside = 0
    for _ in range(100):
        flake = ne.plan(report=outcomes(rng.binomial(3, 0.05, 120).tolist())).setting.flake
        inside += (flake.lo or 0.0) <= 0.05 <= (flake.hi or 0.0)
    assert inside / 100 >= 0.9


def test_chance_flips_carry_the_uncertainty_of_the_flake_rate(outcomes: Outcomes) -> None:
    flips = ne.plan(report=outcomes([0] * 55 + [1] * 5)).test.chance_flips
    assert flips.lo is not None
    assert flips.hi is not None
    assert 0 < flips.lo < float(flips) < flips.hi


def test_two_runs_show_churn(outcomes: Outcomes) -> None:
    first, second = outcomes([3] * 6 + [0] * 54), outcomes([0, 0] + [3] * 4 + [0] * 53 + [3])
    churn = ne.plan(report=[first, second]).setting.churn
    assert churn.value == pytest.approx(2 / 60)
    assert churn.lo is not None
    assert churn.lo > 0


def test_one_run_does_not_show_churn_and_the_plan_says_that_it_is_assumed(outcomes: Outcomes) -> None:
    plan = ne.plan(report=outcomes([0] * 60))
    assert plan.setting.churn.method == "assumed"
    assert any("no case improves" in text for text in plan.cautions)


def test_what_the_user_says_beats_what_was_measured(outcomes: Outcomes) -> None:
    plan = ne.plan(40, report=outcomes([0] * 55 + [1] * 5), flake=0.02, repeats=5)
    assert (plan.setting.n, float(plan.setting.flake), plan.setting.repeats) == (40, 0.02, 5)


def test_churn_where_every_case_passes_now_leaves_room_in_the_pass_rate(outcomes: Outcomes) -> None:
    plan = ne.plan(report=[outcomes([3] * 3 + [0] * 57), outcomes([0] * 60)])
    assert float(plan.setting.pass_rate) == pytest.approx(0.95)
    assert any("lowered to leave churn" in text for text in plan.cautions)


def test_a_single_repeat_shows_no_flake_rate(outcomes: Outcomes) -> None:
    plan = ne.plan(report=outcomes([0] * 50 + [1] * 10, k=1))
    assert (plan.setting.flake.method, plan.setting.repeats) == ("assumed", 1)


def test_the_arm_is_named_where_there_are_several(outcomes: Outcomes) -> None:
    both = pd.concat([outcomes([0] * 20), outcomes([1] * 20, arm="raised")], ignore_index=True)
    with pytest.raises(UsageError, match="raised, typed: say which"):
        ne.plan(report=both)
    with pytest.raises(UsageError, match="did you mean 'typed'"):
        ne.plan(report=both, arm="type")
    assert float(ne.plan(report=both, arm="raised").setting.pass_rate) == 1.0


def test_a_metric_that_was_not_measured_is_refused(outcomes: Outcomes) -> None:
    with pytest.raises(UsageError, match="there is no metric 'route'"):
        ne.plan(report=outcomes([0] * 20), metric="route")
    silent = outcomes([0] * 20).assign(n_measured=0)
    with pytest.raises(UsageError, match="measured in no case"):
        ne.plan(report=silent)


def test_a_saved_report_can_be_planned_from(outcomes: Outcomes) -> None:
    class Saved:
        def __init__(self, frame: pd.DataFrame) -> None:
            self.outcomes = frame

    assert ne.plan(report=Saved(outcomes([0] * 60))).setting.n == 60  # type: ignore[arg-type]
