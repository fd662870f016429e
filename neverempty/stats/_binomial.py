"""Binomial probabilities from scipy.special, which loads in a fraction of the time of scipy.stats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from neverempty.stats._estimate import FloatArray, IntArray


def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """P(X = k) for X ~ Bin(n, p), with 0 <= k <= n."""
    k, n, p = np.asarray(k, float), np.asarray(n, float), np.asarray(p, float)
    log_choose = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(np.exp(log_choose + special.xlogy(k, p) + special.xlog1py(n - k, -p)))


def at_least(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """P(X >= k); 1 for k <= 0 and 0 for k > n."""
    k, n, p = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float), np.asarray(p, float))
    inner = (k > 0) & (k <= n)
    tail = special.betainc(np.where(inner, k, 1.0), np.where(inner, n - k + 1, 1.0), p)
    return np.where(inner, tail, np.where(k <= 0, 1.0, 0.0))


def at_most(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """P(X <= k); 0 for k < 0 and 1 for k >= n."""
    k, n, p = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float), np.asarray(p, float))
    inner = (k >= 0) & (k < n)
    tail = special.betaincc(np.where(inner, k + 1, 1.0), np.where(inner, n - k, 1.0), p)
    return np.where(inner, tail, np.where(k < 0, 0.0, 1.0))


def quantile(level: ArrayLike, n: int, p: float) -> IntArray:
    """Smallest k with P(X <= k) >= level."""
    levels = np.asarray(level, float)
    if p in (0.0, 1.0) or n == 0:
        return np.full(levels.shape, int(n * p), dtype=np.int64)
    start = np.nan_to_num(special.bdtrik(levels, n, p), nan=0.0)
    k = np.clip(np.ceil(start), 0, n)
    k = np.where((k > 0) & (at_most(k - 1, n, p) >= levels), k - 1, k)
    k = np.where(at_most(k, n, p) < levels, k + 1, k)
    return np.asarray(np.clip(k, 0, n), dtype=np.int64)
