"""Families of cases, the anytime-valid test, and the comparison of several metrics."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import stats
from neverempty.stats import _binomial

PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@given(PAIRS)
def test_families_of_one_case_give_the_exact_mcnemar_test(pairs: list[tuple[int, int]]) -> None:
    base, cand = zip(*pairs, strict=True)
    found = stats.cluster_sign_flip(base, cand, range(len(pairs)))
    b = sum(x > y for x, y in pairs)
    c = sum(x < y for x, y in pairs)
    assert float(found) == pytest.approx(float(stats.mcnemar_exact(b, c)), rel=1e-12)


def test_a_family_that_moves_together_counts_once() -> None:
    base, cand = [1] * 25, [0] * 5 + [1] * 20
    together = stats.cluster_sign_flip(base, cand, [i // 5 for i in range(25)])
    assert (together.value, together.n) == (0.5, 1)
    assert float(stats.mcnemar_exact(5, 0)) < 0.05


def test_the_family_test_keeps_its_size_where_the_case_test_does_not() -> None:
    rng, runs = np.random.default_rng(12), 1500
    families = np.repeat(np.arange(25), 5)
    by_family = by_case = 0
    for _ in range(runs):
        kind = np.repeat(rng.choice(3, size=25, p=[0.25, 0.25, 0.5]), 5)
        base, cand = np.where(kind == 0, 1, kind == 2), np.where(kind == 1, 1, kind == 2)
        by_family += float(stats.cluster_sign_flip(base, cand, families)) < 0.05
        b, c = int((base > cand).sum()), int((base < cand).sum())
        by_case += float(stats.mcnemar_exact(b, c)) < 0.05
    assert by_family / runs <= 0.06
    assert by_case / runs > 0.15


def test_bootstrap_over_families_covers_at_95_percent_with_80_families_of_4() -> None:
    rng, runs, hits = np.random.default_rng(13), 800, 0
    families = np.repeat(np.arange(80), 4)
    for _ in range(runs):
        shift = np.repeat(rng.choice([0.0, 0.4], size=80), 4)
        base = rng.random(320) < 0.8
        cand = rng.random(320) < 0.8 - shift
        found = stats.cluster_bootstrap_diff(base, cand, families, 999, rng)
        hits += found.lo <= -0.2 <= found.hi
    assert 0.93 <= hits / runs <= 0.97


def test_nothing_changed_has_neither_a_test_nor_an_interval() -> None:
    assert stats.cluster_sign_flip([1, 1], [1, 1], "ab").status == "no_discordant_pairs"
    flat = stats.cluster_bootstrap_diff([1, 1], [1, 1], "ab", 50)
    assert (flat.value, flat.lo, flat.status) == (0.0, None, "degenerate")
    assert stats.cluster_bootstrap_diff([None], [1], "a", 50).status == "not_measured"


def test_a_pair_with_a_missing_side_is_dropped_and_counted() -> None:
    assert stats.cluster_sign_flip([1, None, 1], [0, 0, None], "abc").n_missing == 2
    with pytest.raises(ValueError, match="lengths differ: base has 1, cand has 2"):
        stats.cluster_sign_flip([1], [0, 1], "a")


@pytest.mark.parametrize("m", [0, 1, 5, 40, 200])
def test_the_evalue_has_mean_one_when_flips_are_a_fair_coin(m: int) -> None:
    b = np.arange(m + 1)
    chances = _binomial.pmf(b, m, 0.5)
    mean = sum(p * stats.evalue_flips(int(i), m - int(i)).value for i, p in zip(b, chances, strict=True))
    assert mean == pytest.approx(1.0, rel=1e-9)


def test_the_evalue_stays_a_number_at_any_size() -> None:
    for b, c in ((0, 5000), (5000, 0), (5000, 5000), (3000, 5000), (100_000, 10)):
        found = stats.evalue_flips(b, c)
        assert 0 < found.value <= sys.float_info.max
    assert stats.evalue_flips(0, 5000).value == pytest.approx(1 / 5001)
    assert stats.evalue_flips(5000, 0).reject(1e-9)


def test_the_evalue_needs_seven_clean_flips() -> None:
    assert [stats.evalue_flips(b, 0).reject() for b in (5, 6, 7)] == [False, False, True]
    with pytest.raises(ValueError, match="c must not be negative"):
        stats.evalue_flips(1, -1)


def runs_of(metric: str, passes: int, n: int = 30) -> dict[str, dict[int, Any]]:
    return {metric: {i: int(i < passes) for i in range(n)}}


def test_metrics_form_one_family_and_slices_describe() -> None:
    base = runs_of("a", 30) | runs_of("b", 30)
    cand = runs_of("a", 24) | runs_of("b", 29)
    rows = stats.compare(base, cand, slices={"tail": range(20, 30)})
    assert [(r.metric, r.slice) for r in rows] == [("a", None), ("a", "tail"), ("b", None), ("b", "tail")]
    whole, tail, other, _ = rows
    assert whole.p == pytest.approx(2**-6)
    assert (whole.p_adjusted, other.p_adjusted) == (pytest.approx(2**-5), pytest.approx(0.5))
    assert tail.p_adjusted is None
    assert whole.diff.value == -0.2


def test_a_declared_slice_belongs_to_the_family() -> None:
    rows = stats.compare(
        runs_of("a", 30), runs_of("a", 24), slices={"tail": range(20, 30)}, declared=["tail"]
    )
    assert [r.p_adjusted for r in rows] == [pytest.approx(2**-5)] * 2


def test_an_unmeasured_metric_leaves_the_family() -> None:
    base = runs_of("a", 30) | {"b": dict.fromkeys(range(30))}
    cand = runs_of("a", 25) | {"b": dict.fromkeys(range(30), 1)}
    first, second = stats.compare(base, cand)
    assert first.p_adjusted == first.p
    assert (second.p, second.p_adjusted, second.cannot_reject) == (None, None, True)


@pytest.mark.parametrize(
    ("base", "cand", "options", "message"),
    [
        (runs_of("a", 3), runs_of("b", 3), {}, "metrics stand in one run only"),
        (runs_of("a", 3), runs_of("a", 3, n=29), {}, "case ids do not match"),
        (runs_of("a", 3), runs_of("a", 3), {"declared": ["x"]}, "declared slices are unknown"),
        (runs_of("a", 3), runs_of("a", 3), {"alpha": 2}, "alpha must lie"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(base: Any, cand: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.compare(base, cand, **options)
