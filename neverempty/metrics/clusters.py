"""How many independent cases a rate rests on, for many groups at once."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neverempty.metrics.groups import Ints, group_rows
from neverempty.stats import wilson_interval

Floats = NDArray[np.float64]

_FAMILY: Final = "family:"


class Rates(NamedTuple):
    """Rates of several groups with their intervals; NaN where a group has nothing measured.

    Parameters
    ----------
    value, lo, hi : array of float
        The rate and its interval.
    n, n_eff : array of float
        Observations, and how many independent ones they are worth.
    """

    value: Floats
    lo: Floats
    hi: Floats
    n: Floats
    n_eff: Floats


def clustered_rates(
    groups: Ints, clusters: Ints, hits: NDArray[Any], sizes: NDArray[Any], n_groups: int, conf: float = 0.95
) -> Rates:
    """Compute rates whose observations come in clusters: repeats of a case, cases of a family.

    The interval is Wilson's at n / design effect. The design effect is the ratio of the cluster-robust
    variance (CR1) to the one of independent observations, at least 1; with no variation at all, a group is
    worth as many observations as it has clusters. The same numbers as `stats.variance_components` gives for
    one group, by counting instead of by listing every observation.

    Parameters
    ----------
    groups, clusters : array of int
        Group and cluster of each row.
    hits, sizes : array of int
        Hits and observations of each row.
    n_groups : int
        Number of groups.
    conf : float, default 0.95
        Confidence level.

    Returns
    -------
    Rates
        One element per group.

    References
    ----------
    Kish (1965), Survey Sampling (design effect); Miller (2024), arXiv:2411.00640 (clustered errors of
    evaluations); Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples
    --------
    >>> import numpy as np
    >>> zeros = np.zeros(4, dtype=int)
    >>> rates = clustered_rates(zeros, np.arange(4), np.array([1, 0, 0, 1]), np.ones(4, dtype=int), 1)
    >>> rates.value.tolist(), rates.n_eff.tolist()
    ([0.5], [4.0])
    """
    seen = sizes > 0
    groups, clusters, hits, sizes = groups[seen], clusters[seen], hits[seen], sizes[seen]
    pairs = group_rows([groups, clusters])
    owner = groups[pairs.first]
    x, m = pairs.total(hits).astype(np.float64), pairs.total(sizes).astype(np.float64)
    sums = [np.bincount(owner, weights, minlength=n_groups) for weights in (x, m, np.ones_like(m))]
    hit, n, count = (one.astype(np.float64) for one in sums)
    value = np.divide(hit, n, out=np.full(n_groups, np.nan), where=n > 0)
    residuals = np.bincount(owner, (x - value[owner] * m) ** 2, minlength=n_groups).astype(np.float64)
    n_eff = _effective(value, n, count, residuals)
    lo, hi = _wilson(hit, n, n_eff, conf)
    return Rates(value, lo, hi, n, n_eff)


def _effective(value: Floats, n: Floats, count: Floats, residuals: Floats) -> Floats:
    """Divide each n by its design effect."""
    robust = residuals / np.maximum(n, 1) ** 2 * count / np.maximum(count - 1, 1)
    independent = np.where(n > 0, value * (1 - value), 0.0) / np.maximum(n - 1, 1)
    varies = (independent > 0) & (count > 1)
    effect = np.divide(robust, independent, out=np.ones_like(n), where=varies)
    # singletons have a design effect of exactly 1, whatever the rounding of the division says
    n_eff = np.where(varies & (count < n), n / np.maximum(effect, 1.0), count)
    return np.where(n > 0, n_eff, 0.0)


def _wilson(hit: Floats, n: Floats, n_eff: Floats, conf: float) -> tuple[Floats, Floats]:
    lo, hi = np.full(len(n), np.nan), np.full(len(n), np.nan)
    whole = hit.astype(np.int64), n.astype(np.int64)
    plain = (n > 0) & (n_eff == n)
    interval = wilson_interval(whole[0][plain], whole[1][plain], conf)
    lo[plain], hi[plain] = interval.lo, interval.hi
    for at in np.flatnonzero((n > 0) & (n_eff != n)).tolist():
        one = wilson_interval(
            int(whole[0][at]), int(whole[1][at]), conf, design_effect=float(n[at] / n_eff[at])
        )
        lo[at], hi[at] = one.lo, one.hi
    return lo, hi


def case_clusters(outcomes: pd.DataFrame) -> Ints:
    """Give a number to what may vary together: a family where a case names one, else the case itself.

    Parameters
    ----------
    outcomes : DataFrame
        With ``suite``, ``case_id`` and ``tags``, or ``families`` where tags were spread over rows.

    Returns
    -------
    array of int
        One number per row.
    """
    column = outcomes["families"] if "families" in outcomes.columns else outcomes["tags"]
    families = [next((tag for tag in tags if tag.startswith(_FAMILY)), None) for tags in column.tolist()]
    if not any(families):
        return group_rows([outcomes["suite"].array, outcomes["case_id"].array]).ids
    cases = outcomes["case_id"].tolist()
    named = [family or f"case:{case}" for family, case in zip(families, cases, strict=True)]
    return group_rows([outcomes["suite"].array, named]).ids
