"""Paired comparison when cases come in families, such as one scenario in several languages."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray, IntArray
from neverempty.stats.clusters import group
from neverempty.stats.resampling import BootstrapEstimate, bootstrap_counts


def _changes(
    base: Iterable[Any], cand: Iterable[Any], clusters: Iterable[Any]
) -> tuple[IntArray, IntArray, int]:
    """Net change and size of each family, and the number of pairs that were not measured."""
    before, after = check.binary("base", base), check.binary("cand", cand)
    check.same_length(base=before, cand=after)
    change, codes, families, missing = group(after - before, clusters)
    net = np.rint(np.bincount(codes, change, families)).astype(np.int64)
    return net, np.bincount(codes, minlength=families), missing


def _sign_sum(sizes: list[int]) -> FloatArray:
    """Distribution of the sum of the sizes with random signs, from -sum to +sum."""
    mass = np.ones(1)
    for size in sizes:
        wider = np.zeros(mass.size + 2 * size)
        wider[: mass.size] += mass / 2.0
        wider[2 * size :] += mass / 2.0
        mass = wider
    return mass


def cluster_sign_flip(base: Iterable[Any], cand: Iterable[Any], clusters: Iterable[Any]) -> Estimate:
    """One-sided test of a regression that flips whole families, exactly.

    Under the null hypothesis the net change of each family is as likely to be a gain as a loss. The
    distribution over all sign flips is enumerated by convolution, so no random number is needed. With
    families of one case it is the exact McNemar test.

    Parameters
    ----------
    base, cand : iterable of {0, 1, None}
        Outcomes of the same cases, 1 = pass; pairs with a missing side are dropped and counted.
    clusters : iterable
        Family of each case.

    Returns
    -------
    Estimate
        The p-value as `value`; `n` counts families whose net change is not 0. Without any, p is 1 and
        the status ``no_discordant_pairs``.

    Raises
    ------
    ValueError
        If lengths differ, an outcome is neither 0 nor 1, or a family is missing.

    References
    ----------
    Good (2005), Permutation, parametric and bootstrap tests of hypotheses, chapter 3.

    Examples
    --------
    >>> cluster_sign_flip([1] * 10, [0] * 10, "aabbccddee").value
    0.03125
    """
    net, _, missing = _changes(base, cand, clusters)
    moved = [int(v) for v in net if v]
    method = "cluster_sign_flip_exact"
    if not moved:
        reason = "no family changed on balance, so p is 1"
        return Estimate(1.0, n_missing=missing, method=method, status="no_discordant_pairs", reason=reason)
    mass = _sign_sum([abs(v) for v in moved])
    observed = sum(moved) + sum(abs(v) for v in moved)
    return Estimate(
        min(float(mass[: observed + 1].sum()), 1.0), n=len(moved), n_missing=missing, method=method
    )


def cluster_bootstrap_diff(
    base: Iterable[Any],
    cand: Iterable[Any],
    clusters: Iterable[Any],
    n_resamples: int = 10_000,
    rng: check.Rng = check.DEFAULT_SEED,
    *,
    conf: float = 0.95,
) -> BootstrapEstimate:
    """Difference of paired pass rates with a bootstrap interval over families.

    Parameters
    ----------
    base, cand : iterable of {0, 1, None}
        Outcomes of the same cases, 1 = pass; pairs with a missing side are dropped and counted.
    clusters : iterable
        Family of each case; whole families are resampled.
    n_resamples : int
        Resamples.
    rng : int or numpy.random.Generator
        Seed or generator.
    conf : float
        Confidence level.

    Returns
    -------
    BootstrapEstimate
        Candidate minus baseline; `n` counts families. With equal replicates (nothing changed) the
        status is ``degenerate``: take Newcombe's interval.

    Raises
    ------
    ValueError
        If lengths differ, an outcome is neither 0 nor 1, or a family is missing.

    References
    ----------
    Field and Welsh (2007), J. R. Stat. Soc. B 69, 369-390.

    Examples
    --------
    >>> e = cluster_bootstrap_diff([1] * 60, [1] * 54 + [0] * 6, [i // 2 for i in range(60)], rng=1)
    >>> round(e.value, 2), round(e.lo, 2), round(e.hi, 2), e.n
    (-0.1, -0.23, 0.0, 30)
    """
    net, sizes, missing = _changes(base, cand, clusters)
    patterns = Counter(zip(net.tolist(), sizes.tolist(), strict=True))
    changes = np.array([change for change, _ in patterns], dtype=float)
    cases = np.array([size for _, size in patterns], dtype=float)

    def difference(counts: IntArray) -> FloatArray:
        return np.asarray((counts @ changes) / (counts @ cases))

    result = bootstrap_counts(list(patterns.values()), difference, n_resamples, rng, conf=conf)
    result = dataclasses.replace(result, n_missing=missing, method="cluster_bootstrap_percentile")
    if result.se == 0.0:
        reason = "all replicates are equal: take a Newcombe interval"
        return dataclasses.replace(result, lo=None, hi=None, status="degenerate", reason=reason)
    return result
