"""Abstention: risk among the answered cases by coverage, and the coverage at a wanted risk."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray
from neverempty.stats.rates import clopper_pearson_interval, wilson_interval


@dataclasses.dataclass(frozen=True)
class RiskPoint:
    """One threshold: cases at or above it are accepted, ties together."""

    threshold: float
    n_accepted: int
    coverage: float
    errors: int
    selective_risk: float
    generalized_risk: float


@dataclasses.dataclass(frozen=True)
class RiskCoverage:
    """Risk-coverage curve of a system that may abstain.

    Parameters
    ----------
    n, n_answered, n_missing : int
        Cases, those with a confidence, and those left out because their error was not measured.
    coverage_max : float or None
        Answered share; None without cases.
    aurc, augrc : float or None
        Area under the selective risk (mean over i of the expected risk of the i most confident
        answers) and under the generalized risk; None when nothing was answered.
    curve : tuple of RiskPoint
        By falling threshold. Coverage and generalized risk are shares of all cases.
    """

    n: int
    n_answered: int
    n_missing: int
    coverage_max: float | None
    aurc: float | None
    augrc: float | None
    curve: tuple[RiskPoint, ...]


def _answered(confidence: Iterable[Any], error: Iterable[Any]) -> tuple[FloatArray, FloatArray, int, int]:
    """Return answered scores and errors by falling score, the number of cases and of unmeasured ones."""
    scores, errors = check.measured("confidence", confidence), check.binary("error", error)
    check.same_length(confidence=scores, error=errors)
    answered = ~np.isnan(scores)
    unmeasured = int((answered & np.isnan(errors)).sum())
    keep = answered & ~np.isnan(errors)
    order = np.argsort(-scores[keep], kind="stable")
    return scores[keep][order], errors[keep][order], scores.size - unmeasured, unmeasured


def risk_coverage(confidence: Iterable[Any], error: Iterable[Any]) -> RiskCoverage:
    """Risk among accepted answers for every threshold on the confidence.

    Parameters
    ----------
    confidence : iterable of (float or None)
        Stated confidence; None = abstained.
    error : iterable of {0, 1, None}
        1 = the answer is wrong; None = not measured. Ignored for abstentions.

    Returns
    -------
    RiskCoverage
        Curve and areas. Equal confidences enter together; inside a tie the order is random, and
        `aurc` is the expectation over it.

    Raises
    ------
    ValueError
        If lengths differ or an error is neither 0 nor 1.

    References
    ----------
    Geifman and El-Yaniv (2017), Selective classification for deep neural networks, arXiv:1705.08500;
    Traub et al. (2024), AUGRC, arXiv:2407.01032.

    Examples
    --------
    >>> r = risk_coverage([0.9, 0.8, None], [0, 1, 1])
    >>> r.aurc, r.augrc, [(p.coverage, p.selective_risk) for p in r.curve][0]
    (0.25, 0.125, (0.3333333333333333, 0.0))
    """
    scores, errors, n, unmeasured = _answered(confidence, error)
    answered = int(scores.size)
    if answered == 0:
        return RiskCoverage(n, 0, unmeasured, 0.0 if n else None, None, None, ())
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)) + 1
    totals = np.cumsum(errors)[ends - 1]
    curve = tuple(
        RiskPoint(float(scores[k - 1]), int(k), int(k) / n, int(e), float(e) / int(k), float(e) / n)
        for k, e in zip(ends, totals, strict=True)
    )
    starts, before = np.append(0, ends[:-1]), np.append(0.0, totals[:-1])
    sizes = ends - starts
    # Expected errors among the i most confident: those before the tie, and its own share of errors.
    rank = np.arange(1, answered + 1)
    within = rank - np.repeat(starts, sizes)
    expected = np.repeat(before, sizes) + within * np.repeat((totals - before) / sizes, sizes)
    widths, heights = sizes / answered, (before + totals) / (2.0 * answered)
    return RiskCoverage(
        n=n,
        n_answered=answered,
        n_missing=unmeasured,
        coverage_max=answered / n,
        aurc=float((expected / rank).mean()),
        augrc=float((widths * heights).sum()),
        curve=curve,
    )


def _area(name: str, value: float | None, r: RiskCoverage) -> Estimate:
    if value is None:
        reason = "no case was answered"
        return Estimate(None, n_missing=r.n_missing, method=name, status="undefined", reason=reason)
    return Estimate(value, n=r.n_answered, n_missing=r.n_missing, method=name)


def aurc(confidence: Iterable[Any], error: Iterable[Any]) -> Estimate:
    """Area under the risk-coverage curve: smaller is better.

    Parameters
    ----------
    confidence, error : iterable
        As for `risk_coverage`.

    Returns
    -------
    Estimate
        Point estimate; undefined when nothing was answered.

    Examples
    --------
    >>> aurc([0.9, 0.8], [0, 1]).value
    0.25
    """
    r = risk_coverage(confidence, error)
    return _area("aurc", r.aurc, r)


def augrc(confidence: Iterable[Any], error: Iterable[Any]) -> Estimate:
    """Area under the generalized risk curve: the chance of an undetected error, averaged over coverage.

    Parameters
    ----------
    confidence, error : iterable
        As for `risk_coverage`.

    Returns
    -------
    Estimate
        Point estimate; undefined when nothing was answered.

    Examples
    --------
    >>> augrc([0.9, 0.8], [0, 1]).value
    0.125
    """
    r = risk_coverage(confidence, error)
    return _area("augrc", r.augrc, r)


def selective_risk(
    confidence: Iterable[Any], error: Iterable[Any], threshold: float | None = None, conf: float = 0.95
) -> Estimate:
    """Error rate among the answers accepted at a threshold, with its Wilson interval.

    Parameters
    ----------
    confidence, error : iterable
        As for `risk_coverage`.
    threshold : float, optional
        Least confidence to accept; without it every answer is accepted.
    conf : float
        Confidence level.

    Returns
    -------
    Estimate
        ``undefined`` at coverage 0: a system that answers nothing has no risk, not a risk of 0.

    Examples
    --------
    >>> selective_risk([0.9, 0.8, None], [0, 1, 1]).value
    0.5
    """
    scores, errors, _, unmeasured = _answered(confidence, error)
    accepted = errors if threshold is None else errors[scores >= check.finite("threshold", threshold)]
    interval = wilson_interval(int(accepted.sum()), int(accepted.size), conf)
    changes: dict[str, Any] = {"n_missing": unmeasured, "method": "selective_risk_wilson"}
    if not accepted.size:
        changes |= {"status": "undefined", "reason": "coverage is 0: no answer was accepted"}
    return dataclasses.replace(interval, **changes)


@dataclasses.dataclass(frozen=True)
class CoverageAtRisk(Estimate):
    """Largest certified coverage; `risk_bound` is the upper bound of the risk at `threshold`."""

    threshold: float | None = None
    risk_bound: float | None = None
    n_accepted: int = 0


def coverage_at_risk(
    confidence: Iterable[Any], error: Iterable[Any], max_risk: float, conf: float = 0.95, *, grid: int = 10
) -> CoverageAtRisk:
    """Largest coverage whose risk is certified to stay within a limit.

    Thresholds are those that accept 1/grid, 2/grid, ... of the answers, fixed before errors are looked
    at; each gets a one-sided Clopper-Pearson bound at level (1 - conf) / grid.

    Parameters
    ----------
    confidence, error : iterable
        As for `risk_coverage`.
    max_risk : float
        Wanted risk among accepted answers.
    conf : float
        Confidence that the certified threshold keeps the limit.
    grid : int
        Thresholds tried.

    Returns
    -------
    CoverageAtRisk
        Coverage among all cases. Status ``cannot_reject`` and coverage 0 when no threshold can be
        certified.

    Raises
    ------
    ValueError
        If max_risk lies outside [0, 1] or grid < 1.

    References
    ----------
    Geifman and El-Yaniv (2017), arXiv:1705.08500 (selection with guaranteed risk).

    Examples
    --------
    >>> c = coverage_at_risk([i / 100 for i in range(100)], [1] * 30 + [0] * 70, max_risk=0.1)
    >>> c.value, c.threshold
    (0.7, 0.3)
    """
    limit, cells = check.probability("max_risk", max_risk), check.count("grid", grid, 1)
    check.open_unit("conf", conf)
    scores, errors, n, unmeasured = _answered(confidence, error)
    blank = CoverageAtRisk(
        None,
        n=n,
        n_missing=unmeasured,
        conf=conf,
        method="sgr_clopper_pearson",
        status="not_measured",
        reason="no case",
    )
    return _certify(blank, scores, errors, limit, cells) if n else blank


def _certify(
    blank: CoverageAtRisk, scores: FloatArray, errors: FloatArray, limit: float, cells: int
) -> CoverageAtRisk:
    """Try the grid of thresholds and keep the last one whose bound holds."""
    level = 1.0 - (1.0 - (blank.conf or 0.0)) / cells
    reason = f"no threshold keeps the risk within {limit:g} at {blank.conf:g}"
    best = dataclasses.replace(blank, value=0.0, status="cannot_reject", reason=reason)
    totals = np.cumsum(errors)
    for cell in range(1, cells + 1) if scores.size else ():
        threshold = float(scores[math.ceil(cell * scores.size / cells) - 1])
        accepted = int((scores >= threshold).sum())
        bound = clopper_pearson_interval(int(totals[accepted - 1]), accepted, level, "upper").hi
        if bound is not None and bound <= limit:
            found = {"threshold": threshold, "risk_bound": bound, "n_accepted": accepted}
            best = dataclasses.replace(blank, value=accepted / blank.n, status="ok", reason="", **found)  # type: ignore[arg-type]
    return best
