"""Comparing two reports: pairs, tests, intervals, what leaves the test, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty import InputError, UsageError, compare, compare_arms
from neverempty._io import dumps
from neverempty.gating import NotComparableError
from neverempty.gating.tables import paired_values
from neverempty.stats import PairedTable, mcnemar_exact, paired_diff_interval, wilson_interval

LIE = "misreport_as_empty"


def row_of(frame: pd.DataFrame, metric: str) -> dict[str, Any]:
    return frame.set_index("metric").loc[metric].to_dict()  # type: ignore[no-any-return]


def test_a_rate_that_is_better_when_lower_rises_by_what_got_worse(outcomes: Any) -> None:
    compared = compare(outcomes({LIE: "58*ppp 2*fff"}), outcomes({LIE: "50*ppp 10*ppf"}))
    row = row_of(compared.metrics, LIE)
    assert (row["regressed"], row["improved"], row["both_fail"]) == (8, 0, 2)
    assert (row["base"], row["cand"]) == pytest.approx((2 / 60, 10 / 60))
    assert row["diff"] == pytest.approx(8 / 60)
    assert (row["base_lo"], row["base_hi"]) == (wilson_interval(2, 60).lo, wilson_interval(2, 60).hi)
    newcombe = paired_diff_interval(PairedTable(2, 0, 8, 50))
    assert (row["diff_lo"], row["diff_hi"]) == (newcombe.lo, newcombe.hi)
    assert row["p"] == mcnemar_exact(8, 0).value == row["p_adjusted"]


def test_the_difference_of_a_rate_that_is_better_when_higher_is_negative_when_it_falls(outcomes: Any) -> None:
    row = row_of(compare(outcomes("60*ppp"), outcomes("55*ppp 5*fff"), ["route"]).metrics, "route")
    assert row["diff"] == pytest.approx(-5 / 60)
    assert row["diff_lo"] < row["diff"] < row["diff_hi"] < 0


def test_flipped_cases_are_named_with_the_repeats_behind_them(outcomes: Any) -> None:
    flips = compare(outcomes("fff 2*ppp"), outcomes("ppp ppf pff"), ["route"]).flips
    assert flips[["case_id", "change", "hits_base", "hits_cand", "n_measured_cand"]].to_dict("records") == [
        {"case_id": "c0", "change": "improved", "hits_base": 0, "hits_cand": 3, "n_measured_cand": 3},
        {"case_id": "c2", "change": "regressed", "hits_base": 3, "hits_cand": 1, "n_measured_cand": 3},
    ]


def test_pairs_that_leave_the_test_are_listed_with_the_reason(outcomes: Any) -> None:
    compared = compare(outcomes("4*ppp ---"), outcomes("fff ppn nnn --- ---"), ["route"])
    assert compared.left_out[["case_id", "reason", "unobserved_cand"]].fillna("").to_dict("records") == [
        {"case_id": "c1", "reason": "unequal_repeats", "unobserved_cand": ""},
        {"case_id": "c2", "reason": "no_signal", "unobserved_cand": "agent_timeout"},
        {"case_id": "c3", "reason": "applies_to_one_side", "unobserved_cand": "no_expectation"},
    ]
    row = row_of(compared.metrics, "route")
    counts = ("n_pairs", "regressed", "unequal_repeats", "no_signal", "applies_to_one_side")
    assert [row[name] for name in counts] == [1, 1, 1, 1, 1]


def test_stability_is_a_paired_metric_of_its_own(outcomes: Any) -> None:
    compared = compare(outcomes("59*ppp ppf"), outcomes("50*ppp 9*ppf ppp"), ["route"])
    assert row_of(compared.metrics, "route")["regressed"] == 0
    row = row_of(compared.instability, "unstable:route")
    assert (row["regressed"], row["improved"]) == (9, 1)
    assert row["p"] == mcnemar_exact(9, 1).value
    assert not row["gated"]


def test_holm_is_over_the_gated_metrics_and_arms_alone(outcomes: Any) -> None:
    both = [
        pd.concat([outcomes({LIE: lie, "route": route}, arm=arm) for arm in ("typed", "raised")])
        for lie, route in (("60*ppp", "60*ppp"), ("54*ppp 6*fff", "50*ppp 10*fff"))
    ]
    metrics = compare(*both, [LIE]).metrics
    gated = metrics[metrics["gated"]]
    assert gated["metric"].tolist() == [LIE, LIE]
    assert gated["p_adjusted"].tolist() == [2 * mcnemar_exact(6, 0).value] * 2
    assert metrics[~metrics["gated"]]["p_adjusted"].isna().all()
    assert len(compare(*both, [LIE], arms=["raised"]).metrics) == 2


def test_a_comparison_that_cannot_reject_says_so(outcomes: Any) -> None:
    four = compare(outcomes("4*p"), outcomes("4*p"), ["route"]).metrics
    five = compare(outcomes("5*p"), outcomes("5*p"), ["route"]).metrics
    assert (four["cannot_reject"].tolist(), five["cannot_reject"].tolist()) == ([True], [False])


def test_an_unmeasured_metric_has_no_number(outcomes: Any) -> None:
    row = row_of(compare(outcomes("9*nn"), outcomes("9*pp"), ["route"]).metrics, "route")
    assert row["status"] == "not_measured"
    assert all(
        pd.isna(row[name]) for name in ("base", "base_lo", "cand", "diff", "diff_hi", "p", "p_adjusted")
    )


def test_everything_that_cannot_be_compared_is_refused_at_once(report: Any) -> None:
    base = report(
        "59*pp 1*pp", known={"split_hash": "hash-0"}, pattern_version="rules-0", resolved_model="m-0"
    )
    base.provenance["pattern_version"] = "rules-0"
    with pytest.raises(NotComparableError) as refused:
        compare(base, report("61*ppp", scorer_version="2"), ["route"])
    assert [reason.name for reason in refused.value.reasons] == [
        "other_cases", "split_hash", "repeats", "pattern_version", "scorer_version", "model",
    ]  # fmt: skip
    assert isinstance(refused.value, InputError)
    assert len(refused.value.problems) == 6
    assert "s/c60/typed" in refused.value.problems[0]
    assert "allow_models = ['m-1']" in refused.value.problems[-1]


def test_another_model_is_allowed_by_name_only(report: Any) -> None:
    base, cand = report("9*p", resolved_model="m-0"), report("9*p")
    assert len(compare(base, cand, ["route"], allow_models=["m-1"]).metrics) == 1
    with pytest.raises(NotComparableError, match="model: the candidate was answered by m-1"):
        compare(base, cand, ["route"], allow_models=["m-0"])


def test_cases_that_were_edited_are_other_cases(report: Any) -> None:
    with pytest.raises(NotComparableError, match="edited_cases"):
        compare(report("9*p", known={"dataset_hash": "data-0"}), report("9*p"), ["route"])


@pytest.mark.parametrize("status", ["no_cases", "interrupted", "budget_stopped", "incomplete"])
def test_a_report_that_was_cut_off_is_not_compared(status: str, report: Any) -> None:
    with pytest.raises(NotComparableError, match=f"incomplete: the baseline is {status}: it was {status}"):
        compare(report("9*p", status=status), report("9*p"), ["route"])


def test_what_is_no_report_is_refused_in_words(outcomes: Any) -> None:
    with pytest.raises(UsageError, match="baseline: a str is neither a Report nor a frame"):
        compare("results", outcomes("p"), ["route"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="verdict"):
        compare(outcomes("p").drop(columns="verdict"), outcomes("p"), ["route"])
    with pytest.raises(NotComparableError, match="no metric 'rout'; did you mean 'route'"):
        compare(outcomes("p"), outcomes("p"), ["rout"])


def test_arms_are_compared_two_sided_with_holm_over_the_declared_pairs(outcomes: Any) -> None:
    suite = pd.concat(
        [
            outcomes({LIE: "60*p"}, arm="typed"),
            outcomes({LIE: "50*p 10*f"}, arm="swallowed"),
            outcomes({LIE: "59*p f"}, arm="raised"),
        ]
    )
    every = compare_arms(suite).metrics
    assert len(every) == 3
    first = every.iloc[0]
    assert (first["first_arm"], first["second_arm"]) == ("typed", "swallowed")
    assert (first["diff"], first["only_first_passes"]) == (pytest.approx(10 / 60), 10)
    two_sided = mcnemar_exact(10, 0, "two-sided").value
    assert (first["p"], first["p_adjusted"]) == (two_sided, 3 * two_sided)
    one = compare_arms(suite, [("swallowed", "typed")]).metrics.iloc[0]
    assert (one["p_adjusted"], one["diff"]) == (two_sided, pytest.approx(-10 / 60))


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ([("typed", "raisd")], "no arm 'raisd'; did you mean 'raised'"),
        ([("typed", "typed")], "a pair names two arms"),
        ([("typed", "raised"), ("raised", "typed")], "stands once"),
    ],
)
def test_pairs_of_arms_are_checked(pairs: Any, text: str, outcomes: Any) -> None:
    suite = pd.concat([outcomes("9*p", arm=arm) for arm in ("typed", "raised")])
    with pytest.raises(UsageError, match=text):
        compare_arms(suite, pairs)


def test_one_arm_has_nothing_to_be_compared_with(outcomes: Any) -> None:
    with pytest.raises(InputError, match="one arm, 'typed'"):
        compare_arms(outcomes("9*p"))


def test_paired_data_get_the_paired_test_and_no_p_above_one(outcomes: Any) -> None:
    # 20 and 8 changes among 200 shared cases: two-sided exact binomial 0.0357 (known from R's binom.test)
    base, cand = "20*p 8*f 172*p", "20*f 8*p 172*p"
    suite = pd.concat([outcomes(base, arm="a"), outcomes(cand, arm="b")])
    assert compare_arms(suite).metrics["p"].tolist() == [pytest.approx(0.0357, abs=5e-5)]
    even = pd.concat([outcomes("5*p 5*f", arm="a"), outcomes("5*f 5*p", arm="b")])
    assert compare_arms(even).metrics["p"].tolist() == [1.0]


@settings(max_examples=200)
@given(st.tuples(*[st.integers(0, 60)] * 4), st.booleans())
def test_intervals_hold_their_values_and_stay_within_their_range(cells: Any, is_lower: bool) -> None:
    found = paired_values(PairedTable(*cells), is_lower)
    if not sum(cells):
        assert found == {}
        return
    for name, least in (("base", 0), ("cand", 0), ("diff", -1)):
        lo, value, hi = (found[name + end] for end in ("_lo", "", "_hi"))
        assert least <= lo <= value <= hi <= 1  # type: ignore[operator]
    assert found["diff"] == pytest.approx(found["cand"] - found["base"])  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_changes_nothing(seed: int, outcomes: Any) -> None:
    base, cand = outcomes("7*pp 5*pf"), outcomes("9*pp 3*ff")
    mixed = cand.sample(frac=1, random_state=seed).reset_index(drop=True)
    one, other = (compare(base, side, ["route"]) for side in (cand, mixed))
    pd.testing.assert_frame_equal(one.metrics, other.metrics)
    assert set(one.flips["case_id"]) == set(other.flips["case_id"])


def test_a_comparison_is_strict_json_and_safe_html(outcomes: Any) -> None:
    from neverempty import gate

    base, cand = outcomes("8*pp nn"), outcomes("9*pp")
    cand["suite"] = base["suite"] = "<script>alert(1)</script>"
    compared = compare(base, cand, ["route"])
    assert "<script" not in compared._repr_html_()
    decision = gate(base, cand, {"metrics": ["route"]})
    found = json.loads(dumps(decision.as_dict()), parse_constant=pytest.fail)
    assert found["comparison"]["metrics"][0]["n_pairs"] == 8
    assert "<script" not in decision._repr_html_()
