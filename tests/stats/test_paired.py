from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import stats


def exact_tail(b: int, m: int) -> Fraction:
    return Fraction(sum(comb(m, i) for i in range(b, m + 1)), 2**m)


def test_pairs_are_matched_by_id_not_by_position() -> None:
    t = stats.paired_table({"a": 1, "b": 0, "c": 1, "d": 0}, {"d": 0, "c": 0, "b": 1, "a": 1})
    assert (t.n11, t.n10, t.n01, t.n00) == (1, 1, 1, 1)
    assert (t.b, t.c, t.n, t.diff) == (1, 1, 4, 0.0)


def test_sequences_are_paired_by_their_own_ids() -> None:
    t = stats.paired_table([1, 0], [0, 1], on=(["a", "b"], ["b", "a"]))
    assert (t.n11, t.n10, t.n01, t.n00) == (1, 0, 0, 1)
    assert stats.paired_table([1, 0], [0, 1], on=["a", "b"]).b == 1


@pytest.mark.parametrize(
    ("base", "cand", "on", "message"),
    [
        ({"a": 1}, {"b": 1}, None, r"1 only in base \('a'\); 1 only in cand \('b'\)"),
        ([1, 1], [1, 1], ["a", "a"], "base has duplicate case ids.*'a'"),
        ([1], [1], None, "base is a sequence: pass the case ids"),
        ([1, 0], [1, 0], ["a"], "lengths differ: base has 2, on has 1"),
        ({"a": 0.5}, {"a": 1}, None, "base must hold 0, 1 or None"),
        (dict.fromkeys(range(9), 1), {}, None, "9 only in base .* and 4 more"),
    ],
)
def test_unmatched_or_duplicate_ids_are_refused_by_name(base: Any, cand: Any, on: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.paired_table(base, cand, on)


def test_unmatched_ids_can_be_listed_instead_and_are_in_no_count() -> None:
    t = stats.paired_table({"a": 1, "x": 1}, {"a": 0, "y": 1}, unmatched="list")
    assert (t.n, t.only_base, t.only_cand) == (1, ("x",), ("y",))


def test_an_unmeasured_side_is_listed_and_in_no_count() -> None:
    t = stats.paired_table({"a": 1, "b": None}, {"a": 1, "b": 0})
    assert (t.n, t.b, t.not_measured) == (1, 0, ("b",))
    interval = stats.paired_diff_interval(t)
    assert (interval.n, interval.n_missing) == (1, 1)


@given(st.integers(0, 70), st.integers(0, 70))
def test_p_values_equal_rational_arithmetic(b: int, c: int) -> None:
    m = b + c
    one, mid = float(stats.mcnemar_exact(b, c)), float(stats.mcnemar_exact(b, c, midp=True))
    assert one == pytest.approx(float(exact_tail(b, m)), rel=1e-12)
    half = (exact_tail(b, m) + exact_tail(b + 1, m)) / 2 if m else Fraction(1)
    assert mid == pytest.approx(float(half), rel=1e-12)
    two = min(1.0, 2 * float(exact_tail(max(b, c), m)))
    assert float(stats.mcnemar_exact(b, c, "two-sided")) == pytest.approx(two, rel=1e-12)
    assert float(stats.mcnemar_exact(b, c, "improvement")) == float(stats.mcnemar_exact(c, b))


def test_p_values_of_arrays_equal_those_one_at_a_time() -> None:
    b, c = np.array([0, 4, 5, 70]), np.array([0, 0, 1, 40])
    found = stats.mcnemar_exact(b, c)
    assert found.tolist() == [float(stats.mcnemar_exact(int(i), int(j))) for i, j in zip(b, c, strict=True)]


def test_no_discordant_pair_gives_p_1_and_says_so() -> None:
    for midp in (False, True):
        found = stats.mcnemar_exact(0, 0, midp=midp)
        assert (found.value, found.status) == (1.0, "no_discordant_pairs")


@given(st.integers(0, 300), st.sampled_from([0.05, 0.0625, 0.03125, 0.01, 0.1, 0.05 / 3]), st.booleans())
def test_critical_flips_reject_strictly_and_one_fewer_does_not(m: int, alpha: float, midp: bool) -> None:
    critical = stats.critical_flips(m, alpha, midp)
    if critical is None:
        assert float(stats.mcnemar_exact(m, 0, midp=midp)) >= alpha
        return
    assert float(stats.mcnemar_exact(critical, m - critical, midp=midp)) < alpha
    assert float(stats.mcnemar_exact(critical - 1, m - critical + 1, midp=midp)) >= alpha


def test_a_p_value_equal_to_the_level_does_not_reject() -> None:
    assert stats.critical_flips(4, 0.0625) is None
    assert stats.critical_flips(5, 0.0625) == 5
    assert stats.critical_flips(5, 0.03125) is None


def test_critical_flips_of_an_array_hold_nan_where_nothing_rejects() -> None:
    found = stats.critical_flips([4, 5, 8])
    assert math.isnan(found[0])
    assert found[1:].tolist() == [5.0, 7.0]


def test_holm_over_more_metrics_costs_clean_flips() -> None:
    assert [stats.min_clean_flips(0.05, k) for k in range(1, 13)] == [5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8, 8]
    assert stats.min_clean_flips(0.05, midp=True) == 4
    assert stats.min_clean_flips(0.0625) == 5


def test_improvements_cost_regressions() -> None:
    needed = [next(b for b in range(50) if float(stats.mcnemar_exact(b, c)) < 0.05) for c in range(4)]
    assert needed == [5, 7, 9, 10]


@pytest.mark.parametrize("method", ["newcombe", "tango", "bonett_price"])
@given(cells=st.tuples(*[st.integers(0, 40)] * 4).filter(any))
def test_difference_intervals_enclose_the_difference_and_mirror_when_runs_are_swapped(
    method: Any, cells: tuple[int, int, int, int]
) -> None:
    found = stats.paired_diff_interval(cells, method=method)
    n11, n10, n01, n00 = cells
    assert -1 <= found.lo <= found.value <= found.hi <= 1
    swapped = stats.paired_diff_interval((n11, n01, n10, n00), method=method)
    assert (swapped.lo, swapped.hi) == pytest.approx((-found.hi, -found.lo), abs=1e-9)


def test_tango_without_discordant_pairs_has_its_closed_form() -> None:
    found = stats.paired_diff_interval((45, 0, 0, 5), method="tango")
    assert found.hi == pytest.approx(0.0713, abs=5e-5)


def test_no_pair_is_not_measured() -> None:
    assert stats.paired_diff_interval((0, 0, 0, 0)).status == "not_measured"


def test_a_million_pairs_do_not_overflow() -> None:
    found = stats.paired_diff_interval((450_000, 40_000, 60_000, 450_000))
    assert found.lo == pytest.approx(0.019381419630495389, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.mcnemar_exact(-1, 2), "b must not be negative"),
        (lambda: stats.mcnemar_exact(1, 2, "less"), "alternative must be one of"),  # type: ignore[call-overload]
        (lambda: stats.critical_flips(5, 1.0), "alpha must lie strictly"),
        (lambda: stats.min_clean_flips(0.05, 0), "n_metrics must be at least 1"),
        (lambda: stats.paired_diff_interval((1, 2, 3, -4)), "n00 must not be negative"),
        (lambda: stats.paired_diff_interval((1, 1, 1, 1), method="wald"), "method must be one of"),  # type: ignore[arg-type]
    ],
)
def test_wrong_input_is_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_two_numbered_cases_in_a_tuple_are_one_list_of_ids() -> None:
    table = stats.paired_table([1, 0], [1, 1], on=(1, 2))
    assert (table.n11, table.n01, table.n) == (1, 1, 2)
    assert stats.paired_table([1, 0], [1, 1], on=([1, 2], np.array([2, 1]))).n10 == 0
