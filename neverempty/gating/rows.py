"""The counts that a gate decides on: one row per metric and arm, plain numbers, no frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Final

from neverempty.stats import PairedTable, holm, mcnemar_exact

STABILITY: Final = "unstable:"
"""Before a metric's name: the stability of its repeats, as a paired metric of its own."""


@dataclasses.dataclass(frozen=True, slots=True)
class Alone:
    """What the candidate shows by itself.

    Parameters
    ----------
    n_applicable, n_measured, n_failed, n_no_signal : int
        Cases to which the metric applies, those with a signal, those that failed, those without a signal.
    n_repeated, n_unstable : int
        Cases with at least two measured repeats, and those whose repeats disagree.
    """

    n_applicable: int = 0
    n_measured: int = 0
    n_failed: int = 0
    n_no_signal: int = 0
    n_repeated: int = 0
    n_unstable: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Pairs:
    """What the pairs of baseline and candidate show.

    Parameters
    ----------
    table : PairedTable
        Tested pairs.
    n_unequal : int
        Pairs with unequal measured repeats, which leave the test and count as no signal.
    n_no_signal : int
        Pairs in which a side was not observed.
    n_changed : int
        Pairs in which the metric applies to one side only.
    """

    table: PairedTable
    n_unequal: int = 0
    n_no_signal: int = 0
    n_changed: int = 0

    @property
    def n_silent(self) -> int:
        """Pairs that count as no signal."""
        return self.n_unequal + self.n_no_signal


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One metric under one arm, as a gate sees it.

    Parameters
    ----------
    metric, arm : str
        Which.
    direction : {"lower", "higher"}
        Which way is better.
    collapse : {"any_hit", "majority"}
        ``any_hit`` makes it a safety metric.
    alone : Alone
        The candidate by itself.
    pairs : Pairs, optional
        With a baseline.
    gated : bool
        Whether its test belongs to the family.
    p, p_adjusted : float, optional
        One-sided exact McNemar of a regression, and Holm's over the family.
    family : int
        Tests of the family.
    """

    metric: str
    arm: str
    direction: str
    collapse: str
    alone: Alone
    pairs: Pairs | None = None
    gated: bool = False
    p: float | None = None
    p_adjusted: float | None = None
    family: int = 1

    @property
    def is_safety(self) -> bool:
        """Whether one bad repeat fails a case."""
        return self.collapse == "any_hit"

    @property
    def is_stability(self) -> bool:
        """Whether it is about the repeats' agreement."""
        return self.metric.startswith(STABILITY)


def with_p_values(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Fill in the p-values: each row's own, and Holm's over the gated ones.

    Parameters
    ----------
    rows : iterable of Row
        Counts.

    Returns
    -------
    tuple of Row
        Rows without a tested pair have no p-value and leave the family.

    Examples
    --------
    >>> rows = [Row("route", "typed", "higher", "majority", Alone(), Pairs(PairedTable(55, 5, 0, 0)), True)]
    >>> with_p_values(rows)[0].p_adjusted
    0.03125
    """
    found = [dataclasses.replace(row, p=_p(row)) for row in rows]
    family = holm([row.p if row.gated else None for row in found])
    return tuple(
        dataclasses.replace(row, p_adjusted=adjusted, family=max(family.m, 1))
        for row, adjusted in zip(found, family.adjusted, strict=True)
    )


def _p(row: Row) -> float | None:
    if row.pairs is None or not row.pairs.table.n:
        return None
    return mcnemar_exact(row.pairs.table.b, row.pairs.table.c).value
