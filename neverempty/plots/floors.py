"""What a floor does: its operating curve, and the saw-tooth of sizes at which it works."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neverempty import stats
from neverempty._errors import UsageError
from neverempty.planning import Plan, PlanSetting
from neverempty.planning.advice import share
from neverempty.plots import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALARM = 0.05


def floor_curves_data(
    plan: Plan | PlanSetting,
    *,
    floor: float | None = None,
    ns: Sequence[int] | None = None,
    rates: Iterable[float] | None = None,
) -> pd.DataFrame:
    """Compute the chance that a floor is breached, by the true pass rate, for several sizes.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed.
    floor : float, optional
        The floor; the plan's highest by default.
    ns : sequence of int, optional
        Numbers of cases; half, once and four times the plan's by default.
    rates : iterable of float, optional
        True pass rates as they are seen, flakes included.

    Returns
    -------
    pandas.DataFrame
        One row per size and rate: ``floor``, ``n``, ``rate``, ``p_breach``.

    Raises
    ------
    UsageError
        Where neither plan nor call has a floor.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> floor_curves_data(PlanSetting(60), floor=0.95, ns=[60], rates=[0.98]).round(3).values.tolist()
    [[0.95, 60.0, 0.98, 0.032]]
    """
    setting, level = style.setting_of(plan), _floor(plan, floor)
    if ns is None:
        n = setting.n or 60
        ns = sorted({max(n // 2, 1), n, 4 * n})
    lowest = max(0.0, min(2 * level - 1.0, setting.flips().candidate) - 0.02)
    at = np.linspace(lowest, 1.0, 161) if rates is None else np.asarray(list(rates), dtype=float)
    frames = [
        pd.DataFrame(
            {
                "floor": level,
                "n": n,
                "rate": at,
                "p_breach": stats.floor_breach_probability(n, level, at),
            }
        )
        for n in ns
    ]
    return pd.concat(frames, ignore_index=True)


def floor_curves(
    plan: Plan | PlanSetting,
    *,
    floor: float | None = None,
    ns: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a floor's operating curve; `floor_curves_data` returns the same data.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed.
    floor : float, optional
        The floor; the plan's highest by default.
    ns : sequence of int, optional
        Numbers of cases; half, once and four times the plan's by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        One line per size; upright lines at the floor and at the rates of an unchanged and a worse agent.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> floor_curves(PlanSetting(60), floor=0.95).get_ylabel()
    'chance to breach the 95 % floor'
    """
    setting, level = style.setting_of(plan), _floor(plan, floor)
    data = floor_curves_data(plan, floor=level, ns=ns)
    ax = style.fresh(ax)
    names = []
    for at, (n, rows) in enumerate(data.groupby("n", sort=False)):
        looks = style.line(at)
        ax.plot(rows["rate"], rows["p_breach"], **looks)
        names.append((f"{n} cases", looks, rows))
    ax.set_ylim(0, 1.02)
    ax.set_xlim(float(data["rate"].min()), 1.0)
    flips = setting.flips()
    close = flips.base - flips.candidate < 0.3 * (1.0 - ax.get_xlim()[0])
    ax.axvspan(ax.get_xlim()[0], level, color=style.FAINT, alpha=0.6, zorder=0, linewidth=0)
    style.mark(ax, flips.candidate, f"worse: {share(flips.candidate)}", ha="right" if close else "center")
    style.mark(ax, flips.base, f"unchanged: {share(flips.base)}", ha="left" if close else "center")
    style.shares(ax.yaxis)
    style.shares(ax.xaxis)
    style.tidy(ax)
    _legend(ax, [(name, looks) for name, looks, _ in names])
    ax.set_xlabel("true pass rate, as seen after flakes (shaded: below the floor)")
    ax.set_ylabel(f"chance to breach the {share(level)} floor")
    return ax


def floor_sizes_data(
    plan: Plan | PlanSetting, *, floor: float | None = None, ns: Iterable[int] | None = None
) -> pd.DataFrame:
    """Compute the chances of a breach by the number of cases, unchanged and worse.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed.
    floor : float, optional
        The floor; the plan's highest by default.
    ns : iterable of int, optional
        Numbers of cases; by default 5 to somewhat beyond the size from which on every size works.

    Returns
    -------
    pandas.DataFrame
        One row per size: ``floor``, ``n``, ``unchanged`` and ``worse`` (chances of a breach), ``good``
        (whether it is at most 5 % unchanged and at least the wanted power where worse).

    Raises
    ------
    UsageError
        Where neither plan nor call has a floor.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> setting = PlanSetting(60, drop=0.08, pass_rate=stats.Estimate(0.98))
    >>> floor_sizes_data(setting, floor=0.95, ns=[60, 79, 80])["good"].tolist()
    [True, False, True]
    """
    setting, level = style.setting_of(plan), _floor(plan, floor)
    flips = setting.flips()
    sizes = np.asarray(list(ns) if ns is not None else range(5, _most(setting, level) + 1))
    good = np.asarray(stats.floor_breach_probability(sizes, level, min(flips.base, 1.0)))
    bad = np.asarray(stats.floor_breach_probability(sizes, level, flips.candidate))
    return pd.DataFrame(
        {
            "floor": level,
            "n": sizes,
            "unchanged": good,
            "worse": bad,
            "good": (good <= _ALARM) & (bad >= setting.power),
        }
    )


def _most(setting: PlanSetting, level: float) -> int:
    flips = setting.flips()
    stable = None
    if flips.candidate < flips.base:
        found = stats.floor_plan(level, min(flips.base, 1.0), flips.candidate, power=setting.power)
        stable = found.n_stable or found.n_first
    return min(max(round(1.25 * (stable or 0)), 2 * (setting.n or 0), 80), 600)


def floor_sizes(
    plan: Plan | PlanSetting,
    *,
    floor: float | None = None,
    ns: Iterable[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the saw-tooth of sizes at which a floor works; `floor_sizes_data` returns the same data.

    Parameters
    ----------
    plan : Plan or PlanSetting
        What is assumed.
    floor : float, optional
        The floor; the plan's highest by default.
    ns : iterable of int, optional
        As for `floor_sizes_data`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        Chances of a breach, unchanged and worse; good sizes are shaded and named.

    Examples
    --------
    >>> from neverempty.planning import PlanSetting
    >>> floor_sizes(PlanSetting(60), floor=0.95, ns=range(5, 50)).get_xlabel()
    'cases to which the metric applies (shaded: good sizes)'
    """
    setting, level = style.setting_of(plan), _floor(plan, floor)
    data = floor_sizes_data(plan, floor=level, ns=ns)
    ax = style.fresh(ax)
    for stretch in _stretches(data.loc[data["good"], "n"].tolist()):
        ax.axvspan(stretch[0] - 0.5, stretch[-1] + 0.5, color=style.PALE, alpha=0.55, linewidth=0, zorder=0)
    for name, color in (("worse", style.RED), ("unchanged", style.DARK)):
        ax.plot(data["n"], data[name], color=color, linewidth=1.4)
    ax.set_ylim(0, 1.02)
    ax.set_xlim(int(data["n"].min()), int(data["n"].max()))
    for height in (_ALARM, setting.power):
        ax.axhline(height, color=style.GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    style.shares(ax.yaxis)
    style.tidy(ax)
    ends = data.iloc[-1]
    style.name_lines(
        ax,
        [
            style.Name(float(ends["worse"]), f"worse: {share(setting.flips().candidate)}", style.RED),
            style.Name(float(ends["unchanged"]), f"unchanged: {share(setting.flips().base)}", style.DARK),
        ],
    )
    ax.set_xlabel("cases to which the metric applies (shaded: good sizes)")
    ax.set_ylabel(f"chance to breach the {share(level)} floor")
    return ax


def _stretches(sizes: Sequence[int]) -> list[list[int]]:
    runs = groupby(enumerate(sizes), key=lambda pair: pair[1] - pair[0])
    return [[size for _, size in run] for _, run in runs]


def _floor(plan: Plan | PlanSetting, floor: float | None) -> float:
    found = floor if floor is not None else max(style.setting_of(plan).floors, default=None)
    if found is None:
        raise UsageError("the plan has no floor to draw; give one with floor=")
    return found


def _legend(ax: Axes, lines: Sequence[tuple[str, dict[str, object]]]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **looks) for name, looks in lines]  # type: ignore[arg-type]
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handlelength=3.2)
