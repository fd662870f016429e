"""Plots of measurements: repeats, intervals, flips, confidence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import neverempty as ne
from neverempty import UsageError, plots, stats

Outcomes = Callable[..., pd.DataFrame]


def test_failing_repeats_are_counted_beside_what_common_flakes_would_give(outcomes: Outcomes) -> None:
    data = plots.instability_data(outcomes([0] * 40 + [1] * 6 + [2, 2, 3, 3]))
    assert data["cases"].tolist() == [40, 6, 2, 2]
    assert data["expected"].sum() == pytest.approx(50)


def test_expected_cases_show_a_few_coin_flips_as_such(outcomes: Outcomes) -> None:
    data = plots.instability_data(outcomes([0] * 90 + [1] * 5 + [2] * 5))
    # Were the flakes common, two of three would hardly ever fail.
    assert data["expected"].iloc[2] < 1 < data["cases"].iloc[2]


def test_unstable_bars_are_hatched(outcomes: Outcomes) -> None:
    ax = plots.instability(outcomes([0] * 9 + [1, 2, 3]))
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, True, True, False]
    assert "17 % of cases" in ax.get_xlabel()


def test_one_repeat_draws_without_an_unstable_case(outcomes: Outcomes) -> None:
    ax = plots.instability(outcomes([0, 0, 1], k=1))
    assert [bar.get_height() for bar in ax.patches] == [2, 1]


def test_a_forest_shows_only_what_its_cases_earn(outcomes: Outcomes) -> None:
    frame = pd.concat(
        [
            outcomes([0] * 50 + [1] * 10, arm="many"),
            outcomes([0] * 15 + [1] * 5, arm="some"),
            outcomes([0, 0, 1], arm="few"),
            outcomes([None] * 4, arm="none"),
        ],
        ignore_index=True,
    )
    metrics = ne.summarize(frame)
    data = plots.forest_data(metrics)
    assert data["group"].tolist() == ["many", "some", "few", "none"]
    assert data["text"].tolist() == [
        "16.7 %, n = 60",
        "25.0 % (indicative), n = 20",
        "1 of 3",
        "not measured",
    ]
    ax = plots.forest(metrics)
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_markerfacecolor() == "white" for line in marks] == [False, True]
    assert "open: fewer than 50 cases" in ax.get_xlabel()


def test_bounds_over_unmeasured_cases_are_drawn(outcomes: Outcomes) -> None:
    ax = plots.forest(ne.summarize(outcomes([0] * 50 + [1] * 10 + [None] * 20)))
    bar = next(line for line in ax.lines if line.get_linewidth() == 9)
    assert np.allclose(bar.get_xdata(), [10 / 80, 30 / 80])
    assert "pale" in ax.get_xlabel()


def test_hostile_names_are_drawn_as_they_stand(outcomes: Outcomes) -> None:
    name = "$\\nosuch{1}$ <b>"
    frame = pd.concat([outcomes([0] * 12, arm=name), outcomes([0] * 12)], ignore_index=True)
    for ax in (plots.forest(ne.summarize(frame)), plots.paired_flips(frame, frame)):
        ax.figure.canvas.draw()
        assert any(name in label.get_text() for label in ax.get_yticklabels())


def test_flips_are_counted_and_tested_on_pairs(outcomes: Outcomes) -> None:
    base = outcomes([0] * 20 + [1] * 2 + [None])
    candidate = outcomes([1] * 6 + [0] * 14 + [0, 1] + [1])
    data = plots.paired_flips_data(base, candidate)
    row = data.iloc[0]
    assert (row["pairs"], row["regressions"], row["improvements"]) == (22, 6, 1)
    assert row["p"] == pytest.approx(float(stats.mcnemar_exact(6, 1)))


def test_pairs_with_unequal_repeats_leave_the_flips(outcomes: Outcomes) -> None:
    base, candidate = outcomes([0] * 10), outcomes([1] * 10)
    candidate.loc[0, "n_measured"] = 2
    assert plots.paired_flips_data(base, candidate)["pairs"].tolist() == [9]


def test_flips_go_to_their_sides(outcomes: Outcomes) -> None:
    ax = plots.paired_flips(outcomes([0, 0, 0, 1]), outcomes([1, 1, 0, 0]))
    assert [bar.get_width() for bar in ax.patches] == [2, -1]
    assert any("p = 0.500, 4 pairs" in text.get_text() for text in ax.texts)


def test_runs_without_a_common_case_are_refused(outcomes: Outcomes) -> None:
    with pytest.raises(UsageError, match="share no measured case"):
        plots.paired_flips(outcomes([0]), outcomes([0], arm="raised"))


def test_risk_and_coverage_end_with_every_answer() -> None:
    confidence, error = [0.9, 0.8, 0.8, 0.3, None], [0, 0, 1, 1, 1]
    data = plots.risk_coverage_data(confidence, error)
    assert data["coverage"].tolist() == pytest.approx([0.2, 0.6, 0.8])
    assert data["risk"].tolist() == pytest.approx([0.0, 1 / 3, 0.5])
    assert ((data["lo"] <= data["risk"]) & (data["risk"] <= data["hi"])).all()
    ax = plots.risk_coverage(confidence, error)
    assert any("50 %" in text.get_text() for text in ax.texts)


def test_reliability_leaves_empty_bins_out() -> None:
    ax = plots.reliability([0.95, 0.95, 0.15], [1, 0, 0])
    assert [text.get_text() for text in ax.texts] == ["1", "2"]


def test_nothing_measured_is_no_plot(outcomes: Outcomes) -> None:
    with pytest.raises(UsageError, match="nothing to draw"):
        plots.instability(outcomes([None, None]))
    with pytest.raises(UsageError, match="nothing to draw"):
        plots.risk_coverage([None], [1])
    with pytest.raises(UsageError, match="nothing to draw"):
        plots.reliability([None], [1])
    with pytest.raises(UsageError, match="nothing to draw"):
        plots.forest(ne.summarize(outcomes([0] * 3)).assign(n_applicable=0))
