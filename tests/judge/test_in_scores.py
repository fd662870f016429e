"""A judge's numbers in scores and reports: marked, cut without agreement, shown with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neverempty import Case, Report, ToolCall, Trace, UsageError, gate, make_report, traces_frame
from neverempty.judge import FakeJudge, Judge, StatementReader, calibrate, second_reading
from neverempty.report.badge import badge_json
from neverempty.report.csv_export import csv_files
from neverempty.report.export_content import content_of
from neverempty.report.html_page import page
from neverempty.report.json_export import export_json
from neverempty.report.junit import junit
from neverempty.report.markdown_fit import comment
from neverempty.report.readme_numbers import region, source_of
from neverempty.scorers import FactsScorer, ForbiddenClaimsScorer, RuleTraceScorer, default_scorers

GOOD = '{"verdict": "supported", "quotes": ["."], "reason": "r"}'
WRONG = '{"verdict": "contradicted", "quotes": ["."], "reason": "r"}'


_WITHOUT_RATES = ("junit", "badge", "readme")
_RATE = {"csv": ",0.9,"}


def _judge(**replies: str) -> Judge:
    return Judge(FakeJudge({key.replace("_", " "): value for key, value in replies.items()}), ["scripted"])


def _report(judge: Judge, n: int = 60) -> Report:
    fact = {"id": "trams", "statement": "Two trams leave at nine.", "match": "judge"}
    cases = [
        Case(id=str(at), input={"payload": "Which trams?"}, language="en", expect={"facts": [fact]})
        for at in range(n)
    ]
    answers = ["Two trams leave at nine."] * (n - 6) + ["Ask the driver about the weather."] * 6
    traces = traces_frame(
        Trace(
            "default", case.id, "typed", 0, answer=answer, language="en", calls=[ToolCall(0, "t", {}, "data")]
        )
        for case, answer in zip(cases, answers, strict=True)
    )
    return make_report(traces, cases, scorers=[FactsScorer(StatementReader(judge))], repeats=1)


def _calibrated(judge_id: str | None, good: bool = True) -> Any:
    labels = ["supported", "contradicted", "not_in_evidence"] * 30
    said = labels if good else labels[1:] + labels[:1]
    return calibrate(
        {"id": str(at), "label": label, "judge_label": other, "judge_id": judge_id}
        for at, (label, other) in enumerate(zip(labels, said, strict=True))
    )


def _renderings(report: Report) -> dict[str, str]:
    content = content_of(report)
    return {
        "markdown": report.to_markdown(),
        "fragment": report._repr_html_(),
        "page": page(content),
        "comment": comment(content),
        "json": export_json(content),
        "junit": junit(content),
        "csv": dict(csv_files(content))["metrics"],
        "badge": badge_json(content),
        "readme": region([source_of(report, "reports/one")]),
    }


def test_a_judge_alone_is_enough_to_choose_the_scorers() -> None:
    judge = _judge()
    fact = {"id": "a", "statement": "Two trams leave.", "match": "judge"}
    item = {"item_id": "p-1", "rule_result": "refused", "rule_trace": "too small ."}
    case = Case(id="a", input={"payload": 1}, expect={"facts": [fact], "items": [item]})
    for given, names in (
        (judge, {"facts", "contradicts_rule_trace"}),
        (StatementReader(judge), {"facts"}),
        (None, set()),
    ):
        chosen = default_scorers([case], judge=given)
        assert {one.name for one in chosen if judge.judge_id in one.version} == names
    assert "contradicts_rule_trace" not in {one.name for one in default_scorers([case])}


def test_a_judged_fact_names_its_judge_in_the_version_of_its_scores() -> None:
    judge = _judge()
    report = _report(judge)
    assert set(report.scores["scorer_version"]) == {f"facts/1+judge.{judge.judge_id}"}
    assert report.outcomes["verdict"].value_counts().to_dict() == {"pass": 54, "fail": 6} | {
        name: 0 for name in report.outcomes["verdict"].cat.categories if name not in ("pass", "fail")
    }


def test_without_agreement_a_judges_number_stands_nowhere() -> None:
    for name, text in _renderings(_report(_judge())).items():
        assert "90.0 %" not in text, name


@pytest.mark.parametrize("good", [True, False])
def test_a_calibration_shows_or_cuts_the_number_in_every_format(good: bool) -> None:
    judge = _judge()
    report = _report(judge).with_calibration(_calibrated(judge.judge_id, good))
    facts = report.provenance["judges"]["facts"]
    assert (facts["trust"], facts["n"]) == ("trusted" if good else "cut", 90)
    for name, text in _renderings(report).items():
        if name not in _WITHOUT_RATES:
            assert (_RATE[name] in text if name in _RATE else "90.0 %" in text) == good, name
    assert ('failures="6" errors="0"' in junit(content_of(report))) == good
    assert ('failures="0" errors="60"' in junit(content_of(report))) != good


def test_rates_of_claims_are_corrected_for_the_judges_errors_in_every_format() -> None:
    judge = _judge()
    assert _report(judge).judged.empty
    labels = ["supported"] * 100 + ["contradicted"] * 50 + ["not_in_evidence"] * 50
    said = ["supported"] * 80 + ["not_in_evidence"] * 20 + ["contradicted"] * 50 + ["not_in_evidence"] * 50
    found = calibrate(
        {"id": str(at), "label": label, "judge_label": other, "judge_id": judge.judge_id}
        for at, (label, other) in enumerate(zip(labels, said, strict=True))
    )
    report = _report(judge).with_calibration(found)
    (row,) = report.judged.to_dict("records")
    assert (row["metric"], row["verdict"], row["n_claims"], row["raw"]) == ("facts", "supported", 60, 0.9)
    assert (row["sensitivity"], row["n_pos"], row["specificity"], row["n_neg"]) == (0.8, 100, 1.0, 100)
    assert (row["value"], row["status"]) == (1.0, "clipped")
    assert row["lo"] < 1.0
    for name, text in _renderings(report).items():
        told = name in ("markdown", "fragment", "page", "comment")
        assert ("corrected for the judge" in text) == told, name
    assert json.loads(_renderings(report)["json"])["judged"][0]["sensitivity"] == 0.8


def test_claims_of_one_case_count_as_alike_and_a_silent_judge_as_no_claim() -> None:
    judge = _judge(
        Odd="nonsense", Sum=GOOD.replace('"."', '"seven"'), Product='{"verdict": "not_in_evidence"}'
    )
    names = ("Odd", "Sum", "Product")
    facts = [{"id": name, "statement": name, "match": "judge"} for name in names]
    cases = [Case(id=str(at), input={"payload": 1}, expect={"facts": facts}) for at in range(12)]
    answers = ["seven" if at % 2 else "eight" for at in range(36)]
    traces = traces_frame(
        Trace("default", str(at // 3), "typed", at % 3, answer=answer, calls=[ToolCall(0, "t", {}, "data")])
        for at, answer in enumerate(answers)
    )
    report = make_report(traces, cases, scorers=[FactsScorer(StatementReader(judge))], repeats=3)
    (row,) = report.with_calibration(_calibrated(judge.judge_id)).judged.to_dict("records")
    assert row["n_claims"] == 18 * 2 + 18
    assert row["raw"] == pytest.approx(18 / 54)


@pytest.mark.parametrize("stale", ["other", None])
def test_an_agreement_under_another_hash_in_the_provenance_does_not_count(stale: str | None) -> None:
    judge = _judge()
    report = _report(judge).with_calibration(_calibrated(judge.judge_id))
    report.provenance["judges"]["facts"]["judge_id"] = stale
    assert report.judged.empty
    for name, text in _renderings(report).items():
        assert "90.0 %" not in text, name


def test_a_calibration_of_another_judge_is_stale() -> None:
    report = _report(_judge())
    for judge_id in ("other", None):
        with pytest.raises(UsageError, match="another model, prompt or rubric"):
            report.with_calibration(_calibrated(judge_id))


def test_a_gate_on_a_judge_nobody_knows_never_passes() -> None:
    judge = _judge()
    asked = {"metrics": ["facts"], "floors": {"facts": 0.5}}
    report = _report(judge)
    decision = gate(None, report, asked)
    assert (decision.verdict, decision.exit_code) == ("inconclusive", 3)
    assert "facts is scored by a judge whose agreement with people is unknown" in decision.lines()[0]
    assert gate(None, report.with_calibration(_calibrated(judge.judge_id)), asked).exit_code == 0
    assert gate(None, report.with_calibration(_calibrated(judge.judge_id, False)), asked).exit_code == 3


def test_too_few_labels_are_no_agreement() -> None:
    judge = _judge()
    few = calibrate(
        [{"id": "a", "label": "supported", "judge_label": "supported", "judge_id": judge.judge_id}]
    )
    report = _report(judge).with_calibration(few)
    assert report.provenance["judges"]["facts"]["trust"] == "not_measured"
    assert "90.0 %" not in report.to_markdown()


def test_a_judge_without_a_verdict_is_no_signal() -> None:
    case = Case(
        id="a",
        input={"payload": 1},
        expect={"forbidden_claims": [{"id": "g", "statement": "It is guaranteed.", "match": "judge"}]},
    )
    trace = Trace("default", "a", "typed", 0, answer="Perhaps.")
    for reply, verdict in (("nonsense", "no_signal"), (GOOD.replace('"."', '"Perhaps."'), "fail")):
        reader = StatementReader(_judge(**{"It_is_guaranteed.": reply}))
        (score,) = ForbiddenClaimsScorer(reader).score(trace, case)
        assert score.verdict == verdict


@pytest.mark.parametrize(
    ("replies", "verdict", "label"),
    [
        ([WRONG, GOOD], "fail", "contradicted"),
        ([GOOD, GOOD], "pass", "consistent"),
        (['{"verdict": "not_in_evidence"}', GOOD], "pass", "consistent"),
        (["nonsense", GOOD], "no_signal", None),
        (["nonsense", WRONG], "fail", "contradicted"),
    ],
)
def test_an_answer_is_held_against_each_items_rule_trace(
    replies: list[str], verdict: str, label: str | None
) -> None:
    items = [
        {"item_id": name, "rule_result": "refused", "rule_trace": "too small ."} for name in ("p-1", "p-2")
    ]
    case = Case(id="a", input={"payload": 1}, expect={"items": items})

    class ByItem:
        name, family = "m", "openai"

        def reply(self, messages: Any, params: Any) -> str:
            return replies["p-2" in messages[1]["content"]]

    scorer = RuleTraceScorer(Judge(ByItem(), ["meta"]))
    trace = Trace("default", "a", "typed", 0, answer="Both were refused for a missing stamp.")
    (score,) = scorer.score(trace, case)
    assert (score.verdict, score.label) == (verdict, label)
    assert "judge." in scorer.version
    assert scorer.score(trace, Case(id="a", input={"payload": 1}))[0].verdict == "not_applicable"
    crashed = Trace("default", "a", "typed", 0, status="agent_error", answer="x")
    assert scorer.score(crashed, case)[0].verdict == "no_signal"


def test_the_second_reader_stays_apart_and_lists_its_disagreements() -> None:
    class Says:
        name, family = "m", "openai"

        def reply(self, messages: Any, params: Any) -> str:
            absent = "there is none of what" in messages[1]["content"]
            return GOOD if absent else '{"verdict": "not_in_evidence"}'

    judge = Judge(Says(), ["meta"])
    traces = [
        Trace("default", "sv", "typed", 0, answer="Det finns inga bussar i kväll, tyvärr.", language="sv"),
        Trace("default", "en", "typed", 0, answer="There are no buses.", language="en"),
        Trace("default", "fail", "typed", 0, answer="The search timed out.", language="en"),
        Trace("default", "blank", "typed", 0, answer=" "),
    ]
    alone = second_reading(traces, judge)
    assert alone[["case_id", "rules", "judge", "agree"]].values.tolist() == [
        ["sv", "unreadable", "absence", "unknown"]
    ]
    both = second_reading(traces, judge, unreadable_only=False)
    assert both.loc[both["agree"] == "no", "case_id"].tolist() == ["fail"]
    assert both.loc[both["agree"] == "yes", "case_id"].tolist() == ["en"]
    assert set(both["judge_id"]) == {judge.judge_id}
