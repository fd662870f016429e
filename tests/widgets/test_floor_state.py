"""What the planning panel knows, without a widget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neverempty as ne
from neverempty import stats
from neverempty.planning import PlanSetting
from neverempty.planning.setting import given as known
from neverempty.widgets._floor_state import RANGES, FloorState


def test_it_says_the_sentence_of_the_plan() -> None:
    state = FloorState()
    assert state.advice == ne.plan(60).advice
    state.change("flake", 0.01)
    state.change("churn", 0.02)
    assert state.advice == ne.plan(60, flake=0.01, churn=0.02).advice


def test_curves_agree_with_the_single_numbers() -> None:
    state = FloorState(PlanSetting(77, flake=known(0.01), floors=(0.9,)))
    power = state.power_curve()
    assert power.y[power.x.tolist().index(77)] == pytest.approx(state.power())
    floor = state.floor_curve()
    at = int(np.searchsorted(floor.x, 0.9))
    assert floor.y[at] == pytest.approx(stats.floor_breach_probability(77, 0.9, float(floor.x[at])))
    (base, calm), (worse, alarm) = state.floor_marks()
    assert base > worse
    assert calm < alarm


def test_must_pass_cases_never_exceed_the_cases() -> None:
    state = FloorState()
    state.change("must_pass", 50)
    state.change("n", 20)
    assert state.setting.must_pass == 20
    state.change("must_pass", 50)
    assert state.setting.must_pass == 20


def test_the_pass_rate_leaves_room_for_churn_and_comes_back() -> None:
    state = FloorState()
    state.change("churn", 0.1)
    assert float(state.setting.pass_rate) == 0.9
    state.change("churn", 0.0)
    assert float(state.setting.pass_rate) == 0.97


def test_it_starts_from_a_plan_and_keeps_what_has_no_slider() -> None:
    state = FloorState(ne.plan(150, flake=0.02, alpha=0.01, metrics=2, pass_rate=0.9).setting)
    assert (state.n, state.value("flake"), state.setting.level) == (150, 0.02, 0.005)
    state.change("n", 200)
    assert state.setting.alpha == 0.01


def test_the_gates_are_those_of_the_plan() -> None:
    state = FloorState()
    state.change("flake", 0.02)
    assert state.gates() == ne.plan(60, flake=0.02, floor=0.9).gates
    assert len(state.gate_table().rows) == 4


@given(data=st.data())
@settings(max_examples=40)
def test_every_place_of_the_sliders_can_be_drawn(data: st.DataObject) -> None:
    state = FloorState()
    for name in data.draw(st.permutations(list(RANGES))):
        span = RANGES[name]
        steps = data.draw(st.integers(0, round((span.most - span.least) / span.step)), label=name)
        value = span.least + steps * span.step
        state.change(name, int(value) if span.step == 1 else round(value, 6))
    for curve in (state.power_curve(), state.floor_curve()):
        assert np.isfinite(curve.y).all()
        assert ((curve.y >= 0) & (curve.y <= 1)).all()
    assert state.advice.endswith(".")


def test_what_cannot_be_is_refused_and_changes_nothing() -> None:
    state = FloorState()
    before = state.setting
    with pytest.raises(ValueError, match="no share"):
        state.change("drop", 1.5)
    assert state.setting is before
