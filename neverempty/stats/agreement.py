"""Agreement of two or more raters on declared categories, and what it says about a judge."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from neverempty.stats import _validate as check
from neverempty.stats._estimate import DegenerateTableWarning, Estimate, FloatArray, IntArray
from neverempty.stats.rates import wilson_interval
from neverempty.stats.resampling import BootstrapEstimate, bootstrap_counts


@dataclasses.dataclass(frozen=True)
class ConfusionMatrix:
    """Labels of a judge against a human's, on declared categories.

    Parameters
    ----------
    labels : tuple
        Declared categories, in the order of rows and columns.
    counts : tuple of tuple of int
        Rows are the human's labels, columns the judge's.
    judge_abstained : dict
        Human label to number of items on which the judge gave none: a count of its own.
    human_missing : int
        Items without a human label, in no other count.
    """

    labels: tuple[Any, ...]
    counts: tuple[tuple[int, ...], ...]
    judge_abstained: dict[Any, int]
    human_missing: int

    @property
    def n(self) -> int:
        """Items labelled by both."""
        return sum(map(sum, self.counts))


def confusion_matrix(human: Iterable[Any], judge: Iterable[Any], labels: Sequence[Any]) -> ConfusionMatrix:
    """Cross-tabulate two raters on declared labels.

    Parameters
    ----------
    human, judge : iterable
        Labels in the same order; None means not labelled by the human, or abstained by the judge.
    labels : sequence
        Declared categories: never inferred, so an unused one keeps its row and column.

    Returns
    -------
    ConfusionMatrix
        With abstentions and missing labels counted apart.

    Raises
    ------
    ValueError
        If lengths differ, labels repeat, or a label was not declared.

    Examples
    --------
    >>> m = confusion_matrix(["a", "b", "b", "a"], ["a", "a", None, "a"], ["a", "b"])
    >>> m.counts, m.judge_abstained, m.n
    (((2, 0), (1, 0)), {'b': 1}, 3)
    """
    left, right, names = list(human), list(judge), tuple(labels)
    check.same_length(human=left, judge=right)
    if len(set(names)) < max(len(names), 2):
        raise ValueError(f"labels must be at least two different categories; got {names!r}")
    for rater, given in (("human", left), ("judge", right)):
        for i, label in enumerate(given):
            if not check.is_missing(label) and label not in names:
                raise ValueError(f"{rater}[{i}] is {label!r}, which is not among the declared {names!r}")
    known = [(a, b) for a, b in zip(left, right, strict=True) if not check.is_missing(a)]
    cells = Counter((a, b) for a, b in known if not check.is_missing(b))
    abstained = Counter(a for a, b in known if check.is_missing(b))
    return ConfusionMatrix(
        labels=names,
        counts=tuple(tuple(cells[a, b] for b in names) for a in names),
        judge_abstained={a: abstained[a] for a in names if abstained[a]},
        human_missing=len(left) - len(known),
    )


def square_table(table: ConfusionMatrix | ArrayLike) -> IntArray:
    """Return a table of counts as a square array, rows = human, columns = judge."""
    counts = check.counts("table", table.counts if isinstance(table, ConfusionMatrix) else table)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise ValueError(f"table must be square with at least two categories; got shape {counts.shape}")
    return counts


def _kappas(tables: IntArray) -> FloatArray:
    """Kappa of each table, NaN where chance agreement is 1.

    One division of whole numbers, so that a kappa that is 0.6 reaches a threshold of 0.6.
    """
    n = tables.sum(axis=(1, 2))
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    rest = np.where(chance == n * n, np.nan, n * n - chance)
    return np.asarray((n * np.trace(tables, axis1=1, axis2=2) - chance) / rest)


def kappa_arrays(counts: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Observed and chance agreement, kappa and n times its variance of tables (tables x q x q).

    Kappa and variance are NaN where chance agreement is 1. The variance is that of Fleiss, Cohen and
    Everitt (1969) for a kappa that need not be 0.
    """
    n, kappa = counts.sum(axis=(1, 2)), _kappas(counts)
    p = counts / np.maximum(n, 1)[:, None, None]
    r, c = p.sum(axis=2), p.sum(axis=1)
    # From the counts: shares that add up to 0.999... would hide perfect agreement.
    po, pe = np.einsum("tii->t", counts) / np.maximum(n, 1), (r * c).sum(axis=1)
    rest = np.where(np.isnan(kappa), np.nan, 1.0 - pe)
    diagonal = np.einsum("tii->ti", p)
    agree = (diagonal * (rest[:, None] - (r + c) * (1.0 - po)[:, None]) ** 2).sum(axis=1)
    cross = p * (c[:, :, None] + r[:, None, :]) ** 2
    disagree = cross.sum(axis=(1, 2)) - np.einsum("tii->t", cross)
    variance = agree + (1.0 - po) ** 2 * disagree - (po * pe - 2.0 * pe + po) ** 2
    return po, pe, kappa, np.maximum(variance, 0.0) / rest**4


@dataclasses.dataclass(frozen=True)
class Kappa(Estimate):
    """Cohen's kappa; `lo` and `hi` are cut to [-1, 1] for display, the unclipped bounds are kept."""

    po: float | None = None
    pe: float | None = None
    se: float | None = None
    se0: float | None = None
    kappa_max: float | None = None
    lo_unclipped: float | None = None
    hi_unclipped: float | None = None


def cohen_kappa(table: ConfusionMatrix | ArrayLike, conf: float = 0.95) -> Kappa:
    """Cohen's kappa with the large-sample interval of Fleiss, Cohen and Everitt.

    Parameters
    ----------
    table : ConfusionMatrix or square array of int
        Rows = human, columns = judge, one per declared category.
    conf : float
        Confidence level.

    Returns
    -------
    Kappa
        With observed (`po`) and chance agreement (`pe`), the standard errors off and under kappa = 0
        (`se`, `se0`) and the largest kappa that the margins allow. Chance agreement 1 (one category
        only): ``undefined``. Perfect agreement: ``degenerate``, lower bound from Wilson's for po. One
        rater constant: ``degenerate``, kappa 0 and no interval.

    Warns
    -----
    DegenerateTableWarning
        When one rater used a single category.

    Raises
    ------
    ValueError
        If the table is not square or holds anything but counts.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46; Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72,
    323-327.

    Examples
    --------
    >>> k = cohen_kappa([[106, 10, 4], [22, 28, 10], [2, 12, 6]])
    >>> round(k.value, 3), round(k.se, 3), round(k.lo, 3)
    (0.429, 0.054, 0.323)
    """
    counts, z = square_table(table), check.z_value(conf)
    n = int(counts.sum())
    blank = Kappa(None, n=n, conf=conf, method="cohen_kappa_fce", status="not_measured", reason="no item")
    if n == 0:
        return blank
    po, pe, kappa, variance = (float(part[0]) for part in kappa_arrays(counts[np.newaxis]))
    if math.isnan(kappa):
        reason = "only one category occurs: agreement by chance is certain"
        return dataclasses.replace(blank, po=po, pe=pe, status="undefined", reason=reason)
    # Rounding leaves about 1e-16 where the variance cancels to 0.
    se = math.sqrt(variance / n) if variance > 1e-12 else 0.0
    se0, largest = _from_margins(counts, pe)
    result = dataclasses.replace(blank, value=kappa, po=po, pe=pe, se=se, se0=se0, kappa_max=largest)
    if se == 0.0:
        return _degenerate(result, counts, conf)
    lo, hi = kappa - z * se, kappa + z * se
    clipped = dataclasses.replace(result, lo=max(lo, -1.0), hi=min(hi, 1.0), status="ok", reason="")
    return dataclasses.replace(clipped, lo_unclipped=lo, hi_unclipped=hi)


def _from_margins(counts: IntArray, pe: float) -> tuple[float, float]:
    """Return the standard error under kappa = 0, and the largest kappa that the margins allow."""
    n = int(counts.sum())
    r, c = counts.sum(axis=1) / n, counts.sum(axis=0) / n
    spread = max(pe + pe * pe - float((r * c * (r + c)).sum()), 0.0)
    largest = float(np.minimum(r, c).sum()) - pe
    return math.sqrt(spread / n) / (1.0 - pe), largest / (1.0 - pe)


def _degenerate(result: Kappa, counts: IntArray, conf: float) -> Kappa:
    if result.po == 1.0 and result.pe is not None:
        po_lo = wilson_interval(result.n, result.n, conf).lo or 0.0
        lo = (po_lo - result.pe) / (1.0 - result.pe)
        reason = "perfect agreement has standard error 0: the lower bound is Wilson's for the agreement"
        return dataclasses.replace(
            result,
            lo=max(lo, -1.0),
            hi=1.0,
            lo_unclipped=lo,
            hi_unclipped=1.0,
            status="degenerate",
            reason=reason,
        )
    if 1 in ((counts.sum(axis=0) > 0).sum(), (counts.sum(axis=1) > 0).sum()):
        warnings.warn(
            "one rater used a single category: kappa is 0 by construction",
            DegenerateTableWarning,
            stacklevel=3,
        )
        reason = "one rater is constant: kappa is 0 whatever the agreement, and has no interval"
    else:
        reason = "the large-sample variance is 0: no interval"
    return dataclasses.replace(result, status="degenerate", reason=reason)


def kappa_bootstrap(
    table: ConfusionMatrix | ArrayLike,
    n_resamples: int = 10_000,
    rng: check.Rng = check.DEFAULT_SEED,
    *,
    conf: float = 0.95,
    method: Literal["percentile", "bca"] = "bca",
) -> BootstrapEstimate:
    """Bootstrap of Cohen's kappa, to be shown beside the large-sample interval below 100 items.

    Parameters
    ----------
    table : ConfusionMatrix or square array of int
        Rows = human, columns = judge.
    n_resamples : int
        Resamples, each one multinomial draw of the table.
    rng : int or numpy.random.Generator
        Seed or generator.
    conf : float
        Confidence level.
    method : {"bca", "percentile"}
        Interval.

    Returns
    -------
    BootstrapEstimate
        Replicates in which one category is left are undefined; above 5 % of them there is no interval.

    Raises
    ------
    ValueError
        If the table is not square or holds anything but counts.

    Examples
    --------
    >>> kappa_bootstrap([[8, 0, 0], [0, 1, 0], [0, 0, 0]], 2000).status
    'undefined'
    """
    counts = square_table(table)
    q = counts.shape[0]

    def kappas(draws: IntArray) -> FloatArray:
        return _kappas(draws.reshape(-1, q, q))

    return bootstrap_counts(counts.ravel().tolist(), kappas, n_resamples, rng, conf=conf, method=method)


@dataclasses.dataclass(frozen=True)
class ClassScore:
    """How a judge does on one category: precision of its label, recall of the human's."""

    label: Any
    precision: Estimate
    recall: Estimate


def class_scores(matrix: ConfusionMatrix, conf: float = 0.95) -> tuple[ClassScore, ...]:
    """Precision and recall of a judge on each category, with Wilson intervals.

    Parameters
    ----------
    matrix : ConfusionMatrix
        Labels of judge and human.
    conf : float
        Confidence level.

    Returns
    -------
    tuple of ClassScore
        One per declared label; ``not_measured`` where a label was never given.

    Examples
    --------
    >>> m = confusion_matrix(["a", "b", "b"], ["a", "a", "b"], ["a", "b"])
    >>> [(s.label, s.precision.value, s.recall.value) for s in class_scores(m)]
    [('a', 0.5, 1.0), ('b', 1.0, 0.5)]
    """
    counts = square_table(matrix)
    return tuple(
        ClassScore(
            label,
            precision=wilson_interval(int(counts[i, i]), int(counts[:, i].sum()), conf),
            recall=wilson_interval(int(counts[i, i]), int(counts[i].sum()), conf),
        )
        for i, label in enumerate(matrix.labels)
    )


@dataclasses.dataclass(frozen=True)
class JudgeTrust:
    """What may be published of a judge, and why."""

    level: Literal["trusted", "provisional", "cut", "not_measured"]
    reason: str


def judge_trust(kappa: Estimate, min_kappa: float = 0.6, min_n: int = 30) -> JudgeTrust:
    """Decide whether a judge's numbers may be shown.

    The point estimate alone is a noisy gate: with 30 labels a judge of true kappa 0.7 is cut in 22 %
    of all calibrations, and one of 0.5 passes in 23 %.

    Parameters
    ----------
    kappa : Estimate
        From `cohen_kappa`.
    min_kappa : float
        Threshold.
    min_n : int
        Labels below which nothing is said: pool slices, or ask for 100.

    Returns
    -------
    JudgeTrust
        "trusted" (lower bound at or above the threshold), "provisional" (the estimate is), "cut"
        (it is not) or "not_measured".

    Raises
    ------
    ValueError
        If min_kappa is not finite or min_n is no count.

    Examples
    --------
    >>> judge_trust(cohen_kappa([[48, 1, 1], [2, 45, 3], [0, 1, 49]])).level
    'trusted'
    """
    least, threshold = check.count("min_n", min_n), check.finite("min_kappa", min_kappa)
    if kappa.n < least:
        return JudgeTrust("not_measured", f"{kappa.n} labels are too few to say (at least {least})")
    if kappa.value is None:
        return JudgeTrust("not_measured", kappa.reason)
    if kappa.value < threshold:
        return JudgeTrust("cut", f"kappa {kappa.value:.3f} is below {threshold:g}")
    if kappa.lo is None:
        return JudgeTrust("provisional", f"kappa {kappa.value:.3f} has no interval: {kappa.reason}")
    if kappa.lo < threshold:
        return JudgeTrust("provisional", f"the lower bound {kappa.lo:.3f} is below {threshold:g}")
    return JudgeTrust("trusted", f"the lower bound {kappa.lo:.3f} reaches {threshold:g}")
