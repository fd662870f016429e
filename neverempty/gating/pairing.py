"""Outcomes to counts: the pairs of two frames, all metrics at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neverempty.frames.schema import VERDICTS
from neverempty.gating.rows import STABILITY, Alone, Pairs, Row
from neverempty.metrics.groups import Groups, Ints, group_rows
from neverempty.stats import PairedTable

KEYS: Final = ("suite", "case_id", "arm", "metric")
_PASS, _FAIL, _NO_SIGNAL, _NOT_APPLICABLE = range(4)
# What becomes of a pair: the four cells of the table, then the ways out of it.
CELLS: Final = (
    "both_pass",
    "regressed",
    "improved",
    "both_fail",
    "unequal_repeats",
    "no_signal",
    "applies_to_one_side",
    "not_applicable",
)
_UNEQUAL, _SILENT, _CHANGED, _APART = 4, 5, 6, 7


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The columns of an outcomes frame that a gate reads, as arrays.

    Parameters
    ----------
    verdict : array of int
        Position in ``VERDICTS``.
    measured : array of int
        Measured repeats.
    unstable : array of bool
        Whether the measured repeats disagree.
    """

    verdict: Ints
    measured: NDArray[np.int64]
    unstable: NDArray[np.bool_]

    def take(self, rows: Ints) -> Outcomes:
        """Choose rows; a row of -1 is one that is not there, which is without signal."""
        gone = rows < 0
        return Outcomes(
            np.where(gone, _NO_SIGNAL, self.verdict[rows]),
            np.where(gone, 0, self.measured[rows]),
            np.where(gone, False, self.unstable[rows]),
        )

    @property
    def stability(self) -> Outcomes:
        """The same rows, judged by whether their repeats agree."""
        seen = self.measured > 1
        verdict = np.where(seen, np.where(self.unstable, _FAIL, _PASS), _NO_SIGNAL)
        verdict = np.where((self.verdict <= _FAIL) & ~seen, _NOT_APPLICABLE, verdict)
        return Outcomes(
            np.where(self.verdict > _FAIL, self.verdict, verdict).astype(np.intp),
            self.measured,
            self.unstable,
        )


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two frames of outcomes, row by row.

    Parameters
    ----------
    base, cand : array of int
        Positions in each frame; -1 where a metric of a case stands in the other only.
    groups : Groups
        Metric and arm of each pair.
    metric, arm : list of str
        Of each group.
    """

    base: Ints
    cand: Ints
    groups: Groups
    metric: list[str]
    arm: list[str]


def outcomes_of(frame: pd.DataFrame) -> Outcomes:
    """Read what a gate needs from an outcomes frame.

    Parameters
    ----------
    frame : DataFrame
        Outcomes.

    Returns
    -------
    Outcomes
        Arrays in the order of its rows.
    """
    verdict = frame["verdict"]
    places = np.array([VERDICTS.index(name) for name in verdict.cat.categories], dtype=np.intp)
    return Outcomes(
        places[verdict.cat.codes.to_numpy()],
        frame["n_measured"].to_numpy(dtype=np.int64),
        frame["unstable"].to_numpy(dtype=bool),
    )


def align(base: pd.DataFrame, cand: pd.DataFrame) -> Aligned:
    """Find the pairs of two outcomes frames by suite, case, arm and metric.

    Parameters
    ----------
    base, cand : DataFrame
        Outcomes of the same metrics.

    Returns
    -------
    Aligned
        Pairs in the candidate's order, then those that only the baseline has.
    """
    joined = pd.concat([frame[list(KEYS)] for frame in (cand, base)], ignore_index=True)
    ids = group_rows([joined[key].array for key in KEYS])
    here, there = np.full(ids.count, -1, dtype=np.intp), np.full(ids.count, -1, dtype=np.intp)
    here[ids.ids[: len(cand)]] = np.arange(len(cand))
    there[ids.ids[len(cand) :]] = np.arange(len(base))
    heads = joined.iloc[ids.first]
    groups = group_rows([heads["metric"].array, heads["arm"].array])
    firsts = heads.iloc[groups.first]
    return Aligned(there, here, groups, firsts["metric"].tolist(), firsts["arm"].tolist())


def cells(base: Outcomes, cand: Outcomes) -> Ints:
    """Tell what becomes of each pair.

    Parameters
    ----------
    base, cand : Outcomes
        Aligned row by row.

    Returns
    -------
    array of int
        Position in `CELLS`.

    Examples
    --------
    >>> import numpy as np
    >>> def side(verdict, measured):
    ...     return Outcomes(np.array([verdict]), np.array([measured]), np.array([False]))
    >>> pairs = [((0, 3), (1, 3)), ((0, 3), (1, 2)), ((0, 3), (2, 0))]
    >>> [CELLS[cells(side(*base), side(*cand))[0]] for base, cand in pairs]
    ['regressed', 'unequal_repeats', 'no_signal']
    """
    seen = (base.verdict <= _FAIL) & (cand.verdict <= _FAIL)
    table = 2 * (base.verdict == _FAIL) + (cand.verdict == _FAIL)
    apart = (base.verdict == _NOT_APPLICABLE, cand.verdict == _NOT_APPLICABLE)
    return np.select(
        [apart[0] & apart[1], apart[0] | apart[1], ~seen, base.measured != cand.measured],
        [_APART, _CHANGED, _SILENT, _UNEQUAL],
        table,
    ).astype(np.intp)


def alone_counts(cand: Outcomes, groups: Groups) -> list[Alone]:
    """Count what the candidate shows by itself, per group.

    Parameters
    ----------
    cand : Outcomes
        Rows.
    groups : Groups
        Their groups.

    Returns
    -------
    list of Alone
        One per group.
    """
    seen = cand.verdict <= _FAIL
    again = seen & (cand.measured > 1)
    columns = [
        groups.total(mask)
        for mask in (
            cand.verdict != _NOT_APPLICABLE,
            seen,
            cand.verdict == _FAIL,
            cand.verdict == _NO_SIGNAL,
            again,
            again & cand.unstable,
        )
    ]
    return [Alone(*counts) for counts in zip(*(column.tolist() for column in columns), strict=True)]


def pair_counts(found: Ints, groups: Groups) -> list[Pairs]:
    """Count what becomes of the pairs, per group.

    Parameters
    ----------
    found : array of int
        What `cells` returned.
    groups : Groups
        Their groups.

    Returns
    -------
    list of Pairs
        One per group.
    """
    width = len(CELLS)
    counts = np.bincount(groups.ids * width + found, minlength=groups.count * width)
    rows: list[list[int]] = counts.reshape(groups.count, width).tolist()
    return [
        Pairs(PairedTable(row[0], row[1], row[2], row[3]), row[_UNEQUAL], row[_SILENT], row[_CHANGED])
        for row in rows
    ]


def make_rows(
    metric: list[str],
    arm: list[str],
    natures: dict[str, tuple[str, str]],
    alone: list[Alone],
    pairs: list[Pairs] | None,
    gated: Any,
    *,
    stability: bool = False,
) -> list[Row]:
    """Put the counts of each metric and arm into rows.

    Parameters
    ----------
    metric, arm : list of str
        Of each group.
    natures : dict
        Direction and collapse by metric.
    alone, pairs : list
        Counts per group; `pairs` is None without a baseline.
    gated : container of str
        The gated metrics.
    stability : bool, default False
        Whether the counts are those of the repeats' agreement.

    Returns
    -------
    list of Row
        Without p-values yet.
    """
    rows = []
    for at, (name, one) in enumerate(zip(metric, arm, strict=True)):
        direction, collapse = ("lower", "majority") if stability else natures[name]
        full = f"{STABILITY}{name}" if stability else name
        two = None if pairs is None else pairs[at]
        rows.append(Row(full, one, direction, collapse, alone[at], two, full in gated))
    return rows
