"""Rates and their intervals: Wilson, Clopper-Pearson, Bayes; mutation score and judge catch rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray, IntArray, IntervalArrays

Counts = Sequence[int] | NDArray[Any]
Side = Literal["two-sided", "upper", "lower"]
_BoundsOrNone = tuple[FloatArray, FloatArray]


def _deliver(
    xs: IntArray, ns: IntArray, bounds: _BoundsOrNone, conf: float, method: str, scalar: bool
) -> Estimate | IntervalArrays:
    """Wrap bounds: one Estimate for scalars, arrays with NaN at n = 0 otherwise."""
    lo, hi = bounds
    if scalar:
        n = int(ns)
        if n == 0:
            return Estimate(
                None, conf=conf, method=method, status="not_measured", reason="no measured case (n = 0)"
            )
        return Estimate(int(xs) / n, float(lo), float(hi), n=n, conf=conf, method=method)
    empty = ns == 0
    value = np.where(empty, np.nan, xs / np.where(empty, 1, ns))
    return IntervalArrays(value, np.where(empty, np.nan, lo), np.where(empty, np.nan, hi))


def _wilson_bounds(xs: IntArray, ns: IntArray, z: float, design_effect: float) -> _BoundsOrNone:
    x, n = xs / design_effect, np.where(ns == 0, 1, ns) / design_effect
    half = z * np.sqrt(x * (n - x) / n + z * z / 4.0)
    p = x / n
    lo = np.where(xs == 0, 0.0, np.minimum((x + z * z / 2.0 - half) / (n + z * z), p))
    hi = np.where(xs == ns, 1.0, np.maximum((x + z * z / 2.0 + half) / (n + z * z), p))
    return np.maximum(lo, 0.0), np.minimum(hi, 1.0)


@overload
def wilson_interval(x: int, n: int, conf: float = ..., *, design_effect: float = ...) -> Estimate: ...
@overload
def wilson_interval(
    x: Counts, n: Counts | int, conf: float = ..., *, design_effect: float = ...
) -> IntervalArrays: ...
def wilson_interval(
    x: int | Counts, n: int | Counts, conf: float = 0.95, *, design_effect: float = 1.0
) -> Estimate | IntervalArrays:
    """Wilson score interval of a rate, without continuity correction.

    The bound is exactly 0 at x = 0 and exactly 1 at x = n. Mean coverage is nominal; at rates near
    0.18/n it can fall to 0.84, so take `clopper_pearson_interval` for a claim of "at most".

    Parameters
    ----------
    x, n : int or array of int
        Hits and measured cases, 0 <= x <= n.
    conf : float
        Two-sided confidence level.
    design_effect : float
        Variance inflation of clustered cases; the interval is that of n / design_effect cases.

    Returns
    -------
    Estimate or IntervalArrays
        Arrays in, arrays out; at n = 0 the estimate is not measured (NaN in arrays).

    Raises
    ------
    ValueError
        If a count is negative, not whole, or x exceeds n.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples
    --------
    >>> e = wilson_interval(2, 6)
    >>> round(e.lo, 4), round(e.hi, 4)
    (0.0968, 0.7)
    >>> wilson_interval([0, 3], 3).hi.round(4).tolist()
    [0.5615, 1.0]
    """
    xs, ns = check.counts_of("x", x, "n", n)
    z = check.z_value(conf)
    deff = check.finite("design_effect", design_effect)
    if deff <= 0:
        raise ValueError(f"design_effect must be positive; got {deff}")
    return _deliver(xs, ns, _wilson_bounds(xs, ns, z, deff), conf, "wilson", check.is_scalar(x, n))


@overload
def clopper_pearson_interval(x: int, n: int, conf: float = ..., side: Side = ...) -> Estimate: ...
@overload
def clopper_pearson_interval(
    x: Counts, n: Counts | int, conf: float = ..., side: Side = ...
) -> IntervalArrays: ...
def clopper_pearson_interval(
    x: int | Counts, n: int | Counts, conf: float = 0.95, side: Side = "two-sided"
) -> Estimate | IntervalArrays:
    """Exact binomial interval: the one for claims of "at most" or "at least".

    Parameters
    ----------
    x, n : int or array of int
        Hits and measured cases, 0 <= x <= n.
    conf : float
        Confidence level, of the one bound when `side` is one-sided.
    side : {"two-sided", "upper", "lower"}
        "upper" gives the bound of "at most" (lo is 0), "lower" that of "at least" (hi is 1).

    Returns
    -------
    Estimate or IntervalArrays
        Arrays in, arrays out.

    Raises
    ------
    ValueError
        If a count is negative, not whole, or x exceeds n; if `side` is unknown.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> round(clopper_pearson_interval(0, 60, side="upper").hi, 4)
    0.0487
    """
    from scipy import special

    xs, ns = check.counts_of("x", x, "n", n)
    check.choice("side", side, ("two-sided", "upper", "lower"))
    tail = 1.0 - check.open_unit("conf", conf)
    tail = tail / 2.0 if side == "two-sided" else tail
    inner_lo, inner_hi = (xs > 0) & (side != "upper"), (xs < ns) & (side != "lower")
    p = xs / np.where(ns == 0, 1, ns)
    lo = special.betaincinv(np.where(inner_lo, xs, 1), np.where(inner_lo, ns - xs + 1, 1), tail)
    hi = special.betainccinv(np.where(inner_hi, xs + 1, 1), np.where(inner_hi, ns - xs, 1), tail)
    bounds = np.where(inner_lo, np.minimum(lo, p), 0.0), np.where(inner_hi, np.maximum(hi, p), 1.0)
    method = "clopper_pearson" if side == "two-sided" else f"clopper_pearson_{side}"
    return _deliver(xs, ns, bounds, conf, method, check.is_scalar(x, n))


def rate(
    values: Iterable[Any], conf: float = 0.95, method: Literal["wilson", "clopper_pearson"] = "wilson"
) -> Estimate:
    """Rate of ones among the measured values.

    Parameters
    ----------
    values : iterable of {0, 1, None}
        Booleans, zeros and ones; None and NaN are not measured: dropped and counted, never 0.
    conf : float
        Confidence level.
    method : {"wilson", "clopper_pearson"}
        Interval.

    Returns
    -------
    Estimate
        With `n` measured and `n_missing` dropped values.

    Raises
    ------
    ValueError
        If a value is neither 0 nor 1: a partial credit has no binomial interval.

    Examples
    --------
    >>> e = rate([True, False, None, True])
    >>> round(e.value, 3), e.n, e.n_missing
    (0.667, 3, 1)
    """
    check.choice("method", method, ("wilson", "clopper_pearson"))
    kept, missing = check.drop_missing(check.binary("values", values))
    x, n = int(kept.sum()), int(kept.size)
    interval = wilson_interval(x, n, conf) if method == "wilson" else clopper_pearson_interval(x, n, conf)
    return dataclasses.replace(interval, n_missing=missing)


def beta_posterior(x: int, n: int, prior: tuple[float, float] = (0.5, 0.5), conf: float = 0.95) -> Estimate:
    """Posterior mean and equal-tailed credible interval of a rate under a beta prior.

    Parameters
    ----------
    x, n : int
        Hits and measured cases.
    prior : tuple of float
        Parameters of the beta prior; the default is that of Jeffreys.
    conf : float
        Probability that the interval holds.

    Returns
    -------
    Estimate
        ``not_measured`` at n = 0, where it could only repeat the prior.

    Raises
    ------
    ValueError
        If counts are wrong or a prior parameter is not positive.

    Examples
    --------
    >>> round(beta_posterior(0, 10).value, 4)
    0.0455
    """
    from scipy import special

    hits, total = check.count_of("x", x, "n", n)
    tail = (1.0 - check.open_unit("conf", conf)) / 2.0
    shape = [check.finite("prior", v) for v in prior]
    if len(shape) != 2 or min(shape) <= 0:
        raise ValueError(f"prior must be two positive numbers; got {prior}")
    if total == 0:
        return Estimate(None, conf=conf, method="beta_posterior", status="not_measured", reason="n = 0")
    a, b = shape[0] + hits, shape[1] + total - hits
    lo, hi = float(special.betaincinv(a, b, tail)), float(special.betainccinv(a, b, tail))
    return Estimate(a / (a + b), lo, hi, n=total, conf=conf, method="beta_posterior")


@dataclasses.dataclass(frozen=True)
class MutationScore(Estimate):
    """A mutation score; `score_changed_only` leaves the unchanged mutants out of the denominator."""

    score_changed_only: Estimate | None = None


def mutation_score(
    killed: int, survived: int, unchanged: int = 0, *, design_effect: float = 1.0, conf: float = 0.95
) -> MutationScore:
    """Share of planted defects that the checks noticed.

    A mutant that changed nothing observable stays in the denominator: it was planted and not noticed.
    Only mutants that were not applied, were proven equivalent or got no verdict are to be left out
    by the caller.

    Parameters
    ----------
    killed, survived, unchanged : int
        Mutants noticed, not noticed, and not noticed because no output changed.
    design_effect : float
        Variance inflation where several mutants come from one rule.
    conf : float
        Confidence level of the Wilson interval.

    Returns
    -------
    MutationScore
        ``not_measured`` for no mutants.

    Raises
    ------
    ValueError
        If a count is negative or not whole.

    Examples
    --------
    >>> s = mutation_score(9, 1, 2)
    >>> s.value, s.score_changed_only.value
    (0.75, 0.9)
    """
    k, s = check.count("killed", killed), check.count("survived", survived)
    u = check.count("unchanged", unchanged)
    whole = wilson_interval(k, k + s + u, conf, design_effect=design_effect)
    changed = wilson_interval(k, k + s, conf, design_effect=design_effect)
    fields = {f.name: getattr(whole, f.name) for f in dataclasses.fields(Estimate)}
    return MutationScore(**fields, score_changed_only=changed)


def catch_rate(caught: int, planted: int, conf: float = 0.95) -> Estimate:
    """Share of planted defects that a judge caught (its sensitivity on planted defects).

    Meaningless without `false_alarm_rate` on clean controls: a judge that flags everything scores 1.

    Parameters
    ----------
    caught, planted : int
        Flagged and all planted defects.
    conf : float
        Confidence level of the Wilson interval.

    Returns
    -------
    Estimate
        ``not_measured`` when nothing was planted.

    Examples
    --------
    >>> catch_rate(19, 20).value
    0.95
    """
    hits, total = check.count_of("caught", caught, "planted", planted)
    return dataclasses.replace(wilson_interval(hits, total, conf), method="catch_rate_wilson")


def false_alarm_rate(flagged: int, clean: int, conf: float = 0.95) -> Estimate:
    """Share of clean controls that a judge flagged.

    Parameters
    ----------
    flagged, clean : int
        Flagged and all clean controls.
    conf : float
        Confidence level of the Wilson interval.

    Returns
    -------
    Estimate
        ``not_measured`` when there was no control.

    Examples
    --------
    >>> false_alarm_rate(0, 20).value
    0.0
    """
    hits, total = check.count_of("flagged", flagged, "clean", clean)
    return dataclasses.replace(wilson_interval(hits, total, conf), method="false_alarm_rate_wilson")
