from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import stats

CASES = st.lists(
    st.tuples(st.sampled_from([0.2, 0.5, 0.9, None]), st.sampled_from([0, 1])), min_size=1, max_size=6
)


@given(CASES)
def test_aurc_is_the_mean_over_all_orders_within_ties(cases: list[tuple[float | None, int]]) -> None:
    answered = [(c, e) for c, e in cases if c is not None]
    found = stats.risk_coverage([c for c, _ in cases], [e for _, e in cases])
    assert (found.n, found.n_answered) == (len(cases), len(answered))
    if not answered:
        assert (found.aurc, found.augrc, found.curve) == (None, None, ())
        return
    areas = []
    for order in itertools.permutations(answered):
        if all(a[0] >= b[0] for a, b in itertools.pairwise(order)):
            errors = np.cumsum([e for _, e in order])
            areas.append(float((errors / np.arange(1, len(order) + 1)).mean()))
    assert found.aurc == pytest.approx(sum(areas) / len(areas))


@given(CASES)
def test_augrc_follows_from_the_auroc(cases: list[tuple[float | None, int]]) -> None:
    answered = [(c, e) for c, e in cases if c is not None]
    wrong, right = [c for c, e in answered if e], [c for c, e in answered if not e]
    if not wrong or not right:
        return
    wins = sum((r > w) + 0.5 * (r == w) for r in right for w in wrong) / (len(right) * len(wrong))
    acc = len(right) / len(answered)
    expected = (1 - wins) * acc * (1 - acc) + (1 - acc) ** 2 / 2
    assert float(stats.augrc(*zip(*cases, strict=True))) == pytest.approx(expected)


def test_abstentions_lower_the_coverage_and_not_the_risk() -> None:
    found = stats.risk_coverage([0.9, None, 0.8, None], [0, 1, 1, 0])
    assert found.coverage_max == 0.5
    assert [(p.coverage, p.selective_risk, p.generalized_risk) for p in found.curve] == [
        (0.25, 0.0, 0.0),
        (0.5, 0.5, 0.25),
    ]
    assert stats.selective_risk([0.9, None, 0.8, None], [0, 1, 1, 0]).n == 2


def test_answering_nothing_has_no_risk_not_a_risk_of_zero() -> None:
    assert stats.selective_risk([None, None], [1, 0]).status == "undefined"
    assert stats.selective_risk([0.5], [0], threshold=0.9).value is None
    assert stats.aurc([None], [1]).status == "undefined"
    assert stats.risk_coverage([], []).coverage_max is None


def test_an_error_that_was_not_measured_leaves_visibly() -> None:
    found = stats.risk_coverage([0.9, 0.8, None], [None, 1, None])
    assert (found.n, found.n_answered, found.n_missing) == (2, 1, 1)
    assert stats.selective_risk([0.9, 0.8], [None, 1]).n_missing == 1


def test_a_certified_threshold_keeps_its_risk_in_95_percent_of_samples() -> None:
    rng, runs, broken = np.random.default_rng(10), 1000, 0
    for _ in range(runs):
        score = rng.random(300)
        error = rng.random(300) < 0.4 * (1 - score)
        found = stats.coverage_at_risk(score, error, max_risk=0.12)
        # The true risk of accepting everything above t is 0.4 (1 - t) / 2.
        broken += found.threshold is not None and 0.2 * (1 - found.threshold) > 0.12
    assert broken / runs <= 0.05


def test_no_threshold_is_certified_from_a_handful_of_answers() -> None:
    found = stats.coverage_at_risk([0.9, 0.8, 0.7], [0, 0, 0], max_risk=0.05)
    assert (found.value, found.threshold, found.status) == (0.0, None, "cannot_reject")
    assert stats.coverage_at_risk([], [], 0.1).status == "not_measured"
    assert stats.coverage_at_risk([None], [0], 0.1).value == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.risk_coverage([0.9], [0, 1]), "lengths differ: confidence has 1, error has 2"),
        (lambda: stats.risk_coverage([0.9], [0.5]), "error must hold 0, 1 or None"),
        (lambda: stats.risk_coverage([math.inf], [0]), "confidence.* must be finite"),
        (lambda: stats.coverage_at_risk([0.9], [0], 1.5), "max_risk must lie"),
        (lambda: stats.coverage_at_risk([0.9], [0], 0.5, grid=0), "grid must be at least 1"),
        (lambda: stats.expected_calibration_error([1.2], [1]), "confidence must lie"),
        (lambda: stats.reliability_curve([0.2], [1], 0), "n_bins must be at least 1"),
        (lambda: stats.reliability_curve([0.2, 0.3], [1]), "lengths differ"),
    ],
)
def test_wrong_input_is_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_confidence_on_an_edge_belongs_to_the_bin_above_and_one_to_the_last() -> None:
    for i in range(10):
        counts = [b.n for b in stats.reliability_curve([i / 10], [1])]
        assert counts.index(1) == i
    assert stats.reliability_curve([1.0], [1])[-1].n == 1
    assert stats.reliability_curve([0.0], [1])[0].n == 1


def test_calibration_error_weights_bins_by_their_answers() -> None:
    confidence, correct = [0.95] * 8 + [0.55, 0.55], [1] * 6 + [0, 0] + [1, 0]
    found = stats.expected_calibration_error(confidence, correct)
    assert found.value == pytest.approx(0.8 * 0.2 + 0.2 * 0.05)


def test_calibration_error_of_a_calibrated_and_of_a_boastful_agent() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(50_000)
    honest = stats.expected_calibration_error(confidence, rng.random(50_000) < confidence)
    assert float(honest) < 0.01
    assert float(stats.expected_calibration_error([1.0] * 4, [0, 0, 0, 1])) == 0.75


def test_no_stated_confidence_is_not_measured() -> None:
    found = stats.expected_calibration_error([None, 0.5], [1, None])
    assert (found.status, found.n_missing) == ("not_measured", 2)
    empty = stats.reliability_curve([], [])
    assert all(b.accuracy.status == "not_measured" and b.mean_confidence is None for b in empty)
