"""Flipped cases between two runs: regressions against improvements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from neverempty import stats
from neverempty._errors import UsageError
from neverempty.plots import _style as style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_KEYS: Final = ["suite", "case_id", "arm", "metric"]
_SAYS: Final = {"pass": 1, "fail": 0}


def paired_flips_data(
    base: pd.DataFrame, candidate: pd.DataFrame, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """Count the cases that flipped between two runs.

    Parameters
    ----------
    base, candidate : DataFrame
        Outcomes of the two runs, as `neverempty.collapse` returned them.
    names : sequence of str, optional
        Only these metrics, in this order.

    Returns
    -------
    pandas.DataFrame
        One row per metric and arm with any pair: ``metric``, ``arm``, ``pairs`` (measured in both, with as
        many repeats), ``regressions``, ``improvements`` (cases), ``p`` (one-sided exact McNemar test).

    Raises
    ------
    UsageError
        Where the runs share no measured case.
    """
    sides = [
        frame[[*_KEYS, "verdict", "n_measured"]].astype(dict.fromkeys(_KEYS, "str"))
        for frame in (base, candidate)
    ]
    pairs = sides[0].merge(sides[1], on=_KEYS, suffixes=("_base", "_candidate"), validate="one_to_one")
    before, after = (pairs[f"verdict_{side}"].astype("str").map(_SAYS) for side in ("base", "candidate"))
    usable = before.notna() & after.notna() & (pairs["n_measured_base"] == pairs["n_measured_candidate"])
    pairs = pairs.assign(regressed=(before > after) & usable, improved=(before < after) & usable)[usable]
    rows = [
        _row(str(metric), str(arm), group)
        for (metric, arm), group in pairs.groupby(["metric", "arm"], sort=False)
        if names is None or metric in names
    ]
    if not rows:
        raise UsageError("the two runs share no measured case of these metrics, so there is nothing to draw")
    if names is not None:
        rows.sort(key=lambda row: list(names).index(row["metric"]))
    return pd.DataFrame(rows)


def _row(metric: str, arm: str, group: pd.DataFrame) -> dict[str, Any]:
    b, c = int(group["regressed"].sum()), int(group["improved"].sum())
    test = stats.mcnemar_exact(b, c)
    return {
        "metric": metric,
        "arm": arm,
        "pairs": len(group),
        "regressions": b,
        "improvements": c,
        "p": float(test) if isinstance(test, stats.Estimate) else float("nan"),
    }


def paired_flips(
    base: pd.DataFrame, candidate: pd.DataFrame, names: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw regressions against improvements between two runs; `paired_flips_data` returns the same data.

    Parameters
    ----------
    base, candidate : DataFrame
        Outcomes of the two runs.
    names : sequence of str, optional
        Only these metrics, in this order.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        Per metric and arm, improved cases to the left and regressed ones to the right of the middle, with the
        number of pairs and the p-value of the exact test.
    """
    data = paired_flips_data(base, candidate, names)
    ax = style.fresh(ax, 7.0, 1.1 + 0.42 * len(data))
    several = len(set(data["arm"])) > 1
    most = max(int(data[["regressions", "improvements"]].to_numpy().max()), 5)
    for at, row in enumerate(data.to_dict("records")):
        ax.barh(
            -at,
            row["regressions"],
            height=0.62,
            color=style.RED,
            hatch="////",
            edgecolor="white",
            linewidth=0,
        )
        ax.barh(-at, -row["improvements"], height=0.62, color=style.BLUE)
        for width, ha, pad in ((row["regressions"], "left", 4), (-row["improvements"], "right", -4)):
            ax.annotate(
                f"{abs(width)}", (width, -at), xytext=(pad, 0), textcoords="offset points", ha=ha, va="center"
            )
        p = "p < 0.001" if row["p"] < 0.001 else f"p = {row['p']:.3f}"
        text = f"{p}, {row['pairs']} pairs"
        ax.text(1.015, -at, text, transform=ax.get_yaxis_transform(), va="center", ha="left")
    labels = [
        f"{row['metric']}, {row['arm']}" if several else row["metric"] for row in data.to_dict("records")
    ]
    ax.set_yticks([-at for at in range(len(data))], labels, parse_math=False)
    ax.axvline(0, color=style.DARK, linewidth=0.9)
    ax.set_xlim(-1.2 * most, 1.2 * most)
    ax.set_ylim(-len(data) + 0.4, 0.6)
    ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    style.tidy(ax, "x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("\u2190 improved        cases that flipped        got worse (hatched) \u2192")
    return ax
