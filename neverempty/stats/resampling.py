"""Bootstrap by counts of case patterns, never by index; order-statistic intervals of quantiles."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray, IntArray

Statistic = Callable[[IntArray], NDArray[Any]]
# Above this share of undefined replicates the rest no longer describes the sampling distribution.
MAX_UNDEFINED = 0.05


@dataclasses.dataclass(frozen=True)
class BootstrapEstimate(Estimate):
    """A bootstrap interval with what is needed to repeat and to judge it."""

    se: float | None = None
    mean: float | None = None
    p_undefined: float = 0.0
    n_resamples: int = 0
    seed: int | None = None
    numpy_version: str = np.__version__


def _evaluate(statistic: Statistic, counts: IntArray) -> FloatArray:
    values = np.asarray(statistic(counts), dtype=float)
    if values.shape != counts.shape[:1]:
        raise ValueError(
            f"statistic must map counts of shape {counts.shape} to one number per row; got {values.shape}"
        )
    return values


def bootstrap_counts(
    pattern_counts: Iterable[int],
    statistic: Statistic,
    n_resamples: int = 10_000,
    rng: check.Rng = check.DEFAULT_SEED,
    *,
    conf: float = 0.95,
    method: Literal["percentile", "bca"] = "percentile",
) -> BootstrapEstimate:
    """Bootstrap of a statistic that depends on counts of case patterns only.

    A pattern is what can differ between cases: baseline repeats x candidate repeats x slice. Resampling
    whole cases is then one multinomial draw: the cluster bootstrap by case.

    Parameters
    ----------
    pattern_counts : iterable of int
        Number of cases showing each pattern.
    statistic : callable
        Maps an array of counts (resamples x patterns) to one number per row; NaN where undefined.
    n_resamples : int
        Resamples.
    rng : int or numpy.random.Generator
        Seed, or a generator. Seed and numpy's version are recorded: together they fix the numbers.
    conf : float
        Confidence level.
    method : {"percentile", "bca"}
        Percentile interval (inverted distribution function), or bias-corrected and accelerated.

    Returns
    -------
    BootstrapEstimate
        No interval when more than 5 % of replicates are undefined (status ``undefined``). When all
        replicates are equal the status is ``degenerate``: take Wilson or Newcombe. The percentile
        interval then has no width, and "bca" none at all.

    Raises
    ------
    ValueError
        If a count is wrong or the statistic returns another shape.

    References
    ----------
    Efron and Tibshirani (1993), An introduction to the bootstrap, chapters 13 and 14.

    Examples
    --------
    >>> e = bootstrap_counts([57, 3], lambda c: c[:, 0] / c.sum(axis=1), rng=1)
    >>> round(e.value, 2), round(e.lo, 2), round(e.hi, 2)
    (0.95, 0.88, 1.0)
    """
    check.choice("method", method, ("percentile", "bca"))
    counts = check.counts("pattern_counts", list(pattern_counts))
    resamples, total = check.count("n_resamples", n_resamples, 1), int(counts.sum())
    blank = _blank(total, check.open_unit("conf", conf), f"bootstrap_{method}", resamples, rng)
    if total == 0:
        return blank
    draws = check.generator(rng).multinomial(total, counts / total, size=resamples)
    return _summarize(blank, counts, draws, statistic)


def _blank(n: int, conf: float, method: str, resamples: int, rng: check.Rng) -> BootstrapEstimate:
    return BootstrapEstimate(
        None,
        n=n,
        conf=conf,
        method=method,
        status="not_measured",
        reason="no case",
        n_resamples=resamples,
        seed=None if isinstance(rng, np.random.Generator) else check.count("rng", rng),
    )


def _summarize(
    blank: BootstrapEstimate, counts: IntArray, draws: IntArray, statistic: Statistic
) -> BootstrapEstimate:
    """Value, spread and interval of the replicates, or the reason why there is none."""
    value = float(_evaluate(statistic, counts[np.newaxis])[0])
    replicates = _evaluate(statistic, draws)
    defined = replicates[~np.isnan(replicates)]
    share, conf = 1.0 - defined.size / replicates.size, blank.conf or 0.0
    result = dataclasses.replace(blank, p_undefined=share, status="undefined")
    if np.isnan(value):
        return dataclasses.replace(result, reason="the statistic is undefined on the data")
    result = dataclasses.replace(result, value=value)
    if defined.size:
        result = dataclasses.replace(result, mean=float(defined.mean()), se=float(defined.std()))
    if share > MAX_UNDEFINED:
        return dataclasses.replace(result, reason=f"{share:.1%} of replicates are undefined: no interval")
    levels = np.array([(1.0 - conf) / 2.0, (1.0 + conf) / 2.0])
    equal, bca = defined.min() == defined.max(), blank.method == "bootstrap_bca"
    if equal:
        reason = "all replicates are equal: take a Wilson or Newcombe interval"
        result = dataclasses.replace(result, status="degenerate", reason=reason)
    else:
        result = dataclasses.replace(result, status="ok", reason="")
    if equal and bca:
        return result
    if bca:
        levels = _bca_levels(value, defined, counts, statistic, levels)
    lo, hi = np.quantile(defined, levels, method="inverted_cdf")
    return dataclasses.replace(result, lo=float(lo), hi=float(hi))


def _bca_levels(
    value: float, replicates: FloatArray, counts: IntArray, statistic: Statistic, levels: FloatArray
) -> FloatArray:
    """Shift percentile levels by bias (half of the ties below) and acceleration (grouped jackknife)."""
    from scipy import special

    below = ((replicates < value).sum() + (replicates <= value).sum()) / (2.0 * replicates.size)
    z0 = special.ndtri(below)
    occupied = np.flatnonzero(counts)
    leave_one_out = np.repeat(counts[np.newaxis], occupied.size, axis=0)
    leave_one_out[np.arange(occupied.size), occupied] -= 1
    jackknife, weights = _evaluate(statistic, leave_one_out), counts[occupied].astype(float)
    weights[np.isnan(jackknife)] = 0.0
    jackknife = np.nan_to_num(jackknife)
    gap = np.average(jackknife, weights=weights) - jackknife if weights.any() else np.zeros_like(jackknife)
    variance = float((weights * gap**2).sum())
    acceleration = float((weights * gap**3).sum()) / (6.0 * variance**1.5) if variance > 0.0 else 0.0
    z = z0 + special.ndtri(levels)
    return np.asarray(np.clip(special.ndtr(z0 + z / (1.0 - acceleration * z)), 0.0, 1.0))


def bca(
    pattern_counts: Iterable[int],
    statistic: Statistic,
    n_resamples: int = 10_000,
    rng: check.Rng = check.DEFAULT_SEED,
    *,
    conf: float = 0.95,
) -> BootstrapEstimate:
    """Bias-corrected and accelerated bootstrap by counts: `bootstrap_counts` with ``method="bca"``.

    Parameters
    ----------
    pattern_counts : iterable of int
        Number of cases showing each pattern.
    statistic : callable
        Maps an array of counts (resamples x patterns) to one number per row; NaN where undefined.
    n_resamples : int
        Resamples.
    rng : int or numpy.random.Generator
        Seed or generator.
    conf : float
        Confidence level.

    Returns
    -------
    BootstrapEstimate
        Status ``degenerate`` and no interval when all replicates are equal.

    Examples
    --------
    >>> bca([10, 0], lambda c: c[:, 0] / c.sum(axis=1)).status
    'degenerate'
    """
    return bootstrap_counts(pattern_counts, statistic, n_resamples, rng, conf=conf, method="bca")


def bootstrap_rate(x: int, n: int, conf: float = 0.95) -> Estimate:
    """Limit of the percentile bootstrap of a rate: binomial quantiles, without a random number.

    It has no width at 0 and 1, like every bootstrap of a rate: `wilson_interval` is the default.

    Parameters
    ----------
    x, n : int
        Hits and measured cases.
    conf : float
        Confidence level.

    Returns
    -------
    Estimate
        Status ``degenerate`` at x = 0 and x = n.

    Raises
    ------
    ValueError
        If counts are wrong.

    Examples
    --------
    >>> e = bootstrap_rate(3, 10)
    >>> e.lo, e.hi
    (0.0, 0.6)
    """
    from neverempty.stats import _binomial

    (hits, total), level = check.count_of("x", x, "n", n), check.open_unit("conf", conf)
    method = "bootstrap_rate"
    if total == 0:
        return Estimate(None, conf=conf, method=method, status="not_measured", reason="no case (n = 0)")
    p = hits / total
    lo, hi = _binomial.quantile([(1.0 - level) / 2.0, (1.0 + level) / 2.0], total, p) / total
    estimate = Estimate(p, float(lo), float(hi), n=total, conf=conf, method=method)
    if hits in (0, total):
        reason = "a bootstrap has no width at 0 and 1: take a Wilson interval"
        return dataclasses.replace(estimate, status="degenerate", reason=reason)
    return estimate


def quantile_interval(values: Iterable[Any], q: float, conf: float = 0.95) -> Estimate:
    """Quantile with the order-statistic interval: for medians and tail latencies.

    Parameters
    ----------
    values : iterable of (float or None)
        Measurements; None and NaN are not measured: dropped and counted.
    q : float
        Quantile, strictly between 0 and 1.
    conf : float
        Confidence level that the interval keeps at least, without assuming a distribution.

    Returns
    -------
    Estimate
        A bound is None, with status ``cannot_reject``, where there are too few values for it.

    Raises
    ------
    ValueError
        If q or conf lies outside (0, 1), or a value is infinite.

    References
    ----------
    Conover (1999), Practical nonparametric statistics, section 3.2.

    Examples
    --------
    >>> e = quantile_interval(range(1, 101), 0.5)
    >>> e.value, e.lo, e.hi
    (50.5, 40.0, 61.0)
    """
    kept, missing = check.drop_missing(check.measured("values", values))
    level, quantile = check.open_unit("conf", conf), check.open_unit("q", q)
    head = Estimate(
        None,
        n=int(kept.size),
        n_missing=missing,
        conf=conf,
        method="order_statistics",
        status="not_measured",
        reason="no measured value",
    )
    return _by_ranks(head, np.sort(kept), quantile, (1.0 - level) / 2.0) if kept.size else head


def _by_ranks(head: Estimate, ordered: FloatArray, q: float, tail: float) -> Estimate:
    """Fill in the quantile, and the order statistics that enclose it."""
    from neverempty.stats import _binomial

    n = ordered.size
    # Ranks from 1: P(fewer than `low` values lie below the quantile) <= tail, and likewise above.
    first, last = (int(k) for k in _binomial.quantile([tail, 1.0 - tail], n, q))
    low = first + 1 if float(_binomial.at_most(first, n, q)) <= tail else first
    high = last + 1
    both = low >= 1 and high <= n
    return dataclasses.replace(
        head,
        value=float(np.quantile(ordered, q)),
        lo=float(ordered[low - 1]) if low >= 1 else None,
        hi=float(ordered[high - 1]) if high <= n else None,
        status="ok" if both else "cannot_reject",
        reason="" if both else f"{n} values are too few for both bounds at {1.0 - 2.0 * tail:.0%}",
    )
