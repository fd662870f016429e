from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import stats

REPEATS = st.lists(st.sampled_from([0, 1, None]), max_size=7)


@pytest.mark.parametrize(
    ("values", "how", "outcome"),
    [
        ([1, 1, 0], "majority", True),
        ([1, 0], "majority", False),
        ([1, 0, 0, 1], "majority", False),
        ([1, None, None], "majority", True),
        ([1, 1, 0], "any_hit", False),
        ([1, None, 1], "any_hit", True),
        ([0, 0, 1], "all", True),
        ([0, 0, 0], "all", False),
        ([3.0, 1.0, None, 2.0], "median", 2.0),
        ([3.0, 1.0], "mean", 2.0),
        ([], "majority", None),
        ([None, math.nan], "any_hit", None),
        ([None], "median", None),
    ],
)
def test_collapse_of_one_case(values: list[Any], how: Any, outcome: Any) -> None:
    found = stats.collapse(values, how)
    assert found == outcome
    assert type(found) is type(outcome)


@given(
    st.lists(REPEATS.filter(lambda r: len(r) == 3), max_size=8),
    st.sampled_from(["majority", "any_hit", "all"]),
)
def test_collapse_of_a_table_is_that_of_its_rows(rows: list[list[Any]], how: Any) -> None:
    table = np.array(rows, dtype=object).reshape(-1, 3)
    found = stats.collapse(table, how)
    one_by_one = [stats.collapse(row, how) for row in rows]
    assert [None if math.isnan(v) else bool(v) for v in found] == one_by_one


@given(REPEATS)
def test_any_hit_never_passes_where_majority_fails(values: list[Any]) -> None:
    any_hit, majority = stats.collapse(values, "any_hit"), stats.collapse(values, "majority")
    assert not (any_hit and not majority)


def test_collapse_refuses_partial_credit_and_unknown_ways() -> None:
    with pytest.raises(ValueError, match="must hold 0, 1 or None"):
        stats.collapse([0.5, 1])
    with pytest.raises(ValueError, match="how must be one of"):
        stats.collapse([1], "most")  # type: ignore[arg-type]


def test_a_case_is_unstable_when_its_measured_repeats_disagree() -> None:
    found = stats.instability([[1, 1, 1], [1, 0, 1], [0, 0, None], [1, None, None], []])
    assert (found.value, found.n, found.n_missing) == (1 / 3, 3, 2)
    assert stats.instability([[1], [0]]).status == "not_measured"


def test_instability_is_a_paired_metric() -> None:
    steady = {i: [1, 1, 1] for i in range(8)}
    flaky = {i: [1, 1, 0] for i in range(8)}
    flags = [dict(zip(run, stats.stability_flags(run.values()), strict=True)) for run in (steady, flaky)]
    table = stats.paired_table(*flags)
    assert float(stats.mcnemar_exact(table.b, table.c)) < 0.05
    collapsed = [{i: stats.collapse(v) for i, v in run.items()} for run in (steady, flaky)]
    assert stats.paired_table(*collapsed).b == 0


def test_pairs_with_unequal_repeats_are_listed() -> None:
    base = {"a": [1, 1, 1], "b": [1, 0, None], "c": [1, 1], "d": [0]}
    cand = {"a": [0, 1, 1], "b": [1, 0, 0], "c": [1, 1]}
    assert stats.unequal_repeats(base, cand) == ("b",)


def test_the_histogram_tells_a_few_coin_flips_from_a_flake_everywhere() -> None:
    assert stats.repeat_histogram([[1, 1, 1], [1, 0, 1], [0, 0, 1], [None], [1, 1, None]]) == {
        (0, 0): 1,
        (0, 2): 1,
        (0, 3): 1,
        (1, 3): 1,
        (2, 3): 1,
    }


@pytest.mark.parametrize("q", [0.01, 0.0345, 0.2])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_flake_rate_recovers_q_from_the_expected_table(q: float, k: int) -> None:
    shares = [math.comb(k, h) * q**h * (1 - q) ** (k - h) for h in range(k + 1)]
    cases = [[0] * h + [1] * (k - h) for h in range(k + 1) for _ in range(round(shares[h] * 20_000))]
    assert float(stats.call_flake_rate(cases)) == pytest.approx(q, rel=0.01)


def test_flake_rate_says_when_it_is_clipped_or_not_measured() -> None:
    assert stats.call_flake_rate([[1, 0]]).status == "clipped"
    assert stats.call_flake_rate([[1], [None]]).status == "not_measured"


@given(st.integers(1, 12), st.data())
def test_pass_at_k_and_pass_hat_k_equal_the_share_of_draws(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, min(n, 4)))
    draws = list(itertools.combinations([1] * c + [0] * (n - c), k))
    assert float(stats.pass_at_k(n, c, k)) == pytest.approx(sum(any(d) for d in draws) / len(draws))
    assert float(stats.pass_hat_k(n, c, k)) == pytest.approx(sum(all(d) for d in draws) / len(draws))


@pytest.mark.parametrize("function", [stats.pass_at_k, stats.pass_hat_k])
def test_fewer_attempts_than_k_are_undefined(function: Any) -> None:
    assert function(2, 1, 3).status == "undefined"
    with pytest.raises(ValueError, match="c must not exceed n"):
        function(2, 3, 1)


@given(st.floats(0, 1), st.integers(1, 9))
def test_collapse_probabilities_hang_together(q: float, k: int) -> None:
    p, mirrored = stats.collapse_probabilities(q, k), stats.collapse_probabilities(1 - q, k)
    assert p.p_any_hit == pytest.approx(p.p_unstable + p.p_all_hit, abs=1e-12)
    assert p.p_majority_strict + p.p_tie + mirrored.p_majority_strict == pytest.approx(1.0, abs=1e-12)


def test_a_confirming_rerun_squares_the_false_alarm_of_each_case() -> None:
    once = stats.must_pass_false_alarm(1, 3, 0.01)
    assert stats.must_pass_false_alarm(1, 3, 0.01, confirm=True) == pytest.approx(once**2)
    assert stats.must_pass_false_alarm(20, 3, 0.02) == pytest.approx(0.70, abs=0.005)
    assert stats.must_pass_false_alarm(0, 3, 0.5) == 0.0


def test_no_flake_rate_reaches_a_limit_above_that_of_coin_flips() -> None:
    assert stats.nondeterminism_threshold(0.9, 3).status == "undefined"
    with pytest.raises(ValueError, match="max_rate must lie"):
        stats.nondeterminism_threshold(1.5)
    with pytest.raises(ValueError, match="q must lie"):
        stats.instability_gate_probability(10, 3, -0.1)


@pytest.mark.parametrize("columns", [[0, 1, 2], ["a", "b", "c"]])
def test_a_frame_of_repeats_gives_what_its_rows_give(columns: list[object]) -> None:
    rows = [[1, 0, 1], [1, 1, None]]
    frame = pd.DataFrame(rows, columns=columns)
    for function in (
        stats.stability_flags,
        stats.instability,
        stats.repeat_histogram,
        stats.call_flake_rate,
        stats.krippendorff_alpha,
    ):
        assert function(frame) == function(rows)


def test_a_flat_list_of_repeats_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"one row of repeats per case; values\[0\] is 1"):
        stats.instability([1, 0, 1])
    with pytest.raises(ValueError, match=r"got an array of shape \(2, 2, 2\)"):
        stats.collapse(np.ones((2, 2, 2)))
