"""Outcomes become rates with intervals and bounds, and never a number where nothing was measured."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty import UsageError, stats
from neverempty.frames import check_frame
from neverempty.metrics import summarize

WORDS = st.lists(st.text("pfsn", min_size=1, max_size=4), max_size=12)
METRICS = st.sampled_from(["misreport_as_empty", "route"])


def one(frame: Any, **keys: Any) -> dict[str, Any]:
    (row,) = frame.to_dict("records")
    return dict(row)


@given(words=WORDS, metric=METRICS)
def test_counts_nest_and_bounds_contain_the_rate(words: list[str], metric: str, outcomes: Any) -> None:
    metrics = summarize(outcomes(words, metric))
    check_frame(metrics, "metrics")
    for row in metrics.to_dict("records"):
        assert row["n_cases"] >= row["n_applicable"] >= row["n_measured"] >= row["hits"] >= 0
        assert row["n_applicable"] == row["n_measured"] + row["n_no_signal"]
        numbers = [row[name] for name in ("value", "lo", "hi", "bound_lo", "bound_hi", "per_answer")]
        if row["n_measured"] == 0:
            assert all(map(math.isnan, numbers))
            assert row["status"] == ("not_measured" if row["n_applicable"] else "not_applicable")
        else:
            value, lo, hi, bound_lo, bound_hi, per_answer = numbers
            assert 0 <= lo <= value <= hi <= 1
            assert 0 <= bound_lo <= value + 1e-12
            assert value - 1e-12 <= bound_hi <= 1
            assert row["per_answer_lo"] <= per_answer <= row["per_answer_hi"]
            assert row["status"] == "ok"


@settings(max_examples=30)
@given(words=WORDS, metric=METRICS)
def test_bounds_are_the_rates_had_all_without_signal_gone_one_way(
    words: list[str], metric: str, outcomes: Any
) -> None:
    silent = [word for word in words if set(word) <= set("sn") and "s" in word]
    for letter in "pf":
        replaced = [letter if word in silent else word for word in words]
        if all(set(word) <= set("sn") for word in words):
            continue
        bounds = one(summarize(outcomes(words, metric)))
        assert any(
            math.isclose(one(summarize(outcomes(replaced, metric)))["value"], bounds[name])
            for name in ("bound_lo", "bound_hi")
        )


def test_ten_broken_of_a_hundred_show_both_readings(outcomes: Any) -> None:
    # 80 right of 90 that were scored is neither 80 % nor 88.9 % of a hundred
    row = one(summarize(outcomes(["p"] * 80 + ["f"] * 10 + ["s"] * 10, "route")))
    assert (row["hits"], row["n_measured"], row["n_applicable"]) == (80, 90, 100)
    assert (row["bound_lo"], row["bound_hi"]) == (0.8, 0.9)
    assert row["note"] == "without signal: agent_timeout 10"


def test_an_agent_that_crashes_on_everything_is_not_measured(outcomes: Any) -> None:
    row = one(summarize(outcomes(["sss"] * 60)))
    assert row["status"] == "not_measured"
    assert math.isnan(row["value"])


@pytest.mark.parametrize(("metric", "hits"), [("misreport_as_empty", 2), ("route", 4)])
def test_hits_are_failures_where_lower_is_better_and_passes_elsewhere(
    metric: str, hits: int, outcomes: Any
) -> None:
    row = one(summarize(outcomes(["f", "f", "p", "p", "p", "p"], metric)))
    assert row["hits"] == hits
    expected = stats.wilson_interval(hits, 6)
    assert (row["lo"], row["hi"]) == (expected.lo, expected.hi)


def test_per_answer_is_pooled_over_repeats_with_the_case_as_cluster(outcomes: Any) -> None:
    words = ["ffp", "ppp", "pps", "fff", "ppp", "ppf"]
    row = one(summarize(outcomes(words)))
    values = [letter == "f" for word in words for letter in word if letter != "s"]
    cases = [at for at, word in enumerate(words) for letter in word if letter != "s"]
    components = stats.variance_components(values, cases)
    expected = stats.wilson_interval(sum(values), len(values), design_effect=len(values) / components.n_eff)
    assert row["per_answer"] == sum(values) / len(values)
    assert (row["per_answer_lo"], row["per_answer_hi"]) == pytest.approx((expected.lo, expected.hi))
    assert row["note"] == "any-hit over 2 to 3 repeats"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12))
def test_effective_cases_agree_with_the_statistics_of_clusters(rows: list[tuple[int, int]]) -> None:
    from neverempty.metrics.clusters import clustered_rates

    sizes = np.array([size + hits for hits, size in rows])
    hits = np.array([hits for hits, _ in rows])
    clusters = np.arange(len(rows)) // 2
    rates = clustered_rates(np.zeros(len(rows), dtype=np.intp), clusters, hits, sizes, 1)
    values = [at < hit for hit, size in zip(hits, sizes, strict=True) for at in range(size)]
    labels = [cluster for cluster, size in zip(clusters, sizes, strict=True) for _ in range(size)]
    expected = stats.variance_components(values, labels)
    if not values:
        assert np.isnan(rates.value[0])
    else:
        assert rates.n_eff[0] == pytest.approx(expected.n_eff)


def test_cases_of_a_family_are_worth_fewer(outcomes: Any) -> None:
    tags = [(f"family:f{at // 5}", "en") for at in range(60)]
    words = ["f" if at < 30 else "p" for at in range(60)]
    alone, family = (one(summarize(outcomes(words, tags=tags_))) for tags_ in ([()] * 60, tags))
    assert family["value"] == alone["value"] == 0.5
    assert family["hi"] - family["lo"] > 1.5 * (alone["hi"] - alone["lo"])
    assert family["method"] == "wilson, n_eff"
    assert "60 are worth 11.2" in family["note"]


def test_cases_without_a_family_stand_for_themselves_among_families(outcomes: Any) -> None:
    tags: list[tuple[str, ...]] = [("family:x",)] * 4 + [()] * 4
    row = one(summarize(outcomes(["f"] * 4 + ["p"] * 4, tags=tags)))
    assert row["method"] == "wilson, n_eff"


def test_groups_are_counted_apart_and_stand_behind_the_metric(outcomes: Any) -> None:
    metrics = summarize(outcomes(["f", "p", "p"], language=["en", "hi", "hi"]), by="language")
    assert list(metrics.columns[:2]) == ["metric", "language"]
    assert metrics["value"].tolist() == [1.0, 0.0]


def test_a_case_counts_under_each_of_its_tags(outcomes: Any) -> None:
    metrics = summarize(outcomes(["f", "p"], tags=[("a", "b"), ()]), by="tags")
    assert metrics[["tags", "n_cases", "hits"]].to_dict("split")["data"] == [
        ["a", 1, 1],
        ["b", 1, 1],
        ["", 1, 0],
    ]


def test_arms_are_never_pooled(outcomes: Any) -> None:
    import pandas as pd

    both = pd.concat([outcomes(["f"]), outcomes(["p"], arm="swallowed")], ignore_index=True)
    assert summarize(both)[["arm", "hits"]].to_dict("split")["data"] == [["typed", 1], ["swallowed", 0]]
    assert summarize(both, by=["arm", "language"]).columns[1:3].tolist() == ["arm", "language"]


def test_an_unknown_column_to_group_by_is_named(outcomes: Any) -> None:
    with pytest.raises(UsageError, match="did you mean 'language'"):
        summarize(outcomes(["p"]), by="langauge")


def test_instability_is_the_share_of_cases_whose_repeats_disagree(outcomes: Any) -> None:
    row = one(summarize(outcomes(["pf", "pp", "ff", "p", "ps"])))
    assert row["unstable_rate"] == pytest.approx(1 / 3)
    assert math.isnan(one(summarize(outcomes(["p", "f"])))["unstable_rate"])


def test_numbers_have_a_median_with_an_interval_and_no_hits(outcomes: Any) -> None:
    values = [float(at) for at in range(1, 22)]
    row = one(summarize(outcomes(["p"] * 21, "latency_ms", value=values)))
    expected = stats.quantile_interval(values, 0.5)
    assert (row["value"], row["lo"], row["hi"]) == (11.0, expected.lo, expected.hi)
    assert np.isnan(float("nan") if row["hits"] is None else row["hits"]) or str(row["hits"]) == "<NA>"


def test_reasons_that_set_cases_apart_are_counted_and_routine_ones_are_not(outcomes: Any) -> None:
    reasons = ["recovered", "unclear: not_found", "the tool worked", None]
    row = one(summarize(outcomes(["n", "n", "n", "p"], reason=reasons)))
    assert row["note"] == "apart: recovered 1, unclear 1"
    assert row["n_applicable"] == 1


def test_no_outcomes_give_no_metrics(outcomes: Any) -> None:
    metrics = summarize(outcomes([]))
    assert metrics.empty
    check_frame(metrics, "metrics")


def test_ten_thousand_groups_need_no_warning_and_no_minute(outcomes: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics = summarize(outcomes(["pf"] * 3_000), by="case_id")
    assert len(metrics) == 3_000
