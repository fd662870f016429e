"""Numbers as readers see them: the one place that rounds, and that refuses to show what is not earned."""

from __future__ import annotations

import math
from typing import Final

NOT_MEASURED: Final = "not measured"
WITHHELD: Final = "withheld"
"""Stands where a report's status allows no number."""
FEW: Final = 10
"""Below this number of measured cases counts stand alone."""
ENOUGH: Final = 50
"""Below this number a percentage is labelled indicative."""

_UNITS: Final = {"latency_ms": "ms", "cost_usd": "$"}


def percent(value: float | None) -> str:
    """Write a share as a percentage with one decimal.

    Parameters
    ----------
    value : float or None
        A share from 0 to 1.

    Returns
    -------
    str
        Only a true zero prints as ``0.0 %`` and only a true one as ``100.0 %``; missing is a dash.

    Examples
    --------
    >>> percent(0.0), percent(0.0004), percent(0.125), percent(0.99996), percent(None)
    ('0.0 %', '< 0.1 %', '12.5 %', '> 99.9 %', '–')
    """
    if value is None or math.isnan(value):
        return "\u2013"
    text = f"{value * 100:.1f}"
    if text == "0.0" and value > 0:
        return "< 0.1 %"
    if text == "100.0" and value < 1:
        return "> 99.9 %"
    return f"{text} %"


def rate(value: float | None, hits: int | None, n: int) -> str:
    """Write a measured rate, as far as its number of cases earns it.

    Parameters
    ----------
    value : float or None
        The rate.
    hits, n : int
        Cases that count, and measured cases.

    Returns
    -------
    str
        ``not measured`` at n = 0, counts alone below 10, an *indicative* percentage below 50.

    Examples
    --------
    >>> rate(None, None, 0), rate(0.25, 2, 8), rate(0.05, 1, 20), rate(0.0, 0, 60)
    ('not measured', '2 of 8', '5.0 % (indicative)', '0.0 %')
    """
    if n == 0 or value is None or math.isnan(value):
        return NOT_MEASURED
    if n < FEW:
        return f"{round(value * n) if hits is None else hits} of {n}"
    return percent(value) if n >= ENOUGH else f"{percent(value)} (indicative)"


def interval(lo: float | None, hi: float | None, n: int) -> str:
    """Write an interval of a rate.

    Parameters
    ----------
    lo, hi : float or None
        Its ends, as shares.
    n : int
        Measured cases.

    Returns
    -------
    str
        Empty below 10 cases, where there is no percentage either.

    Examples
    --------
    >>> interval(0.012, 0.25, 60), interval(0.0, 1.0, 4)
    ('1.2 % to 25.0 %', '')
    """
    if n < FEW or lo is None or hi is None or math.isnan(lo) or math.isnan(hi):
        return ""
    return f"{percent(lo)} to {percent(hi)}"


def points(value: float | None, digits: int = 1) -> str:
    """Write a difference of two rates in percentage points.

    Parameters
    ----------
    value : float or None
        A difference of shares.
    digits : int, default 1
        Decimals.

    Returns
    -------
    str
        Always with a sign, but for zero; missing is a dash.

    Examples
    --------
    >>> points(0.05), points(-0.125), points(0.0), points(None)
    ('+5.0', '\u221212.5', '0.0', '\u2013')
    """
    if value is None or math.isnan(value):
        return "\u2013"
    text = f"{abs(value) * 100:.{digits}f}"
    sign = "" if float(text) == 0 else "+" if value > 0 else "\u2212"
    return f"{sign}{text}"


def p_value(p: float | None) -> str:
    """Write a p-value.

    Parameters
    ----------
    p : float or None
        The p-value.

    Returns
    -------
    str
        Three significant digits; very small ones as a bound, missing is a dash.

    Examples
    --------
    >>> p_value(0.0625), p_value(0.03125), p_value(1.0), p_value(1e-9), p_value(None)
    ('0.0625', '0.0312', '1', '< 0.0001', '\u2013')
    """
    if p is None or math.isnan(p):
        return "\u2013"
    return "< 0.0001" if p < 0.0001 else f"{p:.3g}"


def p_equals(p: float | None) -> str:
    """Write a p-value as it stands behind its letter in a sentence.

    Parameters
    ----------
    p : float or None
        The p-value.

    Returns
    -------
    str
        As `p_value`, with an equals sign where it is no bound.

    Examples
    --------
    >>> p_equals(0.0625), p_equals(1e-9)
    ('= 0.0625', '< 0.0001')
    """
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def quantity(metric: str, value: float | None, n: int) -> str:
    """Write the value of a continuous metric with its unit.

    Parameters
    ----------
    metric : str
        Name of the metric, which tells the unit.
    value : float or None
        The number.
    n : int
        Measured cases.

    Returns
    -------
    str
        Three significant digits; ``not measured`` without a case.

    Examples
    --------
    >>> quantity("latency_ms", 1234.5, 60), quantity("cost_usd", 0.000123, 60), quantity("x", None, 0)
    ('1,230 ms', '$0.000123', 'not measured')
    """
    if n == 0 or value is None or math.isnan(value):
        return NOT_MEASURED
    digits = significant(value)
    unit = _UNITS.get(metric)
    if unit == "$":
        return f"${digits}"
    return f"{digits} {unit}" if unit else digits


def signed_quantity(metric: str, value: float | None, n: int) -> str:
    """Write a difference of two values of a continuous metric, with its sign and unit.

    Parameters
    ----------
    metric : str
        Name of the metric.
    value : float or None
        The difference.
    n : int
        Measured pairs.

    Returns
    -------
    str
        As `quantity`, with a sign but for zero.

    Examples
    --------
    >>> signed_quantity("latency_ms", 12.0, 60), signed_quantity("cost_usd", -0.5, 60)
    ('+12.0 ms', '\u2212$0.500')
    """
    if n == 0 or value is None or math.isnan(value):
        return NOT_MEASURED
    sign = "+" if value > 0 else "\u2212" if value < 0 else ""
    return f"{sign}{quantity(metric, abs(value), n)}"


def significant(value: float, digits: int = 3) -> str:
    """Write a number with a few significant digits and no exponent.

    Parameters
    ----------
    value : float
        The number.
    digits : int, default 3
        How many digits count.

    Returns
    -------
    str
        With thousands separators; a true zero is ``0``.

    Examples
    --------
    >>> significant(0.0), significant(1234.5), significant(0.000123456)
    ('0', '1,230', '0.000123')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "\u2013"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}"


def count(n: int, noun: str) -> str:
    """Write a count with its noun.

    Parameters
    ----------
    n : int
        The count.
    noun : str
        Its noun in the singular.

    Returns
    -------
    str
        With thousands separators.

    Examples
    --------
    >>> count(1, "case"), count(2500, "case")
    ('1 case', '2,500 cases')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
