"""Power of the exact test, by the number of cases and by the drop that is to be caught."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neverempty import stats
from neverempty.planning import Plan, PlanSetting
from neverempty.planning.advice import points, share
from neverempty.plots import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DROPS: Final = (0.03, 0.05, 0.08, 0.10)
_LEAST: Final = 120


def power_data(
    plan: Plan | PlanSetting, *, drops: Sequence[float] | None = None, ns: Iterable[int] | None = None
) -> pd.DataFrame:
    """Compute the power by the number of cases, for several drops.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed: churn, flakes, repeats, collapse, level.
    drops : sequence of float, optional
        Drops of the pass rate, as shares; 3, 5, 8 and 10 points and the plan's own by default.
    ns : iterable of int, optional
        Numbers of cases; by default 1 to twice what the plan has or needs, at most 1,000.

    Returns
    -------
    pandas.DataFrame
        One row per drop and size: ``drop`` (share), ``n`` (cases), ``power`` (chance).

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> power_data(PlanSetting(60), drops=[0.05], ns=[60, 134]).round(2).values.tolist()
    [[0.05, 60.0, 0.18], [0.05, 134.0, 0.8]]
    """
    setting = style.setting_of(plan)
    sizes = list(range(1, _most(plan) + 1) if ns is None else ns)
    chosen = sorted({*_DROPS, setting.drop}) if drops is None else list(drops)
    room = float(setting.pass_rate) - float(setting.churn)
    rows = [_row(setting, drop, sizes) for drop in chosen if drop <= room + 1e-12]
    return pd.concat(rows, ignore_index=True)


def _row(setting: PlanSetting, drop: float, sizes: list[int]) -> pd.DataFrame:
    flips = setting.flips(drop)
    worse = max(flips.regress - flips.improve, 0.0)
    power = stats.mcnemar_power_curve(np.asarray(sizes), [worse], flips.improve, setting.level)[0]
    return pd.DataFrame({"drop": drop, "n": sizes, "power": power})


def _most(plan: Plan | PlanSetting) -> int:
    n = style.setting_of(plan).n or 0
    needed = (plan.smallest_n or 0) if isinstance(plan, Plan) else 0
    return min(max(2 * n, round(1.3 * needed), _LEAST), 1000)


def power(
    plan: Plan | PlanSetting,
    *,
    drops: Sequence[float] | None = None,
    ns: Iterable[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the chance to catch a drop, by the number of cases; `power_data` returns the same data.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed.
    drops : sequence of float, optional
        As for `power_data`.
    ns : iterable of int, optional
        As for `power_data`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        One line per drop, named at its end; the wanted power as a level line, the plan's size as an upright
        one.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> power(PlanSetting(60), ns=range(1, 100)).get_xlabel()
    'cases to which the metric applies'
    """
    setting, data = style.setting_of(plan), power_data(plan, drops=drops, ns=ns)
    ax = style.fresh(ax)
    names = []
    for at, (drop, rows) in enumerate(data.groupby("drop", sort=False)):
        own = abs(float(str(drop)) - setting.drop) < 1e-12
        looks = style.line(at) | ({"linewidth": 3.0} if own else {})
        ax.plot(rows["n"], rows["power"], **looks)
        name = f"{points(float(str(drop)))} drop"
        names.append(style.Name(float(rows["power"].iloc[-1]), name, looks["color"]))
    ax.set_ylim(0, 1.02)
    ax.set_xlim(0, int(data["n"].max()))
    ax.axhline(setting.power, color=style.GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    if setting.n is not None and setting.n <= int(data["n"].max()):
        found = float(_row(setting, setting.drop, [setting.n])["power"].iloc[0])
        style.mark(ax, setting.n, f"{setting.n} cases: {share(found)}")
        ax.plot([setting.n], [found], marker="o", markersize=7, color=style.DARK, zorder=5)
    style.shares(ax.yaxis)
    style.tidy(ax)
    style.name_lines(ax, names)
    ax.set_xlabel("cases to which the metric applies")
    ax.set_ylabel("chance to catch the drop")
    return ax
