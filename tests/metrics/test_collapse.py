"""The repeats of a case become one outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import InputError, stats
from neverempty.frames import check_frame
from neverempty.metrics import collapse

WORDS = st.lists(st.text("pfsn", min_size=1, max_size=5), min_size=1, max_size=8)
HOW = {"misreport_as_empty": "any_hit", "route": "majority"}
AS_NUMBER = {"p": 1.0, "f": 0.0, "s": None, "n": None}


@pytest.mark.parametrize(
    ("metric", "word", "verdict", "hits", "measured", "unstable"),
    [
        ("misreport_as_empty", "ppp", "pass", 0, 3, False),
        ("misreport_as_empty", "ppf", "fail", 1, 3, True),
        ("misreport_as_empty", "pps", "pass", 0, 2, False),
        ("misreport_as_empty", "fss", "fail", 1, 1, False),
        ("misreport_as_empty", "sss", "no_signal", 0, 0, False),
        ("misreport_as_empty", "nns", "no_signal", 0, 0, False),
        ("misreport_as_empty", "nnn", "not_applicable", 0, 0, False),
        ("misreport_as_empty", "npp", "pass", 0, 2, False),
        ("route", "ppf", "pass", 2, 3, True),
        ("route", "pf", "fail", 1, 2, True),
        ("route", "pffs", "fail", 1, 3, True),
        ("route", "p", "pass", 1, 1, False),
    ],
)
def test_collapse(
    metric: str, word: str, verdict: str, hits: int, measured: int, unstable: bool, scores: Any
) -> None:
    (row,) = collapse(scores([word], metric)).to_dict("records")
    assert row["verdict"] == verdict
    assert (row["hits"], row["n_measured"], row["n_repeats"]) == (hits, measured, len(word))
    assert row["unstable"] is unstable
    assert pd.isna(row["reason"]) == (measured > 0)


@given(words=WORDS, metric=st.sampled_from(sorted(HOW)))
def test_verdicts_agree_with_the_statistics_of_repeats(words: list[str], metric: str, scores: Any) -> None:
    outcomes = collapse(scores(words, metric))
    check_frame(outcomes, "outcomes")
    for word, row in zip(words, outcomes.to_dict("records"), strict=True):
        values = [AS_NUMBER[letter] for letter in word]
        expected = stats.collapse(values, HOW[metric])  # type: ignore[arg-type]
        if expected is None:
            assert row["verdict"] == ("no_signal" if "s" in word else "not_applicable")
            assert np.isnan(row["value"])
        else:
            assert row["verdict"] == ("pass" if expected else "fail")
        assert row["unstable"] == (stats.stability_flags([values])[0] is False)
        assert 0 <= row["hits"] <= row["n_measured"] <= row["n_repeats"] == len(word)


@given(words=WORDS, seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(words: list[str], seed: int, scores: Any) -> None:
    frame = scores(words)
    shuffled = frame.sample(frac=1, random_state=seed)
    keys = ["suite", "case_id", "arm", "metric"]
    columns = [*keys, "verdict", "value", "n_repeats", "n_measured", "hits", "unstable"]
    left, right = (collapse(one)[columns].sort_values(keys, ignore_index=True) for one in (frame, shuffled))
    pd.testing.assert_frame_equal(left, right)


def test_numbers_collapse_to_their_median(scores: Any) -> None:
    frame = scores(["pppps"], "latency_ms", value=[1.0, 9.0, 2.0, 4.0, None])
    (row,) = collapse(frame).to_dict("records")
    assert (row["value"], row["n_measured"], row["verdict"], row["unstable"]) == (3.0, 4, "pass", False)


def test_repeats_that_copy_each_other_count_as_one(scores: Any) -> None:
    frame = scores(["fff", "fpp"], repeat_of=[None, 0, 0, None, None, 1])
    assert collapse(frame)["n_repeats"].tolist() == [1, 2]
    assert collapse(frame)["unstable"].tolist() == [False, True]
    assert collapse(frame[frame["repeat"] > 0])["n_repeats"].tolist() == [1, 1]


def test_a_metric_of_the_users_own_needs_its_nature_in_the_frame(scores: Any) -> None:
    with pytest.raises(InputError, match="collapse of the metric 'goal'"):
        collapse(scores(["p"], "goal"))
    frame = scores(["pf"], "goal", direction="lower", collapse="majority")
    assert collapse(frame)[["verdict", "hits"]].to_dict("records") == [{"verdict": "fail", "hits": 1}]


def test_repeats_of_different_versions_do_not_pass_as_one(scores: Any) -> None:
    frame = scores(
        ["pp", "pp"], resolved_model=["m1", "m2", "m1", "m1"], pattern_version=["1", None, "1", "1"]
    )
    collapsed = collapse(frame)
    assert collapsed["resolved_model"].tolist() == ["m1 | m2", "m1"]
    assert collapsed["pattern_version"].tolist() == ["1 | unknown", "1"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda frame: frame.drop(columns="verdict"), "'verdict' is missing"),
        (lambda frame: pd.concat([frame, frame], ignore_index=True), "stands more than once"),
        (lambda frame: frame.assign(value=np.inf), "infinite"),
    ],
)
def test_a_broken_frame_is_refused_in_words(damage: Any, message: str, scores: Any) -> None:
    with pytest.raises(InputError, match=message):
        collapse(damage(scores(["pp"])))


def test_no_scores_give_no_outcomes(scores: Any) -> None:
    outcomes = collapse(scores([]))
    assert outcomes.empty
    check_frame(outcomes, "outcomes")


def test_what_a_frame_lacks_is_not_taken_for_a_measurement(scores: Any) -> None:
    frame = scores(["p"]).drop(columns=["fault_kind", "tags", "must_pass", "split", "language"])
    (row,) = collapse(frame).to_dict("records")
    assert (row["fault_kind"], row["tags"], row["must_pass"]) == ("unknown", (), False)
