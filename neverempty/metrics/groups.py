"""Numbering the groups of a frame's rows, so that everything else is counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a frame's rows, numbered in order of appearance.

    Parameters
    ----------
    ids : array of int
        Group of each row.
    first : array of int
        Position of each group's first row.
    """

    ids: Ints
    first: Ints

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.first)

    def total(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Sum something over each group; booleans give whole numbers."""
        sums = np.bincount(self.ids, weights, minlength=self.count)
        return sums.astype(np.int64) if weights.dtype.kind in "bi" else sums


def group_rows(columns: Sequence[Any]) -> Groups:
    """Give each row the number of its group, by the values of several columns.

    Parameters
    ----------
    columns : sequence of array-like
        Columns of one length; missing is a value like any other.

    Returns
    -------
    Groups
        In order of first appearance.

    Examples
    --------
    >>> group_rows([["a", "b", "a"], [1, 1, 1]]).ids.tolist()
    [0, 1, 0]
    """
    combined: Ints | None = None
    for column in columns:
        codes, distinct = pd.factorize(pd.Series(column), use_na_sentinel=False)
        if combined is None:
            combined = codes
        else:
            # numbering anew after each column keeps the product far below the limit of int64
            combined, _ = pd.factorize(combined.astype(np.int64) * max(len(distinct), 1) + codes)
    if combined is None:
        raise ValueError("group_rows needs at least one column")
    return Groups(combined, first_rows(combined))


def first_rows(ids: Ints) -> Ints:
    """Find the position of the first row of each number.

    Parameters
    ----------
    ids : array of int
        Numbers from 0 without gaps.

    Returns
    -------
    array of int
        One position per number.
    """
    first = np.zeros(int(ids.max()) + 1 if len(ids) else 0, dtype=np.intp)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    return first
