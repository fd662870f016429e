"""Confidence: risk against coverage, and stated confidence against accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd

from neverempty import stats
from neverempty._errors import UsageError
from neverempty.planning.advice import share
from neverempty.plots import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def risk_coverage_data(confidence: Iterable[Any], error: Iterable[Any]) -> pd.DataFrame:
    """Compute the risk among accepted answers for every threshold on the confidence.

    Parameters
    ----------
    confidence : iterable of float or None
        Stated confidence; None where the agent abstained.
    error : iterable of {0, 1, None}
        Whether the answer is wrong.

    Returns
    -------
    pandas.DataFrame
        One row per threshold, the most confident first: ``threshold``, ``coverage``, ``risk`` (shares),
        ``lo``, ``hi`` (95 % Wilson interval of the risk), ``n_accepted``, ``errors``.

    Raises
    ------
    UsageError
        Where no answer carries both.

    Examples
    --------
    >>> risk_coverage_data([0.9, 0.8, 0.4], [0, 0, 1])[["coverage", "risk"]].round(2).values.tolist()
    [[0.33, 0.0], [0.67, 0.0], [1.0, 0.33]]
    """
    curve = stats.risk_coverage(confidence, error).curve
    points = [point for point in curve if point.n_accepted]
    if not points:
        raise UsageError("no answer has both a confidence and a verdict, so there is nothing to draw")
    bounds = [stats.wilson_interval(point.errors, point.n_accepted) for point in points]
    return pd.DataFrame(
        {
            "threshold": [point.threshold for point in points],
            "coverage": [point.coverage for point in points],
            "risk": [point.errors / point.n_accepted for point in points],
            "lo": [bound.lo for bound in bounds],
            "hi": [bound.hi for bound in bounds],
            "n_accepted": [point.n_accepted for point in points],
            "errors": [point.errors for point in points],
        }
    )


def risk_coverage(confidence: Iterable[Any], error: Iterable[Any], ax: Axes | None = None) -> Axes:
    """Draw risk against coverage; `risk_coverage_data` returns the same data.

    Parameters
    ----------
    confidence : iterable of float or None
        Stated confidence; None where the agent abstained.
    error : iterable of {0, 1, None}
        Whether the answer is wrong.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        The risk among accepted answers with its 95 % interval; the last point takes every answer.

    Examples
    --------
    >>> risk_coverage([0.9, 0.8, 0.4], [0, 0, 1]).get_ylabel()
    'wrong among the accepted answers'
    """
    data = risk_coverage_data(confidence, error)
    ax = style.fresh(ax, 5.6, 3.6)
    ax.fill_between(data["coverage"], data["lo"], data["hi"], color=style.PALE, alpha=0.55, linewidth=0)
    few = len(data) <= 25
    ax.plot(
        data["coverage"],
        data["risk"],
        color=style.DARK,
        linewidth=2,
        marker="o" if few else None,
        markersize=5,
    )
    last = data.iloc[-1]
    ax.plot([last["coverage"]], [last["risk"]], marker="o", markersize=7, color=style.RED, clip_on=False)
    ax.annotate(
        f"all that was answered: {share(float(last['risk']))}",
        (last["coverage"], last["risk"]),
        xytext=(-6, 9),
        textcoords="offset points",
        ha="right",
        color=style.RED,
    )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, min(1.0, max(float(data["hi"].tail(max(len(data) // 2, 1)).max()) * 1.25, 0.05)))
    style.shares(ax.xaxis)
    style.shares(ax.yaxis)
    style.tidy(ax)
    ax.set_xlabel("coverage: accepted among all cases (shaded: 95 % interval)")
    ax.set_ylabel("wrong among the accepted answers")
    return ax


def reliability_data(confidence: Iterable[Any], correct: Iterable[Any], n_bins: int = 10) -> pd.DataFrame:
    """Compute the accuracy by stated confidence.

    Parameters
    ----------
    confidence : iterable of float or None
        Stated confidence.
    correct : iterable of {0, 1, None}
        Whether the answer is right.
    n_bins : int, default 10
        Bins of equal width.

    Returns
    -------
    pandas.DataFrame
        One row per bin with an answer: ``n``, ``confidence`` (mean), ``accuracy``, ``lo``, ``hi`` (shares).

    Raises
    ------
    UsageError
        Where no answer carries both.

    Examples
    --------
    >>> reliability_data([0.95, 0.95, 0.15], [1, 0, 0])[["n", "accuracy"]].values.tolist()
    [[1.0, 0.0], [2.0, 0.5]]
    """
    bins = [one for one in stats.reliability_curve(confidence, correct, n_bins) if one.n]
    if not bins:
        raise UsageError("no answer has both a confidence and a verdict, so there is nothing to draw")
    return pd.DataFrame(
        {
            "n": [one.n for one in bins],
            "confidence": [one.mean_confidence for one in bins],
            "accuracy": [one.accuracy.value for one in bins],
            "lo": [one.accuracy.lo for one in bins],
            "hi": [one.accuracy.hi for one in bins],
        }
    )


def reliability(
    confidence: Iterable[Any], correct: Iterable[Any], n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw stated confidence against accuracy; `reliability_data` returns the same data.

    Parameters
    ----------
    confidence : iterable of float or None
        Stated confidence.
    correct : iterable of {0, 1, None}
        Whether the answer is right.
    n_bins : int, default 10
        Bins of equal width.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        A mark per bin with its 95 % interval and number of answers; a calibrated agent lies on the diagonal.

    Examples
    --------
    >>> reliability([0.95, 0.95, 0.15], [1, 0, 0]).get_xlabel()
    'stated confidence (bars: 95 % interval, numbers: answers)'
    """
    data = reliability_data(confidence, correct, n_bins)
    ax = style.fresh(ax, 4.8, 4.6)
    ax.plot([0, 1], [0, 1], color=style.GREY, linewidth=1, linestyle=(0, (2, 2)))
    ax.vlines(data["confidence"], data["lo"], data["hi"], color=style.DARK, linewidth=1.6)
    ax.plot(data["confidence"], data["accuracy"], color=style.DARK, marker="o", linewidth=1.2, markersize=6)
    for row in data.to_dict("records"):
        ax.annotate(
            f"{row['n']}",
            (row["confidence"], row["hi"]),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.05)
    ax.set_aspect("equal")
    style.shares(ax.xaxis)
    style.shares(ax.yaxis)
    style.tidy(ax)
    ax.set_xlabel("stated confidence (bars: 95 % interval, numbers: answers)")
    ax.set_ylabel("right answers")
    return ax
