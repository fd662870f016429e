"""The whole gate: exact chances against its simulation twin, the power of the test, and known facts."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty import stats
from neverempty.stats import GateDesign

FIELDS = (
    "p_fail_must_pass",
    "p_inconclusive",
    "p_fail_stat",
    "p_pass",
    "p_floor_breach_joint",
    "p_mcnemar_joint",
)
BASE = GateDesign(40, 3, 0.05, p_base=0.9, drop=0.1, gain=0.05, floor=0.8)
TWINS = {
    "majority": BASE,
    "any_hit": dataclasses.replace(BASE, how="any_hit", floor=0.6),
    "one repeat": dataclasses.replace(BASE, k=1),
    "five repeats": dataclasses.replace(BASE, k=5, q=0.02),
    "even repeats, ties fail": dataclasses.replace(BASE, k=4, q=0.08, max_unstable_rate=0.3),
    "must-pass by any hit": dataclasses.replace(BASE, n_must_pass=5, must_pass_how="any_hit"),
    "must-pass by majority": dataclasses.replace(BASE, n_must_pass=8, q=0.1, max_unstable_rate=0.4),
    "any hit with must-pass": dataclasses.replace(BASE, how="any_hit", n_must_pass=3, q=0.02),
    "any hit, must-pass by majority": dataclasses.replace(
        BASE, how="any_hit", n_must_pass=6, q=0.1, must_pass_how="majority", floor=None
    ),
    "two kinds of cases": dataclasses.replace(BASE, q=((0.8, 0.01), (0.2, 0.3)), max_unstable_rate=0.2),
    "fixed suite": dataclasses.replace(BASE, sampling="fixed", n_must_pass=3, max_unstable_rate=0.2),
    "limit on the rate": dataclasses.replace(BASE, floor=None, limit=0.2, how="any_hit", q=0.01),
    "limit on Wilson's bound": dataclasses.replace(BASE, floor=None, limit=0.35, limit_on="wilson"),
    "limit on the exact bound": dataclasses.replace(
        BASE, floor=None, limit=0.3, limit_on="clopper_pearson_upper"
    ),
    "mid-p": dataclasses.replace(BASE, midp=True, floor=None),
}


@pytest.mark.parametrize("name", TWINS)
def test_exact_chances_agree_with_the_simulated_gate(name: str) -> None:
    design, suites = TWINS[name], 8_000
    exact = stats.gate_operating_characteristics(design)
    simulated = stats.gate_monte_carlo(design, suites, rng=11)
    for field in FIELDS:
        p, share = getattr(exact, field), getattr(simulated, field)
        error = math.sqrt(max(p * (1 - p), 1e-6) / suites)
        assert abs(share - p) < 4.5 * error + 1e-9, (field, p, share)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 40),
    k=st.integers(1, 5),
    q=st.floats(0, 0.5),
    p_base=st.floats(0, 1),
    parts=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    floor=st.one_of(st.none(), st.floats(0, 1)),
    how=st.sampled_from(["majority", "any_hit"]),
    must_pass=st.floats(0, 1),
    sampling=st.sampled_from(["multinomial", "fixed"]),
)
def test_chances_add_up_to_one(
    n: int,
    k: int,
    q: float,
    p_base: float,
    parts: tuple[float, float],
    floor: float | None,
    how: Any,
    must_pass: float,
    sampling: Any,
) -> None:
    drop, gain = p_base * parts[0], (1 - p_base) * parts[1]
    design = GateDesign(n, k, q, p_base, drop, gain, floor=floor, how=how, sampling=sampling)
    if design.type_counts()[0] >= 0:
        m = math.floor(must_pass * design.type_counts()[0])
        odds = stats.gate_operating_characteristics(dataclasses.replace(design, n_must_pass=m))
        assert odds.p_fail + odds.p_inconclusive + odds.p_pass == pytest.approx(1.0, abs=1e-9)
        assert all(getattr(odds, field) >= -1e-12 for field in FIELDS)
        assert odds.p_fail_stat <= odds.p_floor_breach_joint + odds.p_mcnemar_joint + 1e-12


@pytest.mark.parametrize("how", ["majority", "any_hit"])
@pytest.mark.parametrize(("n", "drop", "gain"), [(60, 0.05, 0.0), (100, 0.08, 0.02), (210, 0.05, 0.01)])
def test_without_flakes_it_is_the_power_of_the_exact_test(how: Any, n: int, drop: float, gain: float) -> None:
    odds = stats.gate_operating_characteristics(GateDesign(n, 3, 0.0, 0.95, drop, gain, how=how))
    assert odds.p_fail == pytest.approx(stats.mcnemar_power(n, drop, gain), abs=1e-12)


def test_facts_of_an_unchanged_agent_at_one_percent_flakes() -> None:
    any_hit = stats.gate_operating_characteristics(GateDesign(210, 3, 0.01, p_base=1.0, how="any_hit"))
    majority = stats.gate_operating_characteristics(GateDesign(210, 3, 0.01, p_base=1.0))
    assert any_hit.p_fail == pytest.approx(0.0265, abs=5e-5)
    assert any_hit.p_inconclusive == 0.0
    assert majority.p_fail < 0.01


@pytest.mark.parametrize(
    ("n", "drop", "q", "inconclusive", "fail", "passed"),
    [
        (60, 0.0, 0.035, 0.407, 0.0, 0.593),
        (60, 0.05, 0.02, 0.062, 0.17, 0.77),
        (100, 0.05, 0.0, 0.0, 0.56, 0.44),
        (210, 0.05, 0.035, 0.47, 0.49, 0.04),
        (210, 0.0, 0.05, 0.957, 0.0, 0.043),
    ],
)
def test_table_of_the_whole_gate(
    n: int, drop: float, q: float, inconclusive: float, fail: float, passed: float
) -> None:
    odds = stats.gate_operating_characteristics(GateDesign(n, 3, q, 0.97, drop, floor=0.85))
    found = (odds.p_inconclusive, odds.p_fail, odds.p_pass)
    assert found == pytest.approx((inconclusive, fail, passed), abs=0.006)


def test_ten_must_pass_cases_by_any_hit_fail_a_sound_agent_in_a_quarter_of_runs() -> None:
    design = GateDesign(60, 3, 0.01, 0.97, n_must_pass=10, must_pass_how="any_hit")
    odds = stats.gate_operating_characteristics(design)
    assert odds.p_fail_must_pass == pytest.approx(0.26, abs=0.001)
    assert odds.p_fail_must_pass == pytest.approx(stats.must_pass_false_alarm(10, 3, 0.01))
    by_majority = stats.gate_operating_characteristics(dataclasses.replace(design, must_pass_how=None))
    assert by_majority.p_fail_must_pass == pytest.approx(stats.must_pass_false_alarm(10, 3, 0.01, "majority"))


def test_fewer_cases_than_clean_flips_cannot_reject() -> None:
    odds = stats.gate_operating_characteristics(GateDesign(4, 3, 0.0, 1.0, drop=1.0))
    assert odds.cannot_reject
    assert odds.p_fail == 0.0
    assert not stats.gate_operating_characteristics(GateDesign(5, 3, 0.0, 1.0, drop=1.0)).cannot_reject
    assert stats.gate_monte_carlo(GateDesign(4, 3, 0.0, 1.0), 10).cannot_reject


def test_a_fixed_suite_that_drops_exactly_its_share_has_no_luck() -> None:
    odds = stats.gate_operating_characteristics(GateDesign(100, 3, 0.0, 0.95, drop=0.05, sampling="fixed"))
    assert odds.p_fail == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"k": 2.5}, "k must hold counts"),
        ({"q": 1.2}, r"q must lie in \[0, 1\]"),
        ({"q": ((0.5, 0.1), (0.4, 0.2))}, "shares of q must add up to 1"),
        ({"p_base": -0.1}, "p_base must lie"),
        ({"drop": 0.95}, r"drop 0\.95 exceeds p_base 0\.9"),
        ({"gain": 0.2}, r"gain 0\.2 exceeds 1 - p_base"),
        ({"floor": 1.1}, "floor must lie"),
        ({"alpha": 0.0}, "alpha must lie strictly"),
        ({"n_must_pass": 41}, "n_must_pass 41 exceeds"),
        ({"how": "all"}, "how must be one of"),
        ({"limit_on": "wald"}, "limit_on must be one of"),
        ({"sampling": "random"}, "sampling must be one of"),
        ({"sampling": "fixed", "n_must_pass": 35}, "n_must_pass 35 exceeds"),
    ],
)
def test_a_design_that_cannot_be_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(BASE, **changes)
