"""What is not earned is not shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty.report import numbers


@pytest.mark.parametrize(
    ("hits", "n", "shown"),
    [
        (0, 0, "not measured"),
        (0, 1, "0 of 1"),
        (4, 9, "4 of 9"),
        (0, 10, "0.0 % (indicative)"),
        (49, 49, "100.0 % (indicative)"),
        (0, 50, "0.0 %"),
        (1, 50, "2.0 %"),
        (1, 5000, "< 0.1 %"),
        (4999, 5000, "> 99.9 %"),
    ],
)
def test_a_rate_is_shown_as_far_as_its_cases_earn_it(hits: int, n: int, shown: str) -> None:
    assert numbers.rate(hits / n if n else None, hits, n) == shown


@given(st.integers(0, 5000), st.integers(1, 5000))
def test_only_a_true_zero_prints_as_zero(hits: int, n: int) -> None:
    hits = min(hits, n)
    shown = numbers.rate(hits / n, hits, n)
    assert (shown.startswith("0.0 %")) == (hits == 0 and n >= numbers.FEW)
    assert (shown.startswith("100.0 %")) == (hits == n and n >= numbers.FEW)
    assert ("%" in shown) == (n >= numbers.FEW)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_never_looks_like_a_number(missing: float | None) -> None:
    assert numbers.percent(missing) == "\u2013"
    assert numbers.rate(missing, None, 60) == "not measured"
    assert numbers.quantity("cost_usd", missing, 60) == "not measured"
    assert numbers.interval(missing, 1.0, 60) == ""


@given(st.floats(1e-9, 1e12))
def test_significant_digits_keep_the_number_within_half_a_percent(value: float) -> None:
    assert abs(float(numbers.significant(value).replace(",", "")) - value) <= 0.0051 * value


def test_units_stand_behind_milliseconds_and_before_dollars() -> None:
    assert numbers.quantity("latency_ms", 12.34, 3) == "12.3 ms"
    assert numbers.quantity("cost_usd", 0.0, 3) == "$0"
    assert numbers.quantity("own", 2.0, 3) == "2.00"
