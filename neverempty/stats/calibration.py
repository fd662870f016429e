"""Calibration of stated confidence: reliability curve and expected calibration error."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray
from neverempty.stats.rates import wilson_interval


@dataclasses.dataclass(frozen=True)
class ReliabilityBin:
    """Answers whose confidence lies in [lo, hi), the last bin in [lo, hi]."""

    lo: float
    hi: float
    n: int
    mean_confidence: float | None
    accuracy: Estimate


def _known(confidence: Iterable[Any], correct: Iterable[Any]) -> tuple[FloatArray, FloatArray, int]:
    scores, hits = check.measured("confidence", confidence), check.binary("correct", correct)
    check.same_length(confidence=scores, correct=hits)
    keep = ~(np.isnan(scores) | np.isnan(hits))
    check.probabilities("confidence", scores[~np.isnan(scores)])
    return scores[keep], hits[keep], int((~keep).sum())


def reliability_curve(
    confidence: Iterable[Any], correct: Iterable[Any], n_bins: int = 10, conf: float = 0.95
) -> tuple[ReliabilityBin, ...]:
    """Accuracy by stated confidence, in bins of equal width.

    Parameters
    ----------
    confidence : iterable of (float or None)
        Stated confidence in [0, 1]; None = none stated.
    correct : iterable of {0, 1, None}
        1 = the answer is right; None = not measured.
    n_bins : int
        Bins. Their edges are i / n_bins; a value on an edge belongs to the bin above, 1 to the last.
    conf : float
        Confidence level of the Wilson intervals.

    Returns
    -------
    tuple of ReliabilityBin
        Empty bins are kept, with accuracy ``not_measured``.

    Raises
    ------
    ValueError
        If lengths differ, a confidence lies outside [0, 1], or n_bins < 1.

    Examples
    --------
    >>> bins = reliability_curve([0.95, 1.0, 0.6], [1, 1, 0])
    >>> [(b.lo, b.n, b.accuracy.value) for b in bins if b.n]
    [(0.6, 1, 0.0), (0.9, 2, 1.0)]
    """
    scores, hits, _ = _known(confidence, correct)
    count = check.count("n_bins", n_bins, 1)
    # Division, not np.linspace, whose 0.6000000000000001 would put 0.6 into the bin below.
    edges = np.arange(count + 1) / count
    index = np.minimum(np.searchsorted(edges, scores, side="right") - 1, count - 1)
    bins = []
    for i in range(count):
        inside = index == i
        n = int(inside.sum())
        mean = float(scores[inside].mean()) if n else None
        accuracy = wilson_interval(int(hits[inside].sum()), n, conf)
        bins.append(ReliabilityBin(float(edges[i]), float(edges[i + 1]), n, mean, accuracy))
    return tuple(bins)


def expected_calibration_error(
    confidence: Iterable[Any], correct: Iterable[Any], n_bins: int = 10
) -> Estimate:
    """Mean gap between stated confidence and accuracy, each bin weighted by its answers.

    Parameters
    ----------
    confidence, correct, n_bins
        As for `reliability_curve`.

    Returns
    -------
    Estimate
        Sum over bins of n_bin / n |accuracy - mean confidence|; ``not_measured`` without answers.

    Raises
    ------
    ValueError
        As for `reliability_curve`.

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015), AAAI; Guo et al. (2017), arXiv:1706.04599.

    Examples
    --------
    >>> round(expected_calibration_error([0.9, 0.9, 0.6, None], [1, 0, 1, 1]).value, 6)
    0.4
    """
    scores, hits, missing = _known(confidence, correct)
    method, n = "ece", int(scores.size)
    if n == 0:
        reason = "no answer has both a confidence and a verdict"
        return Estimate(None, n_missing=missing, method=method, status="not_measured", reason=reason)
    gaps = (
        b.n * abs(float(b.accuracy) - b.mean_confidence)
        for b in reliability_curve(scores, hits, n_bins)
        if b.mean_confidence is not None
    )
    return Estimate(sum(gaps) / n, n=n, n_missing=missing, method=method)
