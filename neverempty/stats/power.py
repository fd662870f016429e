"""Exact unconditional power of the exact McNemar test, and what follows from it: sizes and drops."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray, IntArray, Status
from neverempty.stats.paired import critical_table, min_clean_flips

Numbers = Sequence[float] | NDArray[Any]


def _cells(p_regress: object, p_improve: object) -> tuple[FloatArray, FloatArray]:
    p10, p01 = np.broadcast_arrays(
        check.probabilities("p_regress", p_regress), check.probabilities("p_improve", p_improve)
    )
    if (p10 + p01 > 1.0 + 1e-12).any():
        raise ValueError(f"p_regress + p_improve must not exceed 1; got {float((p10 + p01).max())}")
    return p10, p01


def _reach(n: int, psi: float) -> int:
    """Return a number of discordant pairs that is exceeded with a probability below 1e-20."""
    return min(n, math.ceil(n * psi + 10.0 * math.sqrt(n * psi) + 40.0))


def _power_at(n: int, p10: float, p01: float, alpha: float, midp: bool) -> float:
    """Sum over the number m of discordant pairs of P(m) P(reject | m)."""
    from neverempty.stats import _binomial

    psi = min(p10 + p01, 1.0)
    if psi == 0.0 or n == 0:
        return 0.0
    first = max(0, math.floor(n * psi - 10.0 * math.sqrt(n * psi)))
    m = np.arange(first, _reach(n, psi) + 1)
    critical = critical_table(n, alpha, midp)[m]
    chances = _binomial.pmf(m, n, psi) * _binomial.at_least(critical, m, min(p10 / psi, 1.0))
    return min(float(chances.sum()), 1.0)


@overload
def mcnemar_power(
    n: int, p_regress: float, p_improve: float = ..., alpha: float = ..., midp: bool = ...
) -> float: ...
@overload
def mcnemar_power(
    n: ArrayLike, p_regress: ArrayLike, p_improve: ArrayLike = ..., alpha: float = ..., midp: bool = ...
) -> float | FloatArray: ...
def mcnemar_power(
    n: ArrayLike,
    p_regress: ArrayLike,
    p_improve: ArrayLike = 0.0,
    alpha: float = 0.05,
    midp: bool = False,
) -> float | FloatArray:
    """Exact unconditional power of the one-sided exact McNemar test.

    Parameters
    ----------
    n : int or array of int
        Paired cases.
    p_regress, p_improve : float or array of float
        Chance that a case regresses (pass to fail) or improves; a drop d with churn g is (d + g, g).
    alpha : float
        Level; the test rejects when p is strictly below it.
    midp : bool
        For the mid-p test.

    Returns
    -------
    float or array
        Power; the inputs are broadcast against each other.

    Raises
    ------
    ValueError
        If a chance lies outside [0, 1], both together exceed 1, or n is no count.

    References
    ----------
    Duffy (1984), Stat. Med. 3, 371-379: sum over m of Bin(m; n, psi) P(Bin(m, p_regress/psi) >= b_m).

    Examples
    --------
    >>> round(mcnemar_power(100, 0.05), 3), round(mcnemar_power(210, 0.06, 0.01), 3)
    (0.564, 0.849)
    """
    p10, p01 = _cells(p_regress, p_improve)
    ns = check.counts("n", n)
    level = check.open_unit("alpha", alpha)
    if not ns.ndim and not p10.ndim:
        return _power_at(int(ns), float(p10), float(p01), level, midp)
    grid = np.broadcast(ns, p10, p01)
    values = [_power_at(int(k), float(a), float(b), level, midp) for k, a, b in grid]
    return np.array(values).reshape(grid.shape)


def mcnemar_power_curve(
    ns: Sequence[int] | NDArray[Any],
    drops: Numbers,
    p_improve: float = 0.0,
    alpha: float = 0.05,
    midp: bool = False,
) -> FloatArray:
    """Exact power for many sizes and drops at once.

    The distribution of the number of discordant pairs is carried from n to n + 1, for all drops
    together: P(n+1) = P(n)(1 - psi) + shift(P(n)) psi.

    Parameters
    ----------
    ns : sequence of int
        Paired cases.
    drops : sequence of float
        True drops of the pass rate; the chance of a regression is drop + p_improve.
    p_improve : float
        Chance that a case improves (churn).
    alpha : float
        Level.
    midp : bool
        For the mid-p test.

    Returns
    -------
    numpy.ndarray of float
        Power, one row per drop and one column per size.

    Raises
    ------
    ValueError
        As `mcnemar_power`.

    Examples
    --------
    >>> mcnemar_power_curve([60, 100], [0.05, 0.1]).round(2).tolist()
    [[0.18, 0.56], [0.73, 0.98]]
    """
    churn = check.probability("p_improve", p_improve)
    p10, p01 = _cells(check.probabilities("drops", drops).ravel() + churn, churn)
    sizes, level = check.counts("ns", ns).ravel(), check.open_unit("alpha", alpha)
    return (
        _carry(sizes, p10, p01, level, midp) if p10.size and sizes.size else np.zeros((p10.size, sizes.size))
    )


def _carry(sizes: IntArray, p10: FloatArray, p01: FloatArray, alpha: float, midp: bool) -> FloatArray:
    """Power by the recursion in n, one row per effect and one column per size."""
    from neverempty.stats import _binomial

    out = np.zeros((p10.size, sizes.size))
    psi = np.minimum(p10 + p01, 1.0)
    last = _reach(int(sizes.max()), float(psi.max()))
    m = np.arange(last + 1)
    share = np.where(psi > 0.0, np.minimum(p10 / np.where(psi > 0.0, psi, 1.0), 1.0), 0.0)
    rejects = _binomial.at_least(critical_table(last, alpha, midp), m, share[:, np.newaxis])
    columns: dict[int, list[int]] = {}
    for i, size in enumerate(sizes.tolist()):
        columns.setdefault(size, []).append(i)
    mass = np.zeros((p10.size, last + 2))
    mass[:, 1] = 1.0  # column 0 stays empty: it feeds the shift
    up, stay = psi[:, np.newaxis], 1.0 - psi[:, np.newaxis]
    for n in range(int(sizes.max()) + 1):
        end = _reach(n, float(psi.max())) + 2
        if n:
            mass[:, 1:end] = mass[:, 1:end] * stay + mass[:, : end - 1] * up
        if n in columns:
            out[:, columns[n]] = np.einsum("em,em->e", mass[:, 1:end], rejects[:, : end - 1])[:, np.newaxis]
    return np.minimum(out, 1.0)


@dataclasses.dataclass(frozen=True)
class SampleSize:
    """Smallest number of pairs for a wanted power; `n` is None, with a reason, where none is enough."""

    n: int | None
    power: float
    power_at_n: float | None = None
    power_at_n_minus_1: float | None = None
    status: Status = "ok"
    reason: str = ""


def _first(ok: Callable[[int], bool], start: int, limit: int, monotone: bool) -> int | None:
    """Smallest number from start to limit for which ok holds, by bisection if ok is monotone."""
    if not monotone:
        return next((n for n in range(start, limit + 1) if ok(n)), None)
    hi = start
    while not ok(hi):
        if hi >= limit:
            return None
        start, hi = hi + 1, min(2 * hi, limit)
    while start < hi:
        mid = (start + hi) // 2
        start, hi = (start, mid) if ok(mid) else (mid + 1, hi)
    return hi


def mcnemar_sample_size(
    p_regress: float,
    p_improve: float = 0.0,
    power: float = 0.8,
    alpha: float = 0.05,
    midp: bool = False,
    *,
    max_n: int = 20_000,
) -> SampleSize:
    """Smallest number of paired cases with the wanted power.

    Power does not decrease with n while p_regress + p_improve <= 0.5, where the search bisects; above
    it every size is tried.

    Parameters
    ----------
    p_regress, p_improve : float
        Chance that a case regresses or improves; for a drop d with churn g give (d + g, g).
    power : float
        Wanted power.
    alpha : float
        Level.
    midp : bool
        For the mid-p test.
    max_n : int
        Largest size to try.

    Returns
    -------
    SampleSize
        With the power at n and at n - 1.

    Raises
    ------
    ValueError
        As `mcnemar_power`.

    Examples
    --------
    >>> mcnemar_sample_size(0.05).n, mcnemar_sample_size(0.06, 0.01).n
    (134, 189)
    """
    p10, p01 = check.probability("p_regress", p_regress), check.probability("p_improve", p_improve)
    _cells(p10, p01)
    target, level = check.open_unit("power", power), check.open_unit("alpha", alpha)
    limit = check.count("max_n", max_n, 1)
    if p10 <= p01:
        reason = f"no drop: p_regress {p10} does not exceed p_improve {p01}"
        return SampleSize(None, target, status="undefined", reason=reason)

    def chance(n: int) -> float:
        return _power_at(n, p10, p01, level, midp)

    start = min(min_clean_flips(level, midp=midp), limit)
    n = _first(lambda k: chance(k) >= target, start, limit, monotone=p10 + p01 <= 0.5)
    if n is None:
        reason = f"not reached with {limit} pairs"
        return SampleSize(None, target, status="cannot_reject", reason=reason)
    return SampleSize(n, target, chance(n), chance(n - 1))


def minimum_detectable_drop(
    n: int, p_improve: float = 0.0, alpha: float = 0.05, power: float = 0.8, midp: bool = False
) -> Estimate:
    """Smallest true drop that is caught with the wanted power: what to report instead of post-hoc power.

    Parameters
    ----------
    n : int
        Paired applicable cases.
    p_improve : float
        Chance that a case improves (churn).
    alpha : float
        Level.
    power : float
        Wanted power.
    midp : bool
        For the mid-p test.

    Returns
    -------
    Estimate
        The drop of the pass rate, as a proportion; status ``cannot_reject`` if no drop is enough.

    Raises
    ------
    ValueError
        As `mcnemar_power`.

    Examples
    --------
    >>> round(minimum_detectable_drop(100).value, 3), minimum_detectable_drop(4).status
    (0.066, 'cannot_reject')
    """
    size, churn = check.count("n", n), check.probability("p_improve", p_improve)
    level, target = check.open_unit("alpha", alpha), check.open_unit("power", power)
    lo, hi = 0.0, 1.0 - 2.0 * churn
    if hi <= 0.0 or _power_at(size, hi + churn, churn, level, midp) < target:
        reason = f"{size} pairs cannot reach a power of {target:g} at level {level:g} with any drop"
        return Estimate(None, n=size, method="minimum_detectable_drop", status="cannot_reject", reason=reason)
    for _ in range(50):
        mid = (lo + hi) / 2.0
        if _power_at(size, mid + churn, churn, level, midp) >= target:
            hi = mid
        else:
            lo = mid
    return Estimate(hi, n=size, method="minimum_detectable_drop")
