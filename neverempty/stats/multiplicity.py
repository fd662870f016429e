"""Adjusted p-values of a family of tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from neverempty.stats import _validate as check
from neverempty.stats._estimate import FloatArray

AdjustMethod = Literal["holm", "bh", "bonferroni"]


@dataclasses.dataclass(frozen=True)
class Adjusted:
    """Adjusted p-values in the order of their input.

    Parameters
    ----------
    p, adjusted : tuple of (float or None)
        Given and adjusted p-values; None where the test was not measured.
    method : str
        Name of the adjustment.
    m : int
        Size of the family: measured tests only.
    left_out : tuple of int
        Positions of the tests that were not measured and left the family.
    """

    p: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]
    method: str
    m: int
    left_out: tuple[int, ...]

    def reject(self, alpha: float = 0.05) -> tuple[bool, ...]:
        """Return for each test whether its adjusted p-value is strictly below alpha."""
        level = check.open_unit("alpha", alpha)
        return tuple(q is not None and q < level for q in self.adjusted)


def _holm(p: FloatArray) -> FloatArray:
    m = p.size
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (m - np.arange(m)))
    return np.asarray(np.minimum(steps, 1.0)[np.argsort(order, kind="stable")])


def _bh(p: FloatArray) -> FloatArray:
    m = p.size
    order = np.argsort(-p, kind="stable")
    steps = np.minimum.accumulate(p[order] * m / (m - np.arange(m)))
    return np.asarray(np.minimum(steps, 1.0)[np.argsort(order, kind="stable")])


def adjust(p_values: Iterable[Any], method: AdjustMethod = "holm") -> Adjusted:
    """Adjust p-values for their number.

    Parameters
    ----------
    p_values : iterable of (float or None)
        One per test; None and NaN (not measured) leave the family and are listed.
    method : {"holm", "bh", "bonferroni"}
        Holm's step-down and Bonferroni bound the chance of any false alarm, Benjamini-Hochberg the
        expected share of false ones.

    Returns
    -------
    Adjusted
        In the order of the input.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1] or the method is unknown.

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70; Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57, 289-300.

    Examples
    --------
    >>> adjust([0.01, None, 0.04, 0.03]).adjusted
    (0.03, None, 0.06, 0.06)
    """
    check.choice("method", method, ("holm", "bh", "bonferroni"))
    floats = check.measured("p_values", p_values)
    kept, _ = check.drop_missing(floats)
    check.probabilities("p_values", kept)
    if method == "holm":
        values = _holm(kept)
    elif method == "bh":
        values = _bh(kept)
    else:
        values = np.minimum(kept * kept.size, 1.0)
    measured = iter(values.tolist())
    missing = np.isnan(floats)
    return Adjusted(
        p=tuple(None if gone else float(p) for p, gone in zip(floats, missing, strict=True)),
        adjusted=tuple(None if gone else next(measured) for gone in missing),
        method=method,
        m=int(kept.size),
        left_out=tuple(int(i) for i in np.flatnonzero(missing)),
    )


def holm(p_values: Iterable[Any]) -> Adjusted:
    """Holm's step-down adjustment: `adjust` with its default method.

    Parameters
    ----------
    p_values : iterable of (float or None)
        One per test.

    Returns
    -------
    Adjusted
        In the order of the input.

    Examples
    --------
    >>> holm([0.04, 0.005]).reject(0.05)
    (True, True)
    """
    return adjust(p_values, "holm")
