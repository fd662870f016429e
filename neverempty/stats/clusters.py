"""Means of clustered values: repeats of a case, cases of a family."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray, IntArray, SmallSampleWarning

# Below this, cluster-robust intervals are known to be too short (Cameron and Miller 2015).
FEW_CLUSTERS = 30


@dataclasses.dataclass(frozen=True)
class ClusteredMean(Estimate):
    """A mean with cluster-robust standard errors; the interval is that of `se_cr1` with t(G - 1)."""

    n_clusters: int = 0
    se_iid: float | None = None
    se_cr0: float | None = None
    se_cr1: float | None = None
    icc: float | None = None
    design_effect: float | None = None


@dataclasses.dataclass(frozen=True)
class VarianceComponents(Estimate):
    """Variance within and between clusters; the value is ICC(1), negative where it is."""

    n_clusters: int = 0
    between: float | None = None
    within: float | None = None
    design_effect: float | None = None
    n_eff: float | None = None


def group(values: Iterable[Any], clusters: Iterable[Any]) -> tuple[FloatArray, IntArray, int, int]:
    """Return measured values, their cluster numbers, the number of clusters and of missing values."""
    floats, labels = check.measured("values", values), list(clusters)
    check.same_length(values=floats, clusters=labels)
    unknown = [i for i, c in enumerate(labels) if check.is_missing(c)]
    if unknown:
        raise ValueError(f"clusters[{unknown[0]}] is missing: every value needs its cluster")
    keep = ~np.isnan(floats)
    index: dict[Any, int] = {}
    codes = [index.setdefault(c, len(index)) for c, kept in zip(labels, keep, strict=True) if kept]
    return floats[keep], np.array(codes, dtype=np.int64), len(index), int((~keep).sum())


def _constant(values: FloatArray) -> bool:
    """Whether all values are equal; their mean may still differ from them by rounding."""
    return bool(values.min() == values.max())


def _anova(values: FloatArray, codes: IntArray, n_clusters: int) -> tuple[float, float, float] | None:
    """Between variance, within variance and ICC(1); None without repeated clusters or variation."""
    n = values.size
    if not 1 < n_clusters < n or _constant(values):
        return None
    sizes = np.bincount(codes).astype(float)
    means = np.bincount(codes, values) / sizes
    ms_between = float((sizes * (means - values.mean()) ** 2).sum()) / (n_clusters - 1)
    ms_within = float(((values - means[codes]) ** 2).sum()) / (n - n_clusters)
    size0 = (n - float((sizes**2).sum()) / n) / (n_clusters - 1)
    denominator = ms_between + (size0 - 1.0) * ms_within
    if denominator == 0.0:
        return None
    return (ms_between - ms_within) / size0, ms_within, (ms_between - ms_within) / denominator


def _errors(values: FloatArray, codes: IntArray, n_clusters: int) -> dict[str, float | None]:
    n = values.size
    deviations = np.zeros_like(values) if _constant(values) else values - values.mean()
    iid = math.sqrt(float((deviations**2).sum()) / (n * (n - 1))) if n > 1 else None
    if n_clusters < 2:
        return {"se_iid": iid, "se_cr0": None, "se_cr1": None, "design_effect": None}
    cr0 = math.sqrt(float((np.bincount(codes, deviations) ** 2).sum())) / n
    cr1 = cr0 * math.sqrt(n_clusters / (n_clusters - 1))
    return {"se_iid": iid, "se_cr0": cr0, "se_cr1": cr1, "design_effect": (cr1 / iid) ** 2 if iid else None}


def clustered_se(values: Iterable[Any], clusters: Iterable[Any], conf: float = 0.95) -> ClusteredMean:
    """Mean with the standard error of clustered values.

    The per-answer rate pooled over repeats is this mean with the case as cluster; a metric over
    families of cases has the family as cluster.

    Parameters
    ----------
    values : iterable of (float or None)
        Values; None and NaN are not measured: dropped and counted.
    clusters : iterable
        Cluster label of each value.
    conf : float
        Confidence level of the interval, mean -/+ t(G - 1) times the CR1 standard error.

    Returns
    -------
    ClusteredMean
        With `se_iid` (as if independent), `se_cr0` (sum over clusters of squared residual sums),
        `se_cr1` (times sqrt(G/(G-1))), `icc` and `design_effect` = (se_cr1 / se_iid)^2. One
        cluster, or no variation, or none between clusters: no interval, status ``degenerate``.

    Warns
    -----
    SmallSampleWarning
        With fewer than 30 clusters, where such intervals tend to be too short.

    Raises
    ------
    ValueError
        If lengths differ or a cluster is missing.

    References
    ----------
    Miller (2024), Adding error bars to evals, arXiv:2411.00640, appendix A; Cameron and Miller (2015),
    J. Human Resources 50, 317-372.

    Examples
    --------
    >>> values, cases = [1, 1, 0, 0] * 20, [i // 2 for i in range(80)]
    >>> e = clustered_se(values, cases)
    >>> e.value, round(e.se_cr1, 4), round(e.design_effect, 2)
    (0.5, 0.0801, 2.03)
    """
    kept, codes, n_clusters, missing = group(values, clusters)
    check.open_unit("conf", conf)
    blank = ClusteredMean(
        None,
        n=int(kept.size),
        n_missing=missing,
        conf=conf,
        method="clustered_cr1_t",
        status="not_measured",
        reason="no measured value",
        n_clusters=n_clusters,
    )
    if kept.size == 0:
        return blank
    return _with_errors(blank, kept, codes, conf)


def _with_errors(blank: ClusteredMean, values: FloatArray, codes: IntArray, conf: float) -> ClusteredMean:
    """Fill in mean, standard errors and interval."""
    from scipy import special

    n_clusters = blank.n_clusters
    errors, anova = _errors(values, codes, n_clusters), _anova(values, codes, n_clusters)
    mean, cr1 = float(values.mean()), errors["se_cr1"]
    icc = anova[2] if anova else None
    result = dataclasses.replace(blank, value=mean, icc=icc, status="degenerate", **errors)  # type: ignore[arg-type]
    if cr1 is None:
        return dataclasses.replace(result, reason="one cluster gives no standard error")
    if errors["se_iid"] == 0.0:
        reason = "all values are equal: no interval; take Wilson at n = clusters"
        return dataclasses.replace(result, reason=reason)
    if cr1 <= 1e-12 * (errors["se_iid"] or 0.0):
        reason = "deviations cancel within every cluster: a standard error of 0 gives no interval"
        return dataclasses.replace(result, reason=reason)
    half = float(special.stdtrit(n_clusters - 1, (1.0 + conf) / 2.0)) * cr1
    _warn_few(n_clusters)
    return dataclasses.replace(result, lo=mean - half, hi=mean + half, status="ok", reason="")


def _warn_few(n_clusters: int) -> None:
    if n_clusters < FEW_CLUSTERS:
        warnings.warn(
            f"{n_clusters} clusters: below {FEW_CLUSTERS} a cluster-robust interval tends to be too short",
            SmallSampleWarning,
            stacklevel=4,
        )


def variance_components(values: Iterable[Any], clusters: Iterable[Any]) -> VarianceComponents:
    """Split variance into between and within clusters, and count effective cases.

    Parameters
    ----------
    values : iterable of (float or None)
        Values; None and NaN are not measured.
    clusters : iterable
        Cluster label of each value: the case of a repeat, the family of a case.

    Returns
    -------
    VarianceComponents
        The value is the analysis-of-variance ICC(1), shown negative where it is. `design_effect` is
        that of the mean, (se_cr1 / se_iid)^2; `n_eff` is n over it, never above n. Without variation
        the status is ``degenerate`` and `n_eff` is the number of clusters, the cautious reading.

    Raises
    ------
    ValueError
        If lengths differ or a cluster is missing.

    References
    ----------
    Donner and Koval (1980), Biometrics 36, 19-25 (ICC); Kish (1965), Survey Sampling (design effect).

    Examples
    --------
    >>> v = variance_components([1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0], list("aaabbbcccdddeee"))
    >>> round(v.value, 2), round(v.n_eff, 2)
    (0.52, 6.81)
    """
    kept, codes, n_clusters, missing = group(values, clusters)
    n = int(kept.size)
    blank = VarianceComponents(
        None,
        n=n,
        n_missing=missing,
        method="icc1_anova",
        status="not_measured",
        reason="no measured value",
        n_clusters=n_clusters,
    )
    if n == 0:
        return blank
    anova, deff = _anova(kept, codes, n_clusters), _errors(kept, codes, n_clusters)["design_effect"]
    n_eff = float(n_clusters) if deff is None else n / max(deff, 1.0)
    result = dataclasses.replace(blank, design_effect=deff, n_eff=n_eff)
    if anova is not None:
        between, within, icc = anova
        parts = {"value": icc, "between": between, "within": within}
        return dataclasses.replace(result, status="ok", reason="", **parts)  # type: ignore[arg-type]
    if n_clusters == n > 1:
        return dataclasses.replace(
            result, n_eff=float(n), status="undefined", reason="every cluster has one value"
        )
    return dataclasses.replace(result, status="degenerate", reason="one cluster, or no variation at all")


def case_means(values: Iterable[Any], cases: Iterable[Any]) -> NDArray[np.float64]:
    """Mean of the measured values of each case, in order of appearance.

    Parameters
    ----------
    values : iterable of (float or None)
        One value per call; not measured ones are left out.
    cases : iterable
        Case of each call.

    Returns
    -------
    numpy.ndarray of float
        One mean per case with a measured value: the independent units of an analysis.

    Examples
    --------
    >>> case_means([1, 0, 1, None], ["a", "a", "b", "b"]).tolist()
    [0.5, 1.0]
    """
    kept, codes, n_clusters, _ = group(values, cases)
    return np.asarray(np.bincount(codes, kept, n_clusters) / np.bincount(codes, minlength=n_clusters))
