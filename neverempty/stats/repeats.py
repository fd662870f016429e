"""Repeats of one case: collapse to one outcome, instability, flake rate, pass@k and pass^k."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray
from neverempty.stats.rates import wilson_interval

Collapse = Literal["majority", "any_hit", "all", "median", "mean"]
COLLAPSES: tuple[str, ...] = ("majority", "any_hit", "all", "median", "mean")
Matrix = Iterable[Iterable[Any]] | NDArray[Any]


def _collapse_rows(rows: FloatArray, how: str) -> FloatArray:
    """One outcome per row, NaN where nothing was measured."""
    k, total = (~np.isnan(rows)).sum(axis=1), np.nansum(rows, axis=1)
    known = k > 0
    if how == "majority":
        out = (2 * total > k).astype(float)
    elif how == "any_hit":
        out = (total == k).astype(float)
    elif how == "all":
        out = (total > 0).astype(float)
    else:
        out = np.full(k.shape, np.nan)
        out[known] = np.nanmedian(rows[known], axis=1) if how == "median" else total[known] / k[known]
    return np.where(known, out, np.nan)


def collapse(
    values: Sequence[Any] | NDArray[Any], how: Collapse = "majority"
) -> bool | float | FloatArray | None:
    """Collapse the repeats of one case into one outcome.

    Parameters
    ----------
    values : sequence, or array of cases by repeats
        Repeats of a case: 1 = pass, 0 = fail for the first three ways, numbers for the others. None
        and NaN are not measured and leave the denominator.
    how : {"majority", "any_hit", "all", "median", "mean"}
        "majority": passes if more than half pass, so a tie fails. "any_hit": one failing repeat fails
        the case. "all": the case fails only if every repeat fails.

    Returns
    -------
    bool, float, None or array
        None when nothing was measured. For a two-dimensional array one float per row, NaN for None.

    Raises
    ------
    ValueError
        If `how` is unknown, or a pass is neither 0 nor 1.

    Examples
    --------
    >>> collapse([1, 1, 0]), collapse([1, 0]), collapse([1, 1, 0], "any_hit"), collapse([None])
    (True, False, False, None)
    >>> collapse([2.0, None, 4.0], "median")
    3.0
    """
    check.choice("how", how, COLLAPSES)
    numeric = how in ("median", "mean")
    array = check.measured("values", values) if numeric else check.binary("values", values)
    if array.ndim > 2:
        raise ValueError(f"values must be repeats, or cases by repeats; got an array of shape {array.shape}")
    if array.ndim == 2:
        return _collapse_rows(array, how)
    outcome = float(_collapse_rows(array.reshape(1, -1), how)[0])
    if math.isnan(outcome):
        return None
    return outcome if numeric else bool(outcome)


def unequal_repeats(base: Mapping[Any, Sequence[Any]], cand: Mapping[Any, Sequence[Any]]) -> tuple[Any, ...]:
    """Case ids whose two sides have different numbers of measured repeats.

    Any-hit outcomes depend on the number of repeats, so such pairs must leave a comparison.

    Parameters
    ----------
    base, cand : mapping
        Repeats by case id; ids on one side only are ignored.

    Returns
    -------
    tuple
        Ids in the order of `base`.

    Examples
    --------
    >>> unequal_repeats({"a": [1, 1], "b": [1, None]}, {"a": [1, 0], "b": [1, 1]})
    ('b',)
    """

    def k(values: Sequence[Any]) -> int:
        return sum(not check.is_missing(v) for v in values)

    return tuple(i for i, values in base.items() if i in cand and k(values) != k(cand[i]))


def _outcome_rows(values: Matrix) -> list[FloatArray]:
    """Measured outcomes, 0 or 1, of each case."""
    return [check.drop_missing(check.binary("values", row))[0] for row in check.rows("values", values)]


def stability_flags(values: Matrix) -> tuple[bool | None, ...]:
    """Whether the measured repeats of each case agree.

    The flags are a paired metric like any other: give those of two runs to `paired_table` and
    `mcnemar_exact`, so that a change that makes cases flaky is a regression and not just noise.

    Parameters
    ----------
    values : iterable of iterables
        Repeats of each case; None and NaN are not measured.

    Returns
    -------
    tuple of (bool or None)
        True = stable; None with fewer than two measured repeats.

    Examples
    --------
    >>> stability_flags([[1, 1, 1], [1, 0, 1], [1, None, None]])
    (True, False, None)
    """
    rows = [check.drop_missing(check.measured("values", row))[0] for row in check.rows("values", values)]
    return tuple(None if row.size < 2 else bool((row == row[0]).all()) for row in rows)


def instability(values: Matrix, conf: float = 0.95) -> Estimate:
    """Share of cases whose measured repeats disagree.

    Parameters
    ----------
    values : iterable of iterables
        Repeats of each case; None and NaN are not measured.
    conf : float
        Confidence level of the Wilson interval.

    Returns
    -------
    Estimate
        `n` counts cases with at least two measured repeats, `n_missing` the others.

    Examples
    --------
    >>> e = instability([[1, 1, 1], [1, 0, 1], [1, None, None]])
    >>> e.value, e.n, e.n_missing
    (0.5, 2, 1)
    """
    flags = stability_flags(values)
    known = [f for f in flags if f is not None]
    interval = wilson_interval(sum(not f for f in known), len(known), conf)
    reason = "no case has two measured repeats" if not known else ""
    return dataclasses.replace(
        interval, n_missing=len(flags) - len(known), method="instability_wilson", reason=reason
    )


def repeat_histogram(values: Matrix) -> dict[tuple[int, int], int]:
    """Count cases by (failing, measured) repeats: what one unstable share hides.

    A tenth of the cases unstable is a flake rate of 3.5 % everywhere, or a few coin flips.

    Parameters
    ----------
    values : iterable of iterables of {0, 1, None}
        Repeats of each case, 1 = pass.

    Returns
    -------
    dict
        (h, k) to number of cases, sorted; cases without a measured repeat are under (0, 0).

    Examples
    --------
    >>> repeat_histogram([[1, 1], [1, 0], [1, 1]])
    {(0, 2): 2, (1, 2): 1}
    """
    rows = _outcome_rows(values)
    return dict(sorted(Counter((int(row.size - row.sum()), int(row.size)) for row in rows).items()))


def call_flake_rate(values: Matrix) -> Estimate:
    """Chance that one call departs from its case's intended outcome, if all cases share it.

    From the pairwise disagreement D = mean of 2h(k-h)/(k(k-1)), which is unbiased for 2q(1-q):
    q = (1 - sqrt(1 - 2D)) / 2.

    Parameters
    ----------
    values : iterable of iterables of {0, 1, None}
        Repeats of each case.

    Returns
    -------
    Estimate
        Point estimate only; `n` counts cases with at least two measured repeats. D above one half is
        clipped to q = 0.5 with status ``clipped``.

    Examples
    --------
    >>> round(call_flake_rate([[1, 1, 1]] * 9 + [[1, 1, 0]]).value, 4)
    0.0345
    """
    rows = _outcome_rows(values)
    known = [row for row in rows if row.size >= 2]
    missing, method = len(rows) - len(known), "call_flake_rate"
    if not known:
        reason = "no case has two measured repeats"
        return Estimate(None, n_missing=missing, method=method, status="not_measured", reason=reason)
    shares = [2.0 * r.sum() * (r.size - r.sum()) / (r.size * (r.size - 1)) for r in known]
    disagreement = float(np.mean(shares))
    if disagreement > 0.5:
        reason = f"pairwise disagreement {disagreement:.3f} is above one half"
        return Estimate(0.5, n=len(known), n_missing=missing, method=method, status="clipped", reason=reason)
    q = (1.0 - math.sqrt(1.0 - 2.0 * disagreement)) / 2.0
    return Estimate(q, n=len(known), n_missing=missing, method=method)


def _trials(n: int, c: int, k: int) -> tuple[int, int, int]:
    passed, made = check.count_of("c", c, "n", n)
    return made, passed, check.count("k", k, 1)


def pass_at_k(n: int, c: int, k: int) -> Estimate:
    """Unbiased chance that at least one of k attempts passes.

    Parameters
    ----------
    n, c : int
        Attempts made and passed.
    k : int
        Attempts allowed.

    Returns
    -------
    Estimate
        1 - C(n-c, k) / C(n, k); undefined when n < k.

    Raises
    ------
    ValueError
        If a count is wrong, c exceeds n, or k < 1.

    References
    ----------
    Chen et al. (2021), Evaluating large language models trained on code, arXiv:2107.03374.

    Examples
    --------
    >>> pass_at_k(5, 3, 2).value
    0.9
    """
    n, c, k = _trials(n, c, k)
    if n < k:
        return _too_few(n, k, "pass_at_k")
    return Estimate(1.0 - math.comb(n - c, k) / math.comb(n, k), n=n, method="pass_at_k")


def pass_hat_k(n: int, c: int, k: int) -> Estimate:
    """Unbiased chance that all of k attempts pass.

    Parameters
    ----------
    n, c : int
        Attempts made and passed.
    k : int
        Attempts that must pass.

    Returns
    -------
    Estimate
        C(c, k) / C(n, k); undefined when n < k.

    Raises
    ------
    ValueError
        If a count is wrong, c exceeds n, or k < 1.

    References
    ----------
    Yao et al. (2024), tau-bench, arXiv:2406.12045.

    Examples
    --------
    >>> pass_hat_k(5, 3, 2).value
    0.3
    """
    n, c, k = _trials(n, c, k)
    if n < k:
        return _too_few(n, k, "pass_hat_k")
    return Estimate(math.comb(c, k) / math.comb(n, k), n=n, method="pass_hat_k")


def _too_few(n: int, k: int, method: str) -> Estimate:
    reason = f"{n} attempts cannot tell about {k}"
    return Estimate(None, n=n, method=method, status="undefined", reason=reason)
