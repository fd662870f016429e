"""From traces to the scores frame."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from neverempty import InputError, UsageError
from neverempty.cases import Case, Cases
from neverempty.frames import check_frame, read_frame, traces_frame, write_frame
from neverempty.scorers import FailureScorer, MetricSpec, RouteScorer, Score, default_scorers, score
from neverempty.traces.model import Trace


class Own:
    """A scorer that returns whatever it is given."""

    name, version = "own", "7"
    metrics = (MetricSpec("goal"),)

    def __init__(self, *scores: Any) -> None:
        self.scores = scores

    def score(self, trace: Trace, case: Case) -> Any:
        for one in self.scores:
            if isinstance(one, Exception):
                raise one
            yield one


@pytest.fixture
def frame(trace: Any, call: Any, said: Any) -> pd.DataFrame:
    return traces_frame(
        trace(said[claim], (call("error"),), repeat=repeat, run_id="r1", resolved_model="m")
        for repeat, claim in enumerate(("absence", "failure", "none"))
    )


def test_each_repeat_has_one_row_per_metric_and_keeps_the_contract(frame: Any, case: Any) -> None:
    cases = Cases([case("timeout"), case(id="unused")])
    scores = score(frame, cases)
    check_frame(scores, "scores")
    assert len(scores) == 3 * scores["metric"].nunique()
    assert set(scores["split_hash"]) == {cases.split_hash()}
    assert set(scores["fault_kind"]) == {"timeout"}
    claims = scores[scores["metric"] == "misreport_as_empty"]
    assert claims["pattern_version"].notna().all()
    assert claims["verdict"].tolist() == ["fail", "pass", "pass"]
    assert claims["direction"].tolist() == ["lower"] * 3


def test_scores_are_the_same_there_and_back(frame: Any, case: Any, tmp_path: Any) -> None:
    scores = score(frame, [case("timeout")])
    write_frame(scores, tmp_path / "scores.jsonl")
    pd.testing.assert_frame_equal(read_frame(tmp_path / "scores.jsonl", "scores"), scores)


def test_filtering_traces_filters_scores(frame: Any, case: Any) -> None:
    scores = score(frame[frame["repeat"] == 1], [case("timeout")])
    assert set(scores["repeat"]) == {1}


def test_no_traces_give_an_empty_frame_that_keeps_the_contract(case: Any) -> None:
    scores = score(traces_frame([]), [case()])
    assert scores.empty
    check_frame(scores, "scores")


def test_traces_without_their_case_are_named(frame: Any, case: Any) -> None:
    with pytest.raises(InputError, match="no case 'a' of suite 'default'"):
        score(frame, [case(id="b")])


def test_a_scorer_of_the_users_own_is_scored_beside_the_others(frame: Any, case: Any) -> None:
    own = Own(Score("goal", "met", "pass", 0.5, None, {"rows": 3}))
    scores = score(frame, [case("timeout")], [FailureScorer(), own])
    row = scores[scores["metric"] == "goal"].iloc[0]
    assert (row["label"], row["value"], row["scorer_version"]) == ("met", 0.5, "own/7")
    assert pd.isna(row["pattern_version"])


def test_a_scorer_that_raises_is_no_signal_with_its_error(frame: Any, case: Any) -> None:
    broken = Own(Score("goal", "met", "pass"), KeyError("rows"))
    scores = score(frame, [case("timeout")], [broken])
    assert scores["verdict"].tolist() == ["no_signal"] * 3
    assert scores["reason"].str.startswith("scorer_error: KeyError").all()


@pytest.mark.parametrize(
    ("yielded", "message"),
    [
        (Score("goals", "met", "pass"), "'goals', which none declares; did you mean 'goal'"),
        (Score("goal", "met", "passed"), "verdict 'passed'"),  # type: ignore[arg-type]
        (Score("goal", "met", "pass", float("inf")), "value inf"),
        (("goal", "met", "pass"), "no Score"),
    ],
)
def test_what_a_scorer_did_not_declare_is_refused(yielded: Any, message: str, frame: Any, case: Any) -> None:
    with pytest.raises(InputError, match=message):
        score(frame, [case("timeout")], [Own(yielded)])


def test_values_that_are_no_numbers_stay_missing(frame: Any, case: Any) -> None:
    scores = score(frame, [case("timeout")], [Own(Score("goal", "met", "pass", float("nan")))])
    assert scores["value"].isna().all()


def test_two_scorers_of_one_metric_and_objects_that_are_none_are_refused(frame: Any, case: Any) -> None:
    with pytest.raises(UsageError, match="the metric 'goal' is declared twice"):
        score(frame, [case("timeout")], [Own(), Own()])
    with pytest.raises(UsageError, match="is no scorer"):
        score(frame, [case("timeout")], ["failure"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("field", "value"), [("direction", "up"), ("collapse", "mean"), ("name", "My metric")]
)
def test_a_metric_spec_refuses_what_does_not_exist(field: str, value: str) -> None:
    with pytest.raises(UsageError, match="My metric" if field == "name" else field):
        MetricSpec(**({"name": "goal"} | {field: value}))  # type: ignore[arg-type]


def test_the_default_scorers_follow_from_what_the_suite_expects(case: Any) -> None:
    names = [scorer.name for scorer in default_scorers([case(expect={"route": {"label": "x"}})])]
    assert names == ["failure", "empty_payload", "route", "usage"]
    assert RouteScorer().metrics[0].direction == "higher"


def test_lone_surrogates_and_a_megabyte_are_scored(call: Any, case: Any, trace: Any) -> None:
    answers = ["ok \ud835", "\ud835", "x" * 1_000_000, "a\x00b", "7" * 5_000]
    frame = traces_frame(trace(text, (call("error"),), repeat=at) for at, text in enumerate(answers))
    scores = score(frame, [case("timeout")])
    assert not scores["reason"].fillna("").str.startswith("scorer_error").any()
