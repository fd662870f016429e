"""Metrics with their intervals, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from neverempty._errors import UsageError
from neverempty.frames import SCHEMAS
from neverempty.plots import _style as style
from neverempty.report import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_NOT_GROUPS: Final = frozenset(column.name for column in SCHEMAS["metrics"].columns)
_NUMBERS: Final = ("value", "lo", "hi", "bound_lo", "bound_hi", "n_measured", "n_no_signal", "hits")


def forest_data(metrics: pd.DataFrame, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Pick what a forest plot shows out of a metrics frame.

    Parameters
    ----------
    metrics : DataFrame
        What `neverempty.summarize` returned; metrics that are no rates are left out.
    names : sequence of str, optional
        Only these metrics, in this order.

    Returns
    -------
    pandas.DataFrame
        One row per metric, arm and group that applies to any case: ``metric``, ``group``, ``value``, ``lo``,
        ``hi``, ``bound_lo``, ``bound_hi`` (shares, NaN where not measured), ``n_measured``, ``n_no_signal``,
        ``hits``, ``text`` (the rate as far as its number of cases earns it).

    Raises
    ------
    UsageError
        Where nothing is left to show.
    """
    kept = metrics[(metrics["n_applicable"] > 0) & ~((metrics["n_measured"] > 0) & metrics["hits"].isna())]
    if names is not None:
        kept = pd.concat([kept[kept["metric"].astype(str) == name] for name in names])
    if kept.empty:
        raise UsageError(
            "plots.forest: no rate of the frame applies to any case, so there is nothing to draw"
        )
    groups = [name for name in kept.columns if name not in _NOT_GROUPS]
    if "arm" in kept.columns and len(set(kept["arm"])) > 1:
        groups = ["arm", *(name for name in groups if name != "arm")]
    data = kept[list(_NUMBERS)].astype("float64").reset_index(drop=True)
    data.insert(0, "metric", kept["metric"].astype("str").to_numpy())
    labels = [", ".join(str(row[name]) for name in groups) for row in kept.to_dict("records")]
    data.insert(1, "group", pd.Series(labels, dtype="str"))
    data["text"] = [_text(row) for row in data.to_dict("records")]
    return data


def _text(row: dict[Any, Any]) -> str:
    n = int(row["n_measured"])
    shown = numbers.rate(row["value"], None if pd.isna(row["hits"]) else int(row["hits"]), n)
    return shown if n < numbers.FEW else f"{shown}, n = {n}"


def forest(metrics: pd.DataFrame, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw metrics with their intervals; `forest_data` returns the same data.

    Parameters
    ----------
    metrics : DataFrame
        What `neverempty.summarize` returned.
    names : sequence of str, optional
        Only these metrics, in this order.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        A line per metric and group: the 95 % interval with a filled mark, an open one below 50 cases, none
        below 10. The pale bar behind spans what the rate would be had the unmeasured cases all gone one way.
    """
    data = forest_data(metrics, names)
    ax = style.fresh(ax, 7.2, 1.0 + 0.36 * (len(data) + data["metric"].nunique() * 0.9))
    place, ticks = 0.0, []
    for metric, rows in data.groupby("metric", sort=False):
        titled = bool((rows["group"] != "").any())
        if titled:
            ax.text(0, -place, str(metric), fontweight="bold", va="center", parse_math=False)
            place += 0.9
        for row in rows.to_dict("records"):
            _draw(ax, -place, row)
            ticks.append((-place, row["group"] if titled else str(metric)))
            place += 1.0
    ax.set_yticks([at for at, _ in ticks], [name for _, name in ticks], parse_math=False)
    ax.set_ylim(-place + 0.4, 0.6)
    ax.set_xlim(-0.02, 1.02)
    style.shares(ax.xaxis)
    style.tidy(ax, "x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(_key(data))
    return ax


def _key(data: pd.DataFrame) -> str:
    words = ["rate over cases, 95 % interval"]
    if data["n_measured"].between(numbers.FEW, numbers.ENOUGH - 1).any():
        words.append(f"open: fewer than {numbers.ENOUGH} cases")
    if (data["n_no_signal"] > 0).any():
        words.append("pale: bounds over unmeasured cases")
    return "; ".join(words)


def _draw(ax: Axes, place: float, row: dict[Any, Any]) -> None:
    n = int(row["n_measured"])
    if n and row["n_no_signal"] and not pd.isna(row["bound_lo"]):
        ax.plot(
            [row["bound_lo"], row["bound_hi"]],
            [place, place],
            color=style.PALE,
            linewidth=9,
            solid_capstyle="butt",
            zorder=1,
        )
    if n >= numbers.FEW and not pd.isna(row["lo"]):
        ax.plot([row["lo"], row["hi"]], [place, place], color=style.DARK, linewidth=1.8, zorder=2)
        face = style.DARK if n >= numbers.ENOUGH else "white"
        ax.plot(
            [row["value"]],
            [place],
            marker="o",
            markersize=7,
            markerfacecolor=face,
            markeredgecolor=style.DARK,
            zorder=3,
            clip_on=False,
        )
    ax.text(1.015, place, row["text"], transform=ax.get_yaxis_transform(), va="center", ha="left")
