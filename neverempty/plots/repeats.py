"""Failing repeats per case: whether all cases flake a little, or a few are coin flips."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neverempty import stats
from neverempty._errors import UsageError
from neverempty.planning.advice import share
from neverempty.planning.evidence import repeats_by_case
from neverempty.plots import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def instability_data(
    outcomes: pd.DataFrame, metric: str = "misreport_as_empty", arm: str | None = None
) -> pd.DataFrame:
    """Count cases by their failing repeats.

    Parameters
    ----------
    outcomes : DataFrame
        What `neverempty.collapse` returned.
    metric : str, default "misreport_as_empty"
        The metric.
    arm : str, optional
        The arm; needed where there are several.

    Returns
    -------
    pandas.DataFrame
        One row per number of failing repeats, of the cases with the most measured ones: ``failing``,
        ``repeats``, ``cases``, ``expected`` (cases if every call flaked alike, at the measured rate).

    Raises
    ------
    UsageError
        Where the metric was not measured, or the arm is not named.
    """
    rows = list(repeats_by_case(outcomes, metric, arm).values())
    if not rows:
        raise UsageError(f"{metric!r} was measured in no case, so there is nothing to draw")
    k = max(len(row) for row in rows)
    full = [row for row in rows if len(row) == k]
    failing = [k - sum(row) for row in full]
    counts = np.bincount(failing, minlength=k + 1)
    return pd.DataFrame(
        {"failing": range(k + 1), "repeats": k, "cases": counts, "expected": _expected(full, k)}
    )


def _expected(rows: list[list[int]], k: int) -> list[float]:
    """Cases by failing repeats if every call departed alike from what its case is meant to do."""
    flake = stats.call_flake_rate(rows).value
    if flake is None:
        return [math.nan] * (k + 1)
    sound = sum(2 * sum(row) > k for row in rows)
    chance = [math.comb(k, h) * flake**h * (1 - flake) ** (k - h) for h in range(k + 1)]
    return [sound * chance[h] + (len(rows) - sound) * chance[k - h] for h in range(k + 1)]


def instability(
    outcomes: pd.DataFrame,
    metric: str = "misreport_as_empty",
    arm: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how many repeats of each case failed; `instability_data` returns the same data.

    Parameters
    ----------
    outcomes : DataFrame
        What `neverempty.collapse` returned.
    metric : str, default "misreport_as_empty"
        The metric.
    arm : str, optional
        The arm; needed where there are several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        A bar per number of failing repeats, those of unstable cases hatched; circles show what a common flake
        rate would give. Bars far above their circles are cases that are coin flips.
    """
    data = instability_data(outcomes, metric, arm)
    k, total = int(data["repeats"].iloc[0]), int(data["cases"].sum())
    ax = style.fresh(ax, 5.6, 3.4)
    for failing, cases in zip(data["failing"].tolist(), data["cases"].tolist(), strict=True):
        unstable = 0 < failing < k
        color, hatch = (style.RED, "////") if unstable else (style.BLUE, "")
        ax.bar(failing, cases, width=0.62, facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.0)
        ax.annotate(f"{cases}", (failing, cases), xytext=(0, 3), textcoords="offset points", ha="center")
    ax.plot(
        data["failing"] + 0.4,
        data["expected"],
        linestyle="none",
        marker="o",
        markerfacecolor="white",
        markeredgecolor=style.DARK,
        markersize=7,
        label="if every call flaked alike",
    )
    unstable_cases = int(data["cases"].iloc[1:-1].sum())
    ax.set_xticks(range(k + 1), [f"{h} of {k}" for h in range(k + 1)])
    ax.set_xlabel(f"failing repeats of a case (hatched: unstable, {share(unstable_cases / total)} of cases)")
    ax.set_ylabel(f"cases (of {total})")
    ax.set_ylim(0, max(float(data["cases"].max()), float(data["expected"].max(skipna=True))) * 1.15)
    style.tidy(ax)
    ax.legend(frameon=False, loc="best")
    return ax
