"""Comparison of two runs over several metrics: one family of tests, and descriptive slices."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate
from neverempty.stats.multiplicity import adjust
from neverempty.stats.paired import PairedTable, mcnemar_exact, min_clean_flips, paired_table
from neverempty.stats.paired_interval import DiffMethod, paired_diff_interval

Runs = Mapping[str, Mapping[Any, Any]]


@dataclasses.dataclass(frozen=True)
class MetricComparison:
    """One metric, overall or in a slice.

    Parameters
    ----------
    metric : str
        Name of the metric.
    slice : str or None
        Name of the slice; None for all cases.
    table : PairedTable
        Counts of pairs.
    p : float or None
        One-sided p-value of a regression; None where nothing was measured.
    p_adjusted : float or None
        Holm-adjusted over the family; None outside it.
    diff : Estimate
        Candidate minus baseline pass rate.
    cannot_reject : bool
        Whether the pairs are fewer than the clean flips that the adjusted level needs.
    """

    metric: str
    slice: str | None
    table: PairedTable
    p: float | None
    p_adjusted: float | None
    diff: Estimate
    cannot_reject: bool


def _one(
    metric: str,
    part: str | None,
    table: PairedTable,
    needed: int,
    conf: float,
    method: DiffMethod,
    midp: bool,
) -> MetricComparison:
    p = mcnemar_exact(table.b, table.c, midp=midp).value if table.n else None
    diff = paired_diff_interval(table, conf, method)
    return MetricComparison(metric, part, table, p, None, diff, table.n < needed)


def compare(
    base: Runs,
    cand: Runs,
    *,
    slices: Mapping[str, Collection[Any]] | None = None,
    declared: Collection[str] = (),
    alpha: float = 0.05,
    conf: float = 0.95,
    method: DiffMethod = "newcombe",
    midp: bool = False,
) -> tuple[MetricComparison, ...]:
    """Compare two runs on the same cases, metric by metric.

    The metrics over all cases form the gating family, adjusted by Holm; a slice is descriptive and
    has no adjusted p-value unless it is declared beforehand.

    Parameters
    ----------
    base, cand : mapping of str to mapping
        Metric to outcome by case id: 1 = pass, 0 = fail, None = not measured.
    slices : mapping of str to collection, optional
        Case ids of each slice.
    declared : collection of str
        Slices that belong to the family.
    alpha : float
        Level of the family.
    conf, method
        Of the intervals of the difference.
    midp : bool
        Mid-p tests.

    Returns
    -------
    tuple of MetricComparison
        Metrics as in `base`, each followed by its slices; without a measured pair p is None.

    Raises
    ------
    ValueError
        If the runs have other metrics or cases, or an undeclared slice is named.

    Examples
    --------
    >>> old, new = {i: 1 for i in range(20)}, {i: int(i > 5) for i in range(20)}
    >>> r = compare({"m": old}, {"m": new}, slices={"few": range(4)})
    >>> [(c.slice, c.p, c.p_adjusted, c.cannot_reject) for c in r]
    [(None, 0.015625, 0.015625, False), ('few', 0.0625, None, True)]
    """
    parts = dict(slices or {})
    _same_metrics(base, cand, set(declared) - set(parts))
    check.open_unit("alpha", alpha)
    tables = _tables(base, cand, parts)
    in_family = [part is None or part in declared for _, part, _ in tables]
    family = sum(1 for (*_, table), inside in zip(tables, in_family, strict=True) if inside and table.n)
    needed = {True: min_clean_flips(alpha, max(family, 1), midp), False: min_clean_flips(alpha, 1, midp)}
    rows = [
        _one(*entry, needed[inside], conf, method, midp)
        for entry, inside in zip(tables, in_family, strict=True)
    ]
    return _adjusted(rows, in_family)


def _same_metrics(base: Runs, cand: Runs, unknown: set[str]) -> None:
    if set(base) != set(cand):
        raise ValueError(f"metrics stand in one run only: {sorted(set(base) ^ set(cand))}")
    if unknown:
        raise ValueError(f"declared slices are unknown: {sorted(unknown)}")


def _adjusted(rows: list[MetricComparison], in_family: list[bool]) -> tuple[MetricComparison, ...]:
    """Fill in the adjusted p-values of the family."""
    family = adjust([row.p if inside else None for row, inside in zip(rows, in_family, strict=True)])
    return tuple(dataclasses.replace(row, p_adjusted=p) for row, p in zip(rows, family.adjusted, strict=True))


def _tables(
    base: Runs, cand: Runs, parts: Mapping[str, Collection[Any]]
) -> list[tuple[str, str | None, PairedTable]]:
    """Pairs of every metric, overall and then by slice."""
    out: list[tuple[str, str | None, PairedTable]] = []
    for metric, before in base.items():
        after = cand[metric]
        out.append((metric, None, paired_table(before, after)))
        for name, ids in parts.items():
            inside = set(ids)
            out.append((metric, name, paired_table(_only(before, inside), _only(after, inside))))
    return out


def _only(outcomes: Mapping[Any, Any], ids: set[Any]) -> dict[Any, Any]:
    return {case: value for case, value in outcomes.items() if case in ids}
