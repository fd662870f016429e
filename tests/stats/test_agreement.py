from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from neverempty import stats

LABELS = ("supported", "unsupported", "contradicted")
TABLES = st.lists(st.integers(0, 30), min_size=9, max_size=9).map(lambda c: np.array(c).reshape(3, 3))
JUDGE = np.array([[106, 10, 4], [22, 28, 10], [2, 12, 6]])


def test_declared_labels_keep_their_place_and_abstentions_their_count() -> None:
    human = ["supported", "supported", "contradicted", None, "contradicted"]
    judge = ["supported", "contradicted", None, "supported", "contradicted"]
    found = stats.confusion_matrix(human, judge, LABELS)
    assert found.counts == ((1, 0, 1), (0, 0, 0), (0, 0, 1))
    assert (found.judge_abstained, found.human_missing, found.n) == ({"contradicted": 1}, 1, 3)
    assert stats.cohen_kappa(found).n == 3


@pytest.mark.parametrize(
    ("human", "judge", "labels", "message"),
    [
        (["a"], ["a", "b"], ["a", "b"], "lengths differ: human has 1, judge has 2"),
        (["a"], ["c"], ["a", "b"], r"judge\[0\] is 'c'"),
        (["c"], ["a"], ["a", "b"], r"human\[0\] is 'c'"),
        (["a"], ["a"], ["a", "a"], "at least two different categories"),
        (["a"], ["a"], ["a"], "at least two different categories"),
    ],
)
def test_labels_that_were_not_declared_are_refused_by_place(
    human: Any, judge: Any, labels: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        stats.confusion_matrix(human, judge, labels)


@pytest.mark.parametrize("diagonal", [0, 1, 2])
@pytest.mark.parametrize("n", [1, 5, 400])
def test_kappa_of_one_category_is_undefined_never_0_or_1(diagonal: int, n: int) -> None:
    table = np.zeros((3, 3), int)
    table[diagonal, diagonal] = n
    found = stats.cohen_kappa(table)
    assert (found.value, found.lo, found.hi, found.status) == (None, None, None, "undefined")
    assert stats.kappa_bootstrap(table, 50).value is None
    assert stats.scott_pi(table).status == "undefined"
    assert stats.krippendorff_alpha([(1, 1)] * n).status == "undefined"
    assert stats.judge_trust(found, min_n=0).level == "not_measured"
    ac1 = stats.gwet_ac1(table)
    assert (ac1.value, ac1.lo, ac1.status) == (1.0, None, "degenerate")


def test_a_constant_rater_gives_kappa_0_without_interval_and_warns() -> None:
    with pytest.warns(stats.DegenerateTableWarning, match="single category"):
        found = stats.cohen_kappa([[20, 0, 0], [15, 0, 0], [5, 0, 0]])
    assert (found.value, found.se, found.lo, found.status) == (0.0, 0.0, None, "degenerate")


def test_perfect_agreement_takes_its_lower_bound_from_wilson() -> None:
    found = stats.cohen_kappa(np.diag([7, 3]))
    lo = stats.wilson_interval(10, 10).lo
    assert found.lo == pytest.approx((lo - 0.58) / 0.42)
    assert (found.value, found.hi, found.status) == (1.0, 1.0, "degenerate")
    assert stats.judge_trust(stats.cohen_kappa(np.diag([40, 30, 30]))).level == "trusted"


@given(TABLES)
@pytest.mark.filterwarnings("ignore::neverempty.stats.DegenerateTableWarning")
def test_kappa_against_statsmodels(table: np.ndarray[Any, Any]) -> None:
    found = stats.cohen_kappa(table)
    if found.value is None or found.status == "degenerate":
        return
    theirs = cohens_kappa(table)
    assert found.value == pytest.approx(theirs.kappa, abs=1e-10)
    assert found.se == pytest.approx(math.sqrt(theirs.var_kappa), abs=1e-6)
    assert found.se0 == pytest.approx(math.sqrt(theirs.var_kappa0), abs=1e-6)
    assert found.kappa_max == pytest.approx(theirs.kappa_max, abs=1e-10)
    assert -1 <= found.lo <= found.value <= found.hi <= 1


@given(TABLES)
@pytest.mark.filterwarnings("ignore::neverempty.stats.DegenerateTableWarning")
def test_agreement_does_not_depend_on_who_is_the_judge(table: np.ndarray[Any, Any]) -> None:
    for measure in (stats.cohen_kappa, stats.gwet_ac1, stats.scott_pi, stats.brennan_prediger):
        one, other = measure(table), measure(table.T)
        assert one.value == pytest.approx(other.value, abs=1e-9) if one.defined else not other.defined


def test_kappa_interval_and_bootstrap_cover_near_95_percent_with_100_labels() -> None:
    rng, runs = np.random.default_rng(8), 800
    shares = 0.3 * np.full((3, 3), 1 / 9) + 0.7 * np.eye(3) / 3
    tables = rng.multinomial(100, shares.ravel(), size=runs).reshape(-1, 3, 3)
    plain = [stats.cohen_kappa(t) for t in tables]
    drawn = [stats.kappa_bootstrap(t, 999, rng) for t in tables]
    for found in (plain, drawn):
        assert 0.93 <= sum(k.lo <= 0.7 <= k.hi for k in found) / runs <= 0.97


def test_a_slice_of_nine_and_one_labels_has_no_bootstrap_interval() -> None:
    found = stats.kappa_bootstrap([[8, 0, 0], [0, 1, 0], [0, 0, 0]], 5000)
    assert found.p_undefined == pytest.approx(0.346, abs=0.03)
    assert (found.value, found.lo, found.status) == (1.0, None, "undefined")


@pytest.mark.parametrize(
    ("kappa", "lo", "n", "level"),
    [
        (0.8, 0.6, 100, "trusted"),
        (0.8, 0.599, 100, "provisional"),
        (0.6, 0.4, 100, "provisional"),
        (0.599, 0.5, 100, "cut"),
        (0.9, 0.8, 29, "not_measured"),
        (0.7, None, 100, "provisional"),
    ],
)
def test_trust_needs_the_lower_bound(kappa: float, lo: float | None, n: int, level: str) -> None:
    estimate = stats.Estimate(kappa, lo, 1.0, n=n)
    assert stats.judge_trust(estimate).level == level


def test_class_scores_are_wilson_rates_of_rows_and_columns() -> None:
    matrix = stats.ConfusionMatrix(LABELS, tuple(map(tuple, JUDGE.tolist())), {}, 0)
    last = stats.class_scores(matrix)[2]
    assert (last.label, last.precision.value, last.recall.value) == ("contradicted", 6 / 20, 6 / 20)
    assert last.precision.lo == stats.wilson_interval(6, 20).lo
    never = stats.ConfusionMatrix(("a", "b"), ((3, 0), (0, 0)), {}, 0)
    assert stats.class_scores(never)[1].recall.status == "not_measured"


def test_alpha_uses_items_with_missing_labels_and_more_than_two_raters() -> None:
    # Krippendorff (2011), Computing Krippendorff's alpha-reliability, example C, nominal: 0.743.
    raters = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    columns = zip(*raters, strict=True)
    units = [[None if v == "." else v for v in column] for column in columns]
    found = stats.krippendorff_alpha(units)
    assert float(found) == pytest.approx(0.743, abs=5e-4)
    assert (found.n, found.n_missing) == (11, 1)


def test_no_item_is_not_measured() -> None:
    empty = np.zeros((3, 3), int)
    for measure in (stats.cohen_kappa, stats.gwet_ac1, stats.scott_pi, stats.brennan_prediger):
        assert measure(empty).status == "not_measured"
    assert stats.krippendorff_alpha([["a", None]]).status == "not_measured"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], "table must be square"),
        ([[1]], "table must be square"),
        ([[1, -2], [3, 4]], "table must not be negative"),
        ([[1, 0.5], [3, 4]], "table must hold counts"),
    ],
)
def test_a_table_that_is_none_is_refused(table: Any, message: str) -> None:
    for measure in (stats.cohen_kappa, stats.gwet_ac1, stats.scott_pi, stats.kappa_bootstrap):
        with pytest.raises(ValueError, match=message):
            measure(table)
    with pytest.raises(ValueError, match="q must be at least 3"):
        stats.gwet_ac1(np.eye(3, dtype=int), q=2)


@pytest.mark.parametrize("marginals", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.3, 0.2)])
@pytest.mark.parametrize("kappa", [0.7, 0.75])
def test_the_label_budget_gives_about_its_power(kappa: float, marginals: tuple[float, ...]) -> None:
    budget = stats.kappa_label_budget(kappa, marginals=marginals)
    odds = stats.judge_trust_odds(budget.n, kappa, marginals)
    assert odds.p_trusted == pytest.approx(0.8, abs=0.05)
    total = odds.p_trusted + odds.p_provisional + odds.p_cut + odds.p_undefined
    assert total == pytest.approx(1.0)


def test_twenty_labels_cannot_judge_a_judge() -> None:
    good, bad = stats.judge_trust_odds(20, 0.7), stats.judge_trust_odds(20, 0.5)
    assert good.p_cut > 0.2
    assert bad.p_trusted + bad.p_provisional > 0.2
    assert stats.judge_trust_odds(200, 0.7).p_cut < 0.03


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.kappa_label_budget(0.6), "must exceed min_kappa"),
        (lambda: stats.kappa_label_budget(0.8, marginals=(0.5, 0.4)), "marginals must be"),
        (lambda: stats.judge_trust_odds(10, 1.2), "cannot occur"),
        (lambda: stats.judge_trust_odds(0, 0.5), "n must be at least 1"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_perfect_agreement_keeps_its_lower_bound_whatever_the_shares_round_to() -> None:
    for first in range(1, 12):
        for second in range(1, 12):
            found = stats.cohen_kappa([[first, 0, 0], [0, second, 0], [0, 0, 6]])
            assert (found.value, found.po, found.hi, found.status) == (1.0, 1.0, 1.0, "degenerate")
            assert found.lo is not None
            assert stats.gwet_ac1([[first, 0, 0], [0, second, 0], [0, 0, 6]]).lo is None


def test_a_kappa_of_exactly_the_threshold_is_not_cut() -> None:
    found = stats.cohen_kappa([[8, 1, 1], [1, 8, 1], [2, 2, 6]])
    assert found.value == 0.6
    assert stats.judge_trust(found).level == "provisional"


def test_perfect_disagreement_has_no_interval_of_width_zero() -> None:
    found = stats.gwet_ac1([[0, 5], [5, 0]])
    assert (found.value, found.lo, found.status) == (-1.0, None, "degenerate")


def test_one_category_has_no_label_budget_and_no_simulation_no_odds() -> None:
    with pytest.raises(ValueError, match="one category only"):
        stats.kappa_label_budget(0.8, marginals=(1.0, 0.0))
    with pytest.raises(ValueError, match="n_simulations must be at least 1"):
        stats.judge_trust_odds(30, 0.7, n_simulations=0)
