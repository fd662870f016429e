"""Comparing one argument of a tool call with what the case expects of it."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from neverempty._io import dumps
from neverempty.cases import ExpectedArg, find_pattern
from neverempty.scorers.statements import fold

_DATE: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})|(\d{4})(\d{2})(\d{2})\b")


def matches(expected: ExpectedArg, value: Any) -> bool:
    """Say whether an argument is what the case expects.

    Parameters
    ----------
    expected : ExpectedArg
        ``exact``: the same JSON value, where 1 and 1.0 are the same and 1 and true are not.
        ``normalized``: the same text after folding case, white space and compatibility forms.
        ``set``: the same elements, whatever their order and number. ``numeric``: within ``tol`` (default 0);
        numbers written as text count. ``regex``: RE2, found anywhere in the text. ``present``: anything but
        null. ``date``: the same day, or within ``tol`` days.
    value : object
        The argument that was passed.

    Returns
    -------
    bool
        True where it fits.

    Examples
    --------
    >>> matches(ExpectedArg(value="Pune", match="normalized"), " pune ")
    True
    >>> matches(ExpectedArg(value=10, match="numeric", tol=0.5), "10.4")
    True
    """
    return _MATCHERS[expected.match](expected, value)


def _exact(expected: ExpectedArg, value: Any) -> bool:
    return _same(expected.value, value)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _normalized(expected: ExpectedArg, value: Any) -> bool:
    return isinstance(value, (str, int, float)) and fold(value) == fold(expected.value)


def _set(expected: ExpectedArg, value: Any) -> bool:
    if not isinstance(value, (list, tuple, set, frozenset)):
        return False
    return {dumps(item) for item in expected.value} == {dumps(item) for item in value}


def _numeric(expected: ExpectedArg, value: Any) -> bool:
    number = _number(value)
    if number is None:
        return False
    # the tolerance as written: 0.1 + 0.2 must not miss 0.3 by a rounding error
    slack = 1e-9 * max(1.0, abs(expected.value))
    return bool(abs(number - expected.value) <= (expected.tol or 0.0) + slack)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value.replace("_", "x") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _regex(expected: ExpectedArg, value: Any) -> bool:
    return find_pattern(expected.value, value if isinstance(value, str) else dumps(value)) is not None


def _present(_: ExpectedArg, value: Any) -> bool:
    return value is not None


def _date(expected: ExpectedArg, value: Any) -> bool:
    wanted, got = _day(expected.value), _day(value)
    return wanted is not None and got is not None and abs((wanted - got).days) <= (expected.tol or 0)


def _day(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    found = _DATE.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day = (int(part) for part in found.groups() if part is not None)
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


_MATCHERS: Final[Mapping[str, Callable[[ExpectedArg, Any], bool]]] = {
    "exact": _exact,
    "normalized": _normalized,
    "set": _set,
    "numeric": _numeric,
    "regex": _regex,
    "present": _present,
    "date": _date,
}
