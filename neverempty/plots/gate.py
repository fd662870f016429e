"""The whole gate's chances, by the true drop or by the flake rate of a call."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pandas as pd

from neverempty import stats
from neverempty._errors import UsageError
from neverempty.planning import Plan, PlanSetting
from neverempty.planning.advice import collapse_name, points, share
from neverempty.planning.setting import Collapse, given
from neverempty.plots import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Over = Literal["drop", "flake"]
_VERDICTS: Final = ("pass", "fail", "inconclusive")
_POINTS: Final = 25


def gate_curves_data(
    plan: Plan | PlanSetting,
    *,
    over: Over = "drop",
    values: Iterable[float] | None = None,
    collapse: Collapse | None = None,
) -> pd.DataFrame:
    """Compute the chances of the gate's verdicts, by the true drop or by the flake rate.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed; it needs a size.
    over : {"drop", "flake"}
        What is varied. Over the flake rate, nothing has changed: fail and inconclusive are false alarms.
    values : iterable of float, optional
        Its values, as shares; by default from 0 to three times the plan's drop, or to 6 % of flakes.
    collapse : {"any_hit", "majority"}, optional
        The plan's by default.

    Returns
    -------
    pandas.DataFrame
        One row per value: ``drop`` or ``flake``, ``pass``, ``fail``, ``inconclusive``, ``collapse``.

    Raises
    ------
    UsageError
        Where the plan has no size.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> data = gate_curves_data(PlanSetting(60), values=[0, 0.05])
    >>> data[["drop", "pass", "fail"]].round(2).values.tolist()
    [[0.0, 1.0, 0.0], [0.05, 0.82, 0.18]]
    """
    setting = style.setting_of(plan)
    if setting.n is None:
        raise UsageError("the plan has no number of cases, and the gate's chances depend on it; give one")
    if over not in ("drop", "flake"):
        raise UsageError(f"over={over!r} is neither 'drop' nor 'flake'")
    how = collapse or setting.collapse
    rows = []
    for value in _values(setting, over) if values is None else values:
        varied = dataclasses.replace(setting, flake=given(value)) if over == "flake" else setting
        odds = stats.gate_operating_characteristics(
            varied.design(setting.n, drop=float(value) if over == "drop" else 0.0, collapse=how)
        )
        chances = (odds.p_pass, odds.p_fail, odds.p_inconclusive)
        rows.append({over: float(value), **dict(zip(_VERDICTS, chances, strict=True)), "collapse": how})
    return pd.DataFrame(rows)


def _values(setting: PlanSetting, over: Over) -> list[float]:
    room = float(setting.pass_rate) - float(setting.churn)
    top = min(3 * setting.drop, room) if over == "drop" else max(0.06, 1.5 * float(setting.flake))
    return [float(value) for value in np.linspace(0.0, min(top, 0.5) if over == "flake" else top, _POINTS)]


def gate_curves(
    plan: Plan | PlanSetting,
    *,
    over: Over = "drop",
    collapse: Collapse | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the whole gate's operating curves; `gate_curves_data` returns the same data.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed; it needs a size.
    over : {"drop", "flake"}
        What is varied.
    collapse : {"any_hit", "majority"}, optional
        The plan's by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        Chances to pass, to fail and to stay inconclusive; the plan's drop or flake rate is an upright line.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> gate_curves(PlanSetting(60)).get_ylabel()
    "chance of the gate's verdict"
    """
    setting = style.setting_of(plan)
    data = gate_curves_data(plan, over=over, collapse=collapse)
    ax = style.fresh(ax)
    names = []
    for at, verdict in enumerate(_VERDICTS):
        looks = style.line(at)
        ax.plot(data[over], data[verdict], **looks)
        names.append(style.Name(float(data[verdict].iloc[-1]), verdict, looks["color"]))
    ax.set_ylim(-0.01, 1.02)
    ax.set_xlim(0, float(data[over].max()))
    if over == "drop":
        style.mark(ax, setting.drop, f"{points(setting.drop)} drop")
        ax.set_xlabel(f"true drop of the pass rate ({setting.n} cases, {_how(data, setting)})")
    else:
        if float(setting.flake) > 0:
            style.mark(ax, float(setting.flake), f"flakes: {share(float(setting.flake))}")
        ax.set_xlabel(f"flake rate of a call, nothing changed ({setting.n} cases, {_how(data, setting)})")
    style.shares(ax.xaxis)
    style.shares(ax.yaxis)
    style.tidy(ax)
    style.name_lines(ax, names)
    ax.set_ylabel("chance of the gate's verdict")
    return ax


def _how(data: pd.DataFrame, setting: PlanSetting) -> str:
    return f"{collapse_name(str(data['collapse'].iloc[0]))} of {setting.repeats}"
