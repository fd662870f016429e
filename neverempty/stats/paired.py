"""Paired comparison of two runs on the same cases: the table, the exact test, its critical values."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, FloatArray, IntArray

Alternative = Literal["regression", "improvement", "two-sided"]
Outcomes = Mapping[Any, Any] | Sequence[Any] | NDArray[Any]
# Tail sums of Bin(m, 1/2) fit an int64 up to here, so p-values are correctly rounded.
_EXACT_M = 62


@dataclasses.dataclass(frozen=True)
class PairedTable:
    """Counts of case pairs; the first index is the baseline, the second the candidate, 1 = pass.

    Parameters
    ----------
    n11, n10, n01, n00 : int
        Both pass, regression (pass to fail), improvement (fail to pass), both fail.
    only_base, only_cand : tuple
        Case ids that stand on one side only; they are in no count.
    not_measured : tuple
        Case ids present on both sides but without a measured outcome on at least one.
    """

    n11: int
    n10: int
    n01: int
    n00: int
    only_base: tuple[Any, ...] = ()
    only_cand: tuple[Any, ...] = ()
    not_measured: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for name in ("n11", "n10", "n01", "n00"):
            object.__setattr__(self, name, check.count(name, getattr(self, name)))

    @property
    def n(self) -> int:
        """Compared pairs."""
        return self.n11 + self.n10 + self.n01 + self.n00

    @property
    def b(self) -> int:
        """Regressions: the baseline passed, the candidate failed."""
        return self.n10

    @property
    def c(self) -> int:
        """Improvements: the baseline failed, the candidate passed."""
        return self.n01

    @property
    def diff(self) -> float | None:
        """Candidate minus baseline pass rate; None without pairs."""
        return (self.n01 - self.n10) / self.n if self.n else None


def _by_id(name: str, outcomes: Outcomes, on: Sequence[Any] | None) -> dict[Any, float]:
    """Return outcomes by case id, refusing duplicates."""
    if isinstance(outcomes, Mapping):
        ids, values = list(outcomes.keys()), list(outcomes.values())
    elif on is None:
        raise ValueError(f"{name} is a sequence: pass the case ids as `on`, or give a mapping by case id")
    else:
        ids, values = list(on), list(outcomes)
        check.same_length(**{name: values, "on": ids})
    repeated = [i for i, k in Counter(ids).items() if k > 1]
    if repeated:
        raise ValueError(f"{name} has duplicate case ids, so pairs are ambiguous: {_some(repeated)}")
    return dict(zip(ids, check.binary(name, values).tolist(), strict=True))


def _some(ids: Sequence[Any], limit: int = 5) -> str:
    shown = ", ".join(repr(i) for i in ids[:limit])
    return shown + (f" and {len(ids) - limit} more" if len(ids) > limit else "")


def paired_table(
    base: Outcomes,
    cand: Outcomes,
    on: Sequence[Any] | tuple[Sequence[Any], Sequence[Any]] | None = None,
    *,
    unmatched: Literal["raise", "list"] = "raise",
) -> PairedTable:
    """Pair the outcomes of two runs by case id.

    Parameters
    ----------
    base, cand : mapping or sequence
        Outcome by case id: 1 = pass, 0 = fail, None = not measured. A sequence needs `on`.
    on : sequence, or tuple of two sequences
        Case ids of the sequences: one list for both, or one for each.
    unmatched : {"raise", "list"}
        What to do with ids on one side only: refuse, or leave them out and list them.

    Returns
    -------
    PairedTable
        Pairs where a side was not measured are listed and in no count.

    Raises
    ------
    ValueError
        If an id is duplicated, or stands on one side only (unless ``unmatched="list"``).

    Examples
    --------
    >>> t = paired_table({"a": 1, "b": 1, "c": None}, {"a": 1, "b": 0, "c": 1})
    >>> t.n, t.b, t.c, t.not_measured
    (2, 1, 0, ('c',))
    """
    check.choice("unmatched", unmatched, ("raise", "list"))
    # Two ids in a tuple are one list of ids; two lists are one for each side.
    split = isinstance(on, tuple) and len(on) == 2 and all(np.ndim(part) == 1 for part in on)
    both = on if split and on is not None else (on, on)
    left, right = _by_id("base", base, both[0]), _by_id("cand", cand, both[1])
    only_base = tuple(i for i in left if i not in right)
    only_cand = tuple(i for i in right if i not in left)
    if unmatched == "raise" and (only_base or only_cand):
        parts = [
            f"{len(ids)} only in {side} ({_some(ids)})"
            for side, ids in (("base", only_base), ("cand", only_cand))
            if ids
        ]
        raise ValueError(
            f"case ids do not match: {'; '.join(parts)}; pass unmatched='list' to leave them out"
        )
    shared = [i for i in left if i in right]
    missing = tuple(i for i in shared if np.isnan(left[i]) or np.isnan(right[i]))
    gone = set(missing)
    cells = Counter((int(left[i]), int(right[i])) for i in shared if i not in gone)
    return PairedTable(cells[1, 1], cells[1, 0], cells[0, 1], cells[0, 0], only_base, only_cand, missing)


@lru_cache(maxsize=1)
def _small_tails() -> FloatArray:
    """P(Bin(m, 1/2) >= b) for m <= 62 and b <= m + 1, correctly rounded."""
    table = np.zeros((_EXACT_M + 1, _EXACT_M + 2))
    for m in range(_EXACT_M + 1):
        tail = 0
        for b in range(m, -1, -1):
            tail += comb(m, b)
            table[m, b] = tail / 2**m
    return table


def _tail(b: IntArray, m: IntArray) -> FloatArray:
    """P(Bin(m, 1/2) >= b), 0 <= b <= m + 1."""
    small = m <= _EXACT_M
    out = _small_tails()[np.where(small, m, 0), np.where(small, b, 0)]
    if small.all():
        return np.asarray(out)
    from neverempty.stats import _binomial

    return np.where(small, out, _binomial.at_least(b, m, 0.5))


def one_sided_p(b: IntArray, m: IntArray, midp: bool) -> FloatArray:
    """P-value of b regressions among m discordant pairs, element by element."""
    if not midp:
        return _tail(b, m)
    # P(X >= b) - P(X = b)/2, written without a difference of nearly equal numbers.
    return np.where(m == 0, 1.0, (_tail(b, m) + _tail(b + 1, m)) / 2.0)


@overload
def mcnemar_exact(b: int, c: int, alternative: Alternative = ..., midp: bool = ...) -> Estimate: ...
@overload
def mcnemar_exact(
    b: Sequence[int] | NDArray[Any],
    c: int | Sequence[int] | NDArray[Any],
    alternative: Alternative = ...,
    midp: bool = ...,
) -> FloatArray: ...
def mcnemar_exact(
    b: int | Sequence[int] | NDArray[Any],
    c: int | Sequence[int] | NDArray[Any],
    alternative: Alternative = "regression",
    midp: bool = False,
) -> Estimate | FloatArray:
    """Exact McNemar test on discordant pairs.

    Parameters
    ----------
    b, c : int or array of int
        Regressions (pass to fail) and improvements (fail to pass).
    alternative : {"regression", "improvement", "two-sided"}
        "regression" is P(Bin(b + c, 1/2) >= b); two-sided doubles the smaller tail, up to 1.
    midp : bool
        Count half of the observed point. More power; its size can exceed the level a little, so it is
        never the default of a test called exact.

    Returns
    -------
    Estimate or array
        The p-value as `value`, with n = b + c; an array of p-values for array input. Without
        discordant pairs p is 1 and the status is ``no_discordant_pairs``.

    Raises
    ------
    ValueError
        If a count is negative or not whole.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157; Fagerland, Lydersen and Laake (2013), BMC Med. Res.
    Methodol. 13:91 (mid-p).

    Examples
    --------
    >>> mcnemar_exact(4, 0).value, mcnemar_exact(5, 0).value
    (0.0625, 0.03125)
    >>> mcnemar_exact([5, 7], [0, 1], midp=True).round(4).tolist()
    [0.0156, 0.0195]
    """
    check.choice("alternative", alternative, ("regression", "improvement", "two-sided"))
    bs, cs = np.broadcast_arrays(check.counts("b", b), check.counts("c", c))
    m = bs + cs
    if alternative == "two-sided":
        p = np.minimum(1.0, 2.0 * one_sided_p(np.maximum(bs, cs), m, midp))
    else:
        p = one_sided_p(bs if alternative == "regression" else cs, m, midp)
    if not check.is_scalar(b, c):
        return p
    method = f"mcnemar_{'midp' if midp else 'exact'}_{alternative}"
    if int(m) == 0:
        return Estimate(
            1.0, n=0, method=method, status="no_discordant_pairs", reason="no case changed, so p is 1"
        )
    return Estimate(float(p), n=int(m), method=method)


def critical_table(max_m: int, alpha: float, midp: bool) -> IntArray:
    """Smallest rejecting b for m = 0..max_m; m + 1 (never reached) where none rejects."""
    # Rounded up to a power of two, so that a search over n shares one cached table.
    return _critical_table(1 << max(max_m, 63).bit_length(), alpha, midp)[: max_m + 1]


@lru_cache(maxsize=64)
def _critical_table(max_m: int, alpha: float, midp: bool) -> IntArray:
    m = np.arange(max_m + 1, dtype=np.int64)
    lo, hi = np.zeros_like(m), m + 1
    while (lo < hi).any():
        mid = (lo + hi) // 2
        rejects = (one_sided_p(np.minimum(mid, m), m, midp) < alpha) | (mid > m)
        lo, hi = np.where(rejects | (lo >= hi), lo, mid + 1), np.where(rejects, mid, hi)
    lo.setflags(write=False)
    return lo


@overload
def critical_flips(m: int, alpha: float = ..., midp: bool = ...) -> int | None: ...
@overload
def critical_flips(m: Sequence[int] | NDArray[Any], alpha: float = ..., midp: bool = ...) -> FloatArray: ...
def critical_flips(
    m: int | Sequence[int] | NDArray[Any], alpha: float = 0.05, midp: bool = False
) -> int | FloatArray | None:
    """Smallest number of regressions that rejects among m discordant pairs.

    Parameters
    ----------
    m : int or array of int
        Discordant pairs.
    alpha : float
        Level; the test rejects only when p is strictly below it.
    midp : bool
        For the mid-p test.

    Returns
    -------
    int, None or array
        None (NaN in arrays) where no number of regressions can reject.

    Raises
    ------
    ValueError
        If m is no count or alpha is outside (0, 1).

    Examples
    --------
    >>> critical_flips(8), critical_flips(4)
    (7, None)
    """
    ms = check.counts("m", m)
    level = check.open_unit("alpha", alpha)
    table = critical_table(int(ms.max(initial=0)), level, bool(midp))[ms]
    if ms.ndim:
        return np.where(table > ms, np.nan, table.astype(float))
    return None if int(table) > int(ms) else int(table)


def min_clean_flips(alpha: float = 0.05, n_metrics: int = 1, midp: bool = False) -> int:
    """Fewest regressions that can reject when nothing improves.

    A comparison with fewer applicable pairs than this cannot reject, whatever happens.

    Parameters
    ----------
    alpha : float
        Level of the gate.
    n_metrics : int
        Gated metrics; Holm tests the smallest p-value at alpha / n_metrics.
    midp : bool
        For the mid-p test.

    Returns
    -------
    int
        Number of clean flips.

    Raises
    ------
    ValueError
        If alpha is outside (0, 1) or n_metrics < 1.

    Examples
    --------
    >>> [min_clean_flips(0.05, k) for k in (1, 2, 4, 7)]
    [5, 6, 7, 8]
    """
    level = Fraction(str(check.open_unit("alpha", alpha))) / check.count("n_metrics", n_metrics, 1)
    half = 1 if midp else 0
    flips = 1
    while Fraction(1, 2 ** (flips + half)) >= level:
        flips += 1
    return flips
