"""What a plan answers, against figures of the field and of the statistics below it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import neverempty as ne
from neverempty import UsageError
from neverempty.cases import Case, Cases
from neverempty.planning import Plan


def test_sixty_cases_catch_five_points_eighteen_percent_of_the_time() -> None:
    plan = ne.plan(60)
    assert plan.power == pytest.approx(0.180, abs=5e-4)
    assert plan.smallest_n == 134
    assert plan.advice == "With 60 cases you catch a 5-point drop 18 % of the time; 134 cases give 80 %."


# The smallest sizes for 80 % power of the exact test at a drop of 5 and 10 points, computed in R.
@pytest.mark.parametrize(
    ("drop", "churn", "n"),
    [(0.05, 0.0, 134), (0.05, 0.01, 189), (0.05, 0.02, 240), (0.10, 0.0, 66), (0.10, 0.02, 94)],
)
def test_a_wish_gives_the_smallest_size(drop: float, churn: float, n: int) -> None:
    plan = ne.plan(drop=drop, churn=churn)
    assert (plan.smallest_n, plan.setting.n) == (n, n)
    assert plan.power is not None
    assert plan.power >= 0.8


def test_the_detectable_drop_is_the_one_that_is_caught_with_the_wanted_power() -> None:
    found = ne.plan(100, churn=0.01).minimum_detectable_drop
    assert found == pytest.approx(0.083, abs=5e-4)
    assert ne.plan(100, churn=0.01, drop=found).power == pytest.approx(0.8, abs=1e-6)


def test_a_run_that_can_never_fail_is_told_before_it_is_run() -> None:
    plan = ne.plan(4)
    assert plan.cannot_reject
    assert "no run can ever fail by the test, which needs 5 clean flips" in plan.advice
    assert not ne.plan(5).cannot_reject
    assert ne.plan(5, metrics=2).cannot_reject  # Holm over two metrics needs six


def test_the_limit_of_two_percent_on_wilsons_bound_needs_189_cases() -> None:
    plan = ne.plan(188, limit=0.02)
    assert plan.limit is not None
    assert plan.limit.cases[0] == (0, 189)
    assert any("at least 189" in text and "188 can never meet it" in text for text in plan.cautions)
    assert not any("never meet" in text for text in ne.plan(189, limit=0.02).cautions)


def test_must_pass_cases_have_their_price() -> None:
    prices = {(one.collapse, one.cases): one for one in ne.plan(60, flake=0.01, must_pass=7).must_pass}
    assert prices["any_hit", 10].alarm == pytest.approx(0.26, abs=0.005)
    assert prices["any_hit", 20].alarm == pytest.approx(0.45, abs=0.005)
    assert prices["any_hit", 7].alarm > 0
    assert prices["majority", 20].alarm < 0.023
    assert prices["any_hit", 10].confirmed < 0.01


# Table 6.3 of the specification: three repeats, floor 0.85, pass rate 0.97, a majority metric.
@pytest.mark.parametrize(
    ("n", "flake", "inconclusive", "fail"),
    [(60, 0.0, 0.0, 0.18), (60, 0.035, 0.41, 0.11), (210, 0.02, 0.007, 0.96), (100, 0.05, 0.86, 0.06)],
)
def test_the_whole_gate_has_the_known_chances(n: int, flake: float, inconclusive: float, fail: float) -> None:
    plan = ne.plan(n, flake=flake, floor=0.85, collapse="majority")
    worse = next(one.odds for one in plan.gates if (one.collapse, one.scenario) == ("majority", "worse"))
    assert worse.p_inconclusive == pytest.approx(inconclusive, abs=0.006)
    assert worse.p_fail == pytest.approx(fail, abs=0.006)


def test_both_collapses_and_both_scenarios_are_there_and_each_adds_up() -> None:
    plan = ne.plan(60, flake=0.02, churn=0.01, floor=0.9, limit=0.3, must_pass=3)
    assert {(one.collapse, one.scenario) for one in plan.gates} == {
        (how, scenario) for how in ("any_hit", "majority") for scenario in ("unchanged", "worse")
    }
    for one in plan.gates:
        odds = one.odds
        assert odds.p_pass + odds.p_fail + odds.p_inconclusive == pytest.approx(1.0, abs=1e-9)


def test_good_sizes_of_a_floor_have_gaps() -> None:
    floor = ne.plan(60, drop=0.08, pass_rate=0.98, floor=0.95).floors[0]
    assert floor.sizes is not None
    assert (floor.sizes.n_first, floor.sizes.n_stable) == (60, 80)
    assert "60–69, 80 and more" in str(ne.plan(60, drop=0.08, pass_rate=0.98, floor=0.95))


def test_the_run_length_is_that_of_an_unchanged_agent() -> None:
    plan = ne.plan(60, flake=0.01, must_pass=10)
    assert plan.run_length is not None
    unchanged = plan.gates[0].odds
    assert plan.run_length.p_alarm == pytest.approx(1 - unchanged.p_pass)
    assert plan.run_length.expected_runs == pytest.approx(1 / (1 - unchanged.p_pass))
    still = ne.plan(60).run_length
    assert still is not None
    assert still.expected_runs is None


def test_unknown_flakes_and_churn_are_called_the_best_case() -> None:
    assert any("best case" in text for text in ne.plan(60).cautions)
    assert not any("best case" in text for text in ne.plan(60, flake=0.0, churn=0.0).cautions)


def test_a_suite_is_counted_where_the_metric_applies() -> None:
    fault = {"tool": "search", "kind": "timeout"}
    failing = [Case(id=f"f{at}", input={"payload": 1}, faults=[fault], must_pass=at < 2) for at in range(7)]
    controls = [Case(id=f"c{at}", input={"payload": 1}) for at in range(11)]
    plan = ne.plan(Cases([*failing, *controls]))
    assert (plan.setting.n, plan.setting.must_pass) == (7, 2)
    assert ne.plan(Cases([*failing, *controls]), metric="false_alarm").setting.n == 11


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ne.plan(0), "0 cases cannot be planned"),
        (lambda: ne.plan(True), "neither a suite of cases nor their number"),
        (lambda: ne.plan("60"), "neither a suite"),  # type: ignore[arg-type]
        (lambda: ne.plan(Cases([Case(id="a", input={"payload": 1})])), "none of the 1 cases"),
        (lambda: ne.plan(Cases([Case(id="a", input={"payload": 1})]), metric="facs"), "facts"),
        (lambda: ne.plan(60, metric="latency_ms"), "no rate to plan for"),
        (lambda: ne.plan(60, report=[]), "empty list"),
    ],
)
def test_what_cannot_be_planned_is_refused(call: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("name", ["flake", "churn", "pass_rate", "power", "alpha", "floor", "limit"])
@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan")])
def test_no_probability_outside_0_to_1_is_taken(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        ne.plan(60, **{name: value})  # type: ignore[arg-type]


def _everything() -> Plan:
    return ne.plan(60, flake=0.01, churn=0.01, floor=[0.8, 0.9], limit=0.02, must_pass=5)


def test_the_frame_holds_every_topic_and_no_gaps() -> None:
    frame = _everything().to_frame()
    assert set(frame["topic"]) == {"setting", "test", "floor", "gate", "must_pass", "limit", "run_length"}
    assert frame["value"].dtype == "float64"
    assert not frame.duplicated(["topic", "quantity", "collapse", "case"]).any()
    power = frame.loc[frame["quantity"] == "power"].iloc[1]
    assert math.isclose(power["value"], _everything().power or 0.0)


def test_text_and_html_say_the_same_numbers() -> None:
    plan = _everything()
    text, page = str(plan), plan._repr_html_()
    for said in (plan.advice, *plan.cautions):
        assert said in text
    for number in ("189", "any hit, nothing changed", "26.0 %"):
        assert number in text
        assert number in page
    assert "<script" not in page


def test_the_same_question_gives_the_same_text() -> None:
    assert str(_everything()) == str(_everything())


def test_a_drop_that_no_size_catches_is_said() -> None:
    plan = ne.plan(drop=0.001, churn=0.02)
    assert plan.smallest_n is None
    assert plan.advice.startswith("No number of cases up to 20,000 catches")
    assert plan.gates == ()


def test_above_two_thousand_cases_the_whole_gate_is_left_out_and_that_is_said() -> None:
    plan = ne.plan(3000, flake=0.01)
    assert plan.gates == ()
    assert any("up to 2,000 cases" in text for text in plan.cautions)


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"collapse": ""}, {"floor": "0.9"}])
def test_a_wrong_wish_is_refused_and_not_replaced_by_the_default(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        ne.plan(60, **wrong)
