"""Relatives of kappa that differ in what they call chance: AC1, alpha, pi, Brennan and Prediger's."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray
from neverempty.stats.agreement import ConfusionMatrix, square_table


@dataclasses.dataclass(frozen=True)
class Agreement(Estimate):
    """A chance-corrected agreement with its standard error, where there is one."""

    se: float | None = None


def _shares(table: ConfusionMatrix | ArrayLike) -> tuple[FloatArray, int]:
    counts = square_table(table)
    n = int(counts.sum())
    return counts / max(n, 1), n


def _agreed(table: ConfusionMatrix | ArrayLike, n: int) -> float:
    """Observed agreement from the counts, so that it is exactly 1 where all labels agree."""
    return int(np.trace(square_table(table))) / n


def _no_item(method: str) -> Agreement:
    return Agreement(None, method=method, status="not_measured", reason="no item")


def gwet_ac1(table: ConfusionMatrix | ArrayLike, q: int | None = None, conf: float = 0.95) -> Agreement:
    """Gwet's AC1, an explanation beside kappa when one category dominates; never its replacement.

    Parameters
    ----------
    table : ConfusionMatrix or square array of int
        Rows = human, columns = judge.
    q : int, optional
        Declared categories, if more than the table's.
    conf : float
        Confidence level of the large-sample interval, cut to [-1, 1].

    Returns
    -------
    Agreement
        Defined for one occurring category too (1 when all agree), where kappa is undefined: status
        ``degenerate`` then.

    Raises
    ------
    ValueError
        If the table is not square or q is smaller than it.

    References
    ----------
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> round(gwet_ac1([[118, 5, 0], [2, 0, 0], [0, 0, 0]]).value, 3)
    0.942
    """
    p, n = _shares(table)
    size, z = p.shape[0], check.z_value(conf)
    categories = size if q is None else check.count("q", q, size)
    if n == 0:
        return _no_item("gwet_ac1")
    po, pi = _agreed(table, n), (p.sum(axis=0) + p.sum(axis=1)) / 2.0
    pe = float((pi * (1.0 - pi)).sum()) / (categories - 1)
    ac1 = (po - pe) / (1.0 - pe)
    diagonal = float((np.diag(p) * (1.0 - pi)).sum()) / (categories - 1)
    pairs = float((p * (1.0 - (pi[:, None] + pi[None, :]) / 2.0) ** 2).sum()) / (categories - 1) ** 2
    miss = 1.0 - ac1
    variance = po * (1.0 - po) - 4.0 * miss * (diagonal - po * pe) + 4.0 * miss**2 * (pairs - pe**2)
    # Rounding leaves about 1e-16 where the variance cancels to 0.
    se = math.sqrt(variance / n) / (1.0 - pe) if variance > 1e-12 else 0.0
    result = Agreement(
        ac1, max(ac1 - z * se, -1.0), min(ac1 + z * se, 1.0), n=n, conf=conf, method="gwet_ac1", se=se
    )
    if se == 0.0:
        reason = f"{'all' if po == 1.0 else 'no'} labels agree: the standard error of 0 gives no interval"
        return dataclasses.replace(result, lo=None, hi=None, status="degenerate", reason=reason)
    return result


def scott_pi(table: ConfusionMatrix | ArrayLike) -> Agreement:
    """Scott's pi: chance from the pooled margins of both raters.

    Parameters
    ----------
    table : ConfusionMatrix or square array of int
        Rows = human, columns = judge.

    Returns
    -------
    Agreement
        ``undefined`` when only one category occurs.

    References
    ----------
    Scott (1955), Public Opin. Q. 19, 321-325.

    Examples
    --------
    >>> round(scott_pi([[40, 9], [6, 45]]).value, 4)
    0.6992
    """
    p, n = _shares(table)
    if n == 0:
        return _no_item("scott_pi")
    pi = (p.sum(axis=0) + p.sum(axis=1)) / 2.0
    if (pi > 0.0).sum() == 1:
        reason = "only one category occurs: agreement by chance is certain"
        return Agreement(None, n=n, method="scott_pi", status="undefined", reason=reason)
    pe = float((pi**2).sum())
    return Agreement((_agreed(table, n) - pe) / (1.0 - pe), n=n, method="scott_pi")


def brennan_prediger(table: ConfusionMatrix | ArrayLike) -> Agreement:
    """Brennan and Prediger's coefficient: chance is one over the number of declared categories.

    Parameters
    ----------
    table : ConfusionMatrix or square array of int
        Rows = human, columns = judge.

    Returns
    -------
    Agreement
        Point estimate.

    References
    ----------
    Brennan and Prediger (1981), Educ. Psychol. Meas. 41, 687-699.

    Examples
    --------
    >>> round(brennan_prediger([[40, 9, 0], [6, 45, 0], [0, 0, 0]]).value, 3)
    0.775
    """
    p, n = _shares(table)
    if n == 0:
        return _no_item("brennan_prediger")
    pe = 1.0 / p.shape[0]
    return Agreement((_agreed(table, n) - pe) / (1.0 - pe), n=n, method="brennan_prediger")


def krippendorff_alpha(units: Iterable[Iterable[Any]]) -> Agreement:
    """Krippendorff's alpha for nominal labels, any number of raters, with missing labels.

    Parameters
    ----------
    units : iterable of iterables
        Labels of each item, one per rater; None and NaN are missing.

    Returns
    -------
    Agreement
        `n` counts items with at least two labels, `n_missing` the others, which carry no information.
        ``undefined`` when only one value occurs.

    References
    ----------
    Krippendorff (2018), Content analysis, chapter 12.

    Examples
    --------
    >>> round(krippendorff_alpha([["a", "a"], ["b", "b"], ["a", "b"], ["b", None]]).value, 3)
    0.444
    """
    rows = [Counter(v for v in unit if not check.is_missing(v)) for unit in check.rows("units", units)]
    known = [row for row in rows if row.total() >= 2]
    missing, method = len(rows) - len(known), "krippendorff_alpha_nominal"
    if not known:
        reason = "no item has two labels"
        return Agreement(None, n_missing=missing, method=method, status="not_measured", reason=reason)
    totals = sum(known, Counter[Any]())
    n = totals.total()
    expected = n * n - sum(c * c for c in totals.values())
    if expected == 0:
        reason = "only one value occurs: there is nothing to disagree about"
        return Agreement(
            None, n=len(known), n_missing=missing, method=method, status="undefined", reason=reason
        )
    observed = math.fsum(
        (row.total() ** 2 - sum(c * c for c in row.values())) / (row.total() - 1) for row in known
    )
    alpha = 1.0 - (n - 1) * observed / expected
    return Agreement(alpha, n=len(known), n_missing=missing, method=method)
