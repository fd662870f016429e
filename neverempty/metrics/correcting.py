"""What corrected rates have in common: their columns, what is shown of them, and how alike repeats are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neverempty.metrics.clusters import clustered_rates
from neverempty.metrics.groups import group_rows
from neverempty.stats import CorrectedRate

SOLVED: Final = ("ok", "clipped")
"""Statuses of a correction that gives a number."""

_NUMBERS: Final = ("sensitivity", "specificity", "value", "lo", "hi")


def corrected_columns(part: str, count: str) -> dict[str, Any]:
    """Name the columns of a frame of corrected rates, with their types.

    Parameters
    ----------
    part, count : str
        What a metric and arm are divided by, and what is counted.

    Returns
    -------
    dict of str to str
        In order.
    """
    return {
        **dict.fromkeys(("metric", "arm", part), "str"),
        count: "int64",
        "raw": "float64",
        "sensitivity": "float64",
        "n_pos": "int64",
        "specificity": "float64",
        "n_neg": "int64",
        **dict.fromkeys(("value", "lo", "hi"), "float64"),
        **dict.fromkeys(("status", "note"), "str"),
    }


def without_numbers(status: str, note: str) -> dict[str, Any]:
    """Fill a row that has no number, or none yet.

    Parameters
    ----------
    status, note : str
        Why.

    Returns
    -------
    dict
        Without what is known all the same: metric, arm, count and raw rate.
    """
    return {**dict.fromkeys(_NUMBERS), "n_pos": 0, "n_neg": 0, "status": status, "note": note}


def corrected(found: CorrectedRate, n_pos: int, n_neg: int) -> dict[str, Any]:
    """Fill a row from a correction; one that is not solved shows no rate.

    Parameters
    ----------
    found : CorrectedRate
        The correction.
    n_pos, n_neg : int
        The labelled ones behind sensitivity and specificity.

    Returns
    -------
    dict
        As from `without_numbers`.
    """
    shown = _NUMBERS if found.status in SOLVED else _NUMBERS[:2]
    return {
        **without_numbers(found.status, found.reason),
        **{name: getattr(found, name) for name in shown},
        "n_pos": n_pos,
        "n_neg": n_neg,
    }


def design_effect(clusters: list[Any], hits: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> float:
    """Tell how many times more the rates vary than independent ones would: what is of one case is alike.

    Parameters
    ----------
    clusters : list of arrays
        What the rows of one case have in common.
    hits, sizes : array of int64
        By row.

    Returns
    -------
    float
        At least 1.
    """
    one = np.zeros(len(hits), dtype=np.int64)
    rates = clustered_rates(one, group_rows(clusters).ids, hits, sizes, 1)
    return max(1.0, int(sizes.sum()) / float(rates.n_eff[0]))
