"""Confidence intervals of the difference of two paired rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate
from neverempty.stats.paired import PairedTable
from neverempty.stats.rates import wilson_interval

DiffMethod = Literal["newcombe", "tango", "bonett_price"]


def _phi(n11: float, n10: float, n01: float, n00: float) -> float:
    """Newcombe's correlation of the margins: continuity-corrected when positive, 0 if a margin is 0."""
    # Floats: the product of four margins overflows 64-bit integers from about 110,000 cases on.
    margins = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
    if margins == 0:
        return 0.0
    det = n11 * n00 - n10 * n01
    if det > 0:
        det = max(det - (n11 + n10 + n01 + n00) / 2.0, 0.0)
    return det / math.sqrt(margins)


def _newcombe(t: PairedTable, conf: float) -> tuple[float, float]:
    cand, base = t.n11 + t.n01, t.n11 + t.n10
    c, b = wilson_interval(cand, t.n, conf), wilson_interval(base, t.n, conf)
    p_c, l_c, u_c = float(c), c.lo or 0.0, 1.0 if c.hi is None else c.hi
    p_b, l_b, u_b = float(b), b.lo or 0.0, 1.0 if b.hi is None else b.hi
    phi = _phi(float(t.n11), float(t.n10), float(t.n01), float(t.n00))

    def reach(down: float, up: float) -> float:
        return math.sqrt(max(down * down - 2.0 * phi * down * up + up * up, 0.0))

    diff = p_c - p_b
    return diff - reach(p_c - l_c, u_b - p_b), diff + reach(u_c - p_c, p_b - l_b)


def _tango_score(n: int, gain: int, loss: int, delta: float) -> float:
    """Score statistic of H0: candidate - baseline = delta, with the restricted estimate of the loss cell."""
    a = 2.0 * n
    b = -gain - loss + (2.0 * n - gain + loss) * delta
    c = -loss * delta * (1.0 - delta)
    q = (math.sqrt(max(b * b - 4.0 * a * c, 0.0)) - b) / (2.0 * a)
    variance = n * (2.0 * q + delta * (1.0 - delta))
    gap = gain - loss - n * delta
    if variance <= 0.0:
        return 0.0 if gap == 0.0 else math.copysign(math.inf, gap)
    return gap / math.sqrt(variance)


def _bisect(below: Callable[[float], bool], lo: float, hi: float) -> float:
    """Point of [lo, hi] where `below` turns from True to False."""
    for _ in range(100):
        mid = (lo + hi) / 2.0
        if below(mid):
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2.0


def _tango(t: PairedTable, conf: float) -> tuple[float, float]:
    z = check.z_value(conf)
    diff = (t.n01 - t.n10) / t.n
    # The score falls with delta: above z left of the interval, below -z right of it.
    lo = _bisect(lambda d: _tango_score(t.n, t.n01, t.n10, d) > z, -1.0, diff)
    hi = _bisect(lambda d: _tango_score(t.n, t.n01, t.n10, d) >= -z, diff, 1.0)
    return lo, hi


def _bonett_price(t: PairedTable, conf: float) -> tuple[float, float]:
    z = check.z_value(conf)
    gain, loss = (t.n01 + 1.0) / (t.n + 2.0), (t.n10 + 1.0) / (t.n + 2.0)
    half = z * math.sqrt((gain + loss - (gain - loss) ** 2) / (t.n + 2.0))
    return gain - loss - half, gain - loss + half


_METHODS: dict[str, Callable[[PairedTable, float], tuple[float, float]]] = {
    "newcombe": _newcombe,
    "tango": _tango,
    "bonett_price": _bonett_price,
}


def paired_diff_interval(
    table: PairedTable | tuple[int, int, int, int], conf: float = 0.95, method: DiffMethod = "newcombe"
) -> Estimate:
    """Interval of the difference candidate minus baseline of two paired pass rates.

    Parameters
    ----------
    table : PairedTable or tuple of int
        (n11, n10, n01, n00) with the baseline first: n10 counts regressions, n01 improvements.
    conf : float
        Two-sided confidence level.
    method : {"newcombe", "tango", "bonett_price"}
        Newcombe's method 10 (hybrid of Wilson intervals), Tango's score interval, or Bonett and
        Price's adjusted Wald interval truncated to [-1, 1].

    Returns
    -------
    Estimate
        ``not_measured`` without pairs.

    Notes
    -----
    The gate's p-value is exact, Tango's interval is that of the asymptotic score test: at the edge the
    90 % two-sided interval and p < 0.05 may disagree.

    Raises
    ------
    ValueError
        If counts are wrong or the method is unknown.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650; Tango (1998), Stat. Med. 17, 891-908; Bonett and Price
    (2012), Br. J. Math. Stat. Psychol. 65, 479-488.

    Examples
    --------
    >>> e = paired_diff_interval((190, 5, 0, 15))
    >>> round(e.value, 4), round(e.lo, 4), round(e.hi, 4)
    (-0.0238, -0.0529, 0.0008)
    """
    check.choice("method", method, _METHODS)
    check.open_unit("conf", conf)
    if not isinstance(table, PairedTable) and len(table) != 4:
        raise ValueError(f"table must be the four counts n11, n10, n01, n00; got {table!r}")
    t = table if isinstance(table, PairedTable) else PairedTable(*table)
    missing = len(t.not_measured)
    name = f"paired_diff_{method}"
    if t.diff is None:
        return Estimate(
            None,
            n_missing=missing,
            conf=conf,
            method=name,
            status="not_measured",
            reason="no pair was measured",
        )
    lo, hi = _METHODS[method](t, conf)
    lo, hi = max(min(lo, t.diff), -1.0), min(max(hi, t.diff), 1.0)
    return Estimate(t.diff, lo, hi, n=t.n, n_missing=missing, conf=conf, method=name)
