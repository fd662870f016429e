"""Planning of floors, acceptance numbers and limits; the price of false alarms over many runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import FloatArray
from neverempty.stats.rates import Counts, clopper_pearson_interval, wilson_interval

BoundMethod = Literal["wilson", "clopper_pearson", "clopper_pearson_upper"]


def floor_min_passes(n: int, floor: float) -> int:
    """Fewest passes that do not breach a floor.

    Breach means x/n < floor. The floor is read as the decimal that was written, because
    ``ceil(0.07 * 100)`` is 8.

    Parameters
    ----------
    n : int
        Cases.
    floor : float
        Floor of the observed rate.

    Returns
    -------
    int
        ceil(floor * n) in rational arithmetic.

    Raises
    ------
    ValueError
        If n is no count or the floor lies outside [0, 1].

    Examples
    --------
    >>> floor_min_passes(100, 0.07), floor_min_passes(60, 0.95)
    (7, 57)
    """
    return math.ceil(check.decimal_fraction("floor", floor) * check.count("n", n))


def floor_breach_probability(
    n: int | Sequence[int] | NDArray[Any], floor: float, p: ArrayLike
) -> float | FloatArray:
    """Chance that the observed rate falls below a floor.

    A floor is a floor of the observed rate: where the true rate equals it, it is breached in a third
    to a half of all runs.

    Parameters
    ----------
    n : int or array of int
        Cases.
    floor : float
        Floor; breach means x/n < floor, strictly.
    p : float or array of float
        True rate.

    Returns
    -------
    float or array
        P(X < ceil(floor n)) for X ~ Bin(n, p), broadcast over n and p.

    Raises
    ------
    ValueError
        If n is no count, or floor or p lie outside [0, 1].

    Examples
    --------
    >>> round(floor_breach_probability(60, 0.95, 0.98), 3)
    0.032
    """
    from neverempty.stats import _binomial

    ns, ps = check.counts("n", n), check.probabilities("p", p)
    share = check.decimal_fraction("floor", floor)
    needed = np.array([math.ceil(share * k) for k in ns.ravel().tolist()], dtype=np.int64).reshape(ns.shape)
    chance = _binomial.at_most(needed - 1, ns, ps)
    return float(chance) if check.is_scalar(n, p) else chance


@dataclasses.dataclass(frozen=True)
class FloorPlan:
    """Sizes at which a floor tells a good rate from a bad one.

    Parameters
    ----------
    n_first : int or None
        Smallest size that works.
    n_stable : int or None
        Smallest size from which on every size works; chances form a saw-tooth in between.
    breach_good_at_first, breach_bad_at_first, breach_good_at_stable, breach_bad_at_stable : float or None
        Chance of a breach at those sizes when the rate is good, and when it is bad.
    good_sizes : tuple of int
        Sizes from `n_first` up to `n_stable` that work.
    """

    n_first: int | None
    breach_good_at_first: float | None
    breach_bad_at_first: float | None
    n_stable: int | None
    breach_good_at_stable: float | None
    breach_bad_at_stable: float | None
    good_sizes: tuple[int, ...] = ()


def floor_plan(
    floor: float, p_good: float, p_bad: float, alpha: float = 0.05, power: float = 0.8, *, max_n: int = 3000
) -> FloorPlan:
    """Find the sizes at which a floor rarely fails a good agent and mostly fails a bad one.

    Parameters
    ----------
    floor : float
        Floor of the observed rate.
    p_good, p_bad : float
        True rates to pass and to catch, p_bad < p_good.
    alpha : float
        Largest chance of a breach at p_good.
    power : float
        Smallest chance of a breach at p_bad.
    max_n : int
        Largest size to look at.

    Returns
    -------
    FloorPlan
        Fields are None where no size up to `max_n` works.

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1] or p_bad is not below p_good.

    Examples
    --------
    >>> plan = floor_plan(0.95, 0.98, 0.90)
    >>> plan.n_first, plan.n_stable
    (60, 80)
    """
    good, bad = check.probability("p_good", p_good), check.probability("p_bad", p_bad)
    if bad >= good:
        raise ValueError(f"p_bad must be below p_good; got p_bad={bad}, p_good={good}")
    level, target = check.open_unit("alpha", alpha), check.open_unit("power", power)
    sizes = np.arange(1, check.count("max_n", max_n, 1) + 1)
    at_good = np.asarray(floor_breach_probability(sizes, floor, good))
    at_bad = np.asarray(floor_breach_probability(sizes, floor, bad))
    works = (at_good <= level) & (at_bad >= target)
    failing = np.flatnonzero(~works)
    first = int(np.argmax(works)) if works.any() else None
    stable = int(failing[-1]) + 1 if failing.size else 0
    last = stable if stable < sizes.size else None

    def at(index: int | None, values: FloatArray) -> float | None:
        return None if index is None else float(values[index])

    upto = sizes.size if last is None else last + 1
    return FloorPlan(
        n_first=None if first is None else int(sizes[first]),
        breach_good_at_first=at(first, at_good),
        breach_bad_at_first=at(first, at_bad),
        n_stable=None if last is None else int(sizes[last]),
        breach_good_at_stable=at(last, at_good),
        breach_bad_at_stable=at(last, at_bad),
        good_sizes=tuple(sizes[:upto][works[:upto]].tolist()),
    )


@dataclasses.dataclass(frozen=True)
class AcceptancePlan:
    """Cases to run and failures to allow; None where no plan exists within the size looked at."""

    n: int | None
    c: int | None
    p_accept_good: float | None = None
    p_accept_bad: float | None = None


def acceptance_plan(
    p_good: float, p_bad: float, alpha: float = 0.05, beta: float = 0.1, *, max_n: int = 100_000
) -> AcceptancePlan:
    """Smallest number of cases n and of allowed failures c that separate two failure rates.

    Parameters
    ----------
    p_good, p_bad : float
        Failure rates to accept and to refuse, p_good < p_bad.
    alpha : float
        Largest chance to refuse a good agent.
    beta : float
        Largest chance to accept a bad one.
    max_n : int
        Largest size to look at.

    Returns
    -------
    AcceptancePlan
        P(failures <= c | good) >= 1 - alpha and P(failures <= c | bad) <= beta. With p_good = 0 this is
        the zero-failure plan n = ln(beta) / ln(1 - p_bad).

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1] or p_good is not below p_bad.

    References
    ----------
    Schilling and Neubauer (2017), Acceptance sampling in quality control, chapter 5.

    Examples
    --------
    >>> plan = acceptance_plan(0, 0.05)
    >>> plan.n, plan.c
    (45, 0)
    """
    from neverempty.stats import _binomial

    good, bad = check.probability("p_good", p_good), check.probability("p_bad", p_bad)
    if good >= bad:
        raise ValueError(f"p_good must be below p_bad; got p_good={good}, p_bad={bad}")
    keep, miss = 1.0 - check.open_unit("alpha", alpha), check.open_unit("beta", beta)
    n, limit = 1, check.count("max_n", max_n, 1)
    for c in range(limit):
        n = max(n, c + 1)
        while n <= limit and float(_binomial.at_most(c, n, bad)) > miss:
            n += 1
        if n > limit:
            break
        accepted = float(_binomial.at_most(c, n, good))
        if accepted >= keep:
            return AcceptancePlan(n, c, accepted, float(_binomial.at_most(c, n, bad)))
    return AcceptancePlan(None, None)


def clean_cases_for_limit(
    limit: float, conf: float = 0.95, method: BoundMethod = "wilson", *, hits: int = 0
) -> int:
    """Fewest cases at which the upper bound of a hit rate lies within a limit.

    Parameters
    ----------
    limit : float
        Limit on the upper bound, strictly between 0 and 1.
    conf : float
        Confidence level.
    method : {"wilson", "clopper_pearson", "clopper_pearson_upper"}
        Interval whose upper bound is meant; the last is one-sided.
    hits : int
        Hits to allow for.

    Returns
    -------
    int
        Number of cases.

    Raises
    ------
    ValueError
        If the limit or conf lies outside (0, 1), or the method is unknown.

    Examples
    --------
    >>> clean_cases_for_limit(0.02), clean_cases_for_limit(0.02, method="clopper_pearson_upper")
    (189, 149)
    """
    top, x = check.open_unit("limit", limit), check.count("hits", hits)
    check.choice("method", method, ("wilson", "clopper_pearson", "clopper_pearson_upper"))
    lo, hi = max(x, 1), max(x, 1)
    while upper_bounds([x], hi, conf, method)[0] > top:
        lo, hi = hi, 2 * hi
    while lo < hi:
        mid = (lo + hi) // 2
        lo, hi = (lo, mid) if upper_bounds([x], mid, conf, method)[0] <= top else (mid + 1, hi)
    return hi


def upper_bounds(x: Counts, n: int, conf: float, method: BoundMethod) -> FloatArray:
    """Upper bounds of the rates x/n by the named interval."""
    if method == "wilson":
        return wilson_interval(x, n, conf).hi
    side: Literal["upper", "two-sided"] = "upper" if method.endswith("upper") else "two-sided"
    return clopper_pearson_interval(x, n, conf, side).hi


@dataclasses.dataclass(frozen=True)
class RunLength:
    """How long a gate runs before it cries wolf: expected runs, and the chance of any alarm in `runs`."""

    p_alarm: float
    expected_runs: float | None
    runs: int
    p_any_alarm: float


def false_alarm_run_length(p_alarm: float, runs: int = 20) -> RunLength:
    """Price of a false-alarm probability over many runs without a change.

    Parameters
    ----------
    p_alarm : float
        P(FAIL or INCONCLUSIVE | nothing changed) of one run.
    runs : int
        Runs to look ahead, for instance nights.

    Returns
    -------
    RunLength
        `expected_runs` = 1 / p_alarm (None where no alarm can happen) and P(at least one in `runs`).

    Raises
    ------
    ValueError
        If p_alarm lies outside [0, 1] or runs < 1.

    Examples
    --------
    >>> round(false_alarm_run_length(0.05, 20).p_any_alarm, 2)
    0.64
    """
    p, ahead = check.probability("p_alarm", p_alarm), check.count("runs", runs, 1)
    return RunLength(p, 1.0 / p if p > 0.0 else None, ahead, 1.0 - (1.0 - p) ** ahead)
