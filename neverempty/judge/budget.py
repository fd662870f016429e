"""How many labels it takes to trust a judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neverempty._errors import UsageError
from neverempty.stats.agreement import kappa_arrays


class LabelBudget(NamedTuple):
    """How many labels a kappa needs.

    Parameters
    ----------
    n : int or None
        Labels; None where no number would do.
    reason : str
        Why there is none, or what was assumed.
    """

    n: int | None
    reason: str


def label_budget(
    kappa: float,
    *,
    min_kappa: float = 0.6,
    shares: Sequence[float] = (1 / 3, 1 / 3, 1 / 3),
    chance: float = 0.8,
    conf: float = 0.95,
) -> LabelBudget:
    """Tell how many labels show that a judge of a given kappa can be trusted.

    Parameters
    ----------
    kappa : float
        The judge's true kappa.
    min_kappa : float, default 0.6
        What the lower bound of its interval must reach.
    shares : sequence of float
        Shares of the labels among the claims; equal ones need the fewest.
    chance : float, default 0.8
        How surely the bound is to be reached.
    conf : float, default 0.95
        Confidence of the interval.

    Returns
    -------
    LabelBudget
        The smallest number of labels, by the large-sample variance of kappa with errors that fall on the
        other labels as often as these occur.

    Raises
    ------
    UsageError
        Where a share, a kappa or a chance makes no sense.

    References
    ----------
    Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72, 323-327.

    Examples
    --------
    >>> label_budget(0.8).n, label_budget(0.7).n, label_budget(0.6).n
    (52, 283, None)
    """
    p = np.asarray(shares, dtype=float)
    if p.ndim != 1 or len(p) < 2 or (p <= 0).any() or not math.isclose(p.sum(), 1.0, abs_tol=1e-9):
        raise UsageError(f"shares is {list(shares)!r}; give at least two shares above 0 that add up to 1")
    if not -1 < kappa <= 1:
        raise UsageError(f"kappa is {kappa!r}; give a number up to 1")
    for name, value in (("chance", chance), ("conf", conf)):
        if not 0 < value < 1:
            raise UsageError(f"{name} is {value!r}; give a share between 0 and 1")
    if kappa <= min_kappa:
        return LabelBudget(None, f"a judge of kappa {kappa:g} cannot be shown to reach {min_kappa:g}")
    from scipy import special

    table = kappa * np.diag(p) + (1 - kappa) * np.outer(p, p)
    scale = 10**9
    variance = float(kappa_arrays(np.rint(table * scale).astype(np.int64)[np.newaxis])[3][0])
    z = float(special.ndtri((1 + conf) / 2) + special.ndtri(chance))
    n = math.ceil(variance * (z / (kappa - min_kappa)) ** 2) if variance > 0 else 0
    return LabelBudget(
        max(n, 30), f"errors fall on the other labels as often as these occur; {len(p)} labels"
    )
