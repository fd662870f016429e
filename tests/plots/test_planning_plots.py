"""Plots of a plan show the numbers of their twins, and those are the statistics'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import neverempty as ne
from neverempty import UsageError, plots, stats

PLAN = {"flake": 0.01, "churn": 0.01, "floor": 0.9}
DRAWN: tuple[Callable[..., Any], ...] = (
    plots.power,
    plots.floor_curves,
    plots.floor_sizes,
    plots.gate_curves,
)


@pytest.mark.parametrize("draw", DRAWN)
def test_every_plot_draws_where_it_is_told_and_returns_the_axes(draw: Callable[..., Any]) -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert draw(ne.plan(60, **PLAN), ax=ax) is ax


@pytest.mark.parametrize("draw", DRAWN)
def test_every_plot_without_axes_gets_a_figure_of_its_own(draw: Callable[..., Any]) -> None:
    plan = ne.plan(60, **PLAN)
    assert draw(plan).figure is not draw(plan).figure


@pytest.mark.parametrize("draw", DRAWN)
def test_every_axis_is_labelled_and_all_lines_differ_without_colour(draw: Callable[..., Any]) -> None:
    ax = draw(ne.plan(60, **PLAN))
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    looks = {(str(line._dash_pattern), line.get_linewidth(), line.get_color()) for line in curves}
    assert len(looks) == len(curves)
    ax.figure.canvas.draw()


def test_power_is_that_of_the_exact_test() -> None:
    data = plots.power_data(ne.plan(60, churn=0.01), drops=[0.05], ns=[60, 100, 210])
    expected = [stats.mcnemar_power(n, 0.06, 0.01) for n in (60, 100, 210)]
    assert data["power"].tolist() == pytest.approx(expected)


def test_power_by_default_reaches_beyond_what_is_needed_and_shows_the_plans_drop() -> None:
    plan = ne.plan(60, drop=0.07)
    data = plots.power_data(plan)
    assert 0.07 in data["drop"].tolist()
    assert data["n"].max() > (plan.smallest_n or 0)


def test_the_drawn_line_is_the_data() -> None:
    plan = ne.plan(60)
    data = plots.power_data(plan, drops=[0.05], ns=range(1, 90))
    line = plots.power(plan, drops=[0.05], ns=range(1, 90)).lines[0]
    assert np.allclose(line.get_ydata(), data["power"])


def test_the_operating_curve_of_a_floor_falls_with_the_pass_rate() -> None:
    data = plots.floor_curves_data(ne.plan(60, **PLAN))
    assert sorted(set(data["n"])) == [30, 60, 240]
    for _, rows in data.groupby("n"):
        assert rows["p_breach"].is_monotonic_decreasing


def test_good_sizes_of_a_floor_are_the_plans() -> None:
    plan = ne.plan(60, drop=0.08, pass_rate=0.98, floor=0.95)
    data = plots.floor_sizes_data(plan, ns=range(5, 101))
    sizes = plan.floors[0].sizes
    assert sizes is not None
    assert set(data.loc[data["good"] & (data["n"] <= 80), "n"]) == set(sizes.good_sizes)


def test_the_gates_curves_add_up_and_contain_the_plan() -> None:
    plan = ne.plan(60, **PLAN)
    data = plots.gate_curves_data(plan, values=[0.0, 0.05])
    assert (data["pass"] + data["fail"] + data["inconclusive"]).tolist() == pytest.approx([1.0, 1.0])
    assert data["fail"].tolist() == pytest.approx([plan.gates[0].odds.p_fail, plan.gates[1].odds.p_fail])


def test_over_the_flake_rate_nothing_has_changed() -> None:
    plan = ne.plan(60, flake=0.035, collapse="majority")
    data = plots.gate_curves_data(plan, over="flake", values=[0.035])
    assert data["inconclusive"].iloc[0] == pytest.approx(0.407, abs=5e-4)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(UsageError, match="no floor to draw"):
        plots.floor_curves(ne.plan(60))
    with pytest.raises(UsageError, match="no number of cases"):
        plots.gate_curves(ne.planning.PlanSetting(None))
    with pytest.raises(UsageError, match="neither 'drop' nor 'flake'"):
        plots.gate_curves(ne.plan(60), over="n")  # type: ignore[arg-type]
