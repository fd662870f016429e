"""The model behind a plan: what flakes make of a case, checked by enumeration and against the statistics."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty import UsageError, stats
from neverempty.planning import PlanSetting
from neverempty.planning.setting import Collapse
from neverempty.planning.setting import given as known


def _enumerated(setting: PlanSetting, collapse: Collapse) -> tuple[float, float]:
    """Chances of a regression and an improvement, by walking through all outcomes of all calls."""
    k, q = setting.repeats, float(setting.flake)

    def passes(meant: bool) -> float:
        total = 0.0
        for calls in itertools.product((False, True), repeat=k):
            chance = 1.0
            for flaked in calls:
                chance *= q if flaked else 1 - q
            good = sum(meant != flaked for flaked in calls)
            if good == k if collapse == "any_hit" else 2 * good > k:
                total += chance
        return total

    base, churn = float(setting.pass_rate), float(setting.churn)
    worse = setting.drop + churn
    shares = {
        (True, True): base - worse,
        (True, False): worse,
        (False, True): churn,
        (False, False): 1 - base - churn,
    }
    regress = sum(share * passes(a) * (1 - passes(b)) for (a, b), share in shares.items())
    improve = sum(share * (1 - passes(a)) * passes(b) for (a, b), share in shares.items())
    return regress, improve


@given(
    q=st.floats(0, 0.3),
    churn=st.floats(0, 0.03),
    drop=st.floats(0.01, 0.3),
    k=st.integers(1, 4),
    collapse=st.sampled_from(("any_hit", "majority")),
)
@settings(max_examples=60)
def test_chances_of_a_flip_equal_the_enumeration_of_all_calls(
    q: float, churn: float, drop: float, k: int, collapse: Collapse
) -> None:
    setting = PlanSetting(60, drop=drop, flake=known(q), churn=known(churn), repeats=k)
    flips = setting.flips(collapse=collapse)
    assert (flips.regress, flips.improve) == pytest.approx(_enumerated(setting, collapse), abs=1e-12)
    assert flips.candidate - flips.base == pytest.approx(flips.improve - flips.regress, abs=1e-12)


def test_without_flakes_a_flip_is_drop_plus_churn() -> None:
    flips = PlanSetting(60, drop=0.05, churn=known(0.02)).flips()
    assert (flips.regress, flips.improve) == pytest.approx((0.07, 0.02))


@pytest.mark.parametrize("collapse", ["any_hit", "majority"])
def test_the_gate_without_other_rules_fails_as_often_as_the_test_alone(collapse: Collapse) -> None:
    setting = PlanSetting(90, flake=known(0.02), churn=known(0.01), max_unstable_rate=1.0)
    flips = setting.flips(collapse=collapse)
    odds = stats.gate_operating_characteristics(setting.design(90, drop=setting.drop, collapse=collapse))
    assert odds.p_fail == pytest.approx(stats.mcnemar_power(90, flips.regress, flips.improve), abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"drop": 0.0}, "drop 0 is no share"),
        ({"drop": 0.98}, "exceed the pass rate"),
        ({"churn": known(0.05)}, "only they can improve"),
        ({"must_pass": 61}, "must_pass 61 exceeds the 60 cases"),
        ({"repeats": 0}, "repeats 0 must be a whole number of at least 1"),
        ({"repeats": 2.5}, "repeats 2.5 must be a whole number"),
        ({"must_pass": -1}, "must_pass -1 must be a whole number of at least 0"),
        ({"collapse": "any-hit"}, "is none of any_hit, majority"),
        ({"limit_on": "wald"}, "is none of rate, wilson"),
        ({"drop": "5"}, "is no number"),
        ({"metrics": 0}, "metrics 0 must be a whole number of at least 1"),
    ],
)
def test_contradictions_are_refused_with_their_reason(changes: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        PlanSetting(60, **changes)  # type: ignore[arg-type]
