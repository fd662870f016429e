"""Stepping through fault cases: what is shown, what filters do, what an overruling changes."""

from __future__ import annotations

import html as stdlib_html
import re
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from neverempty import (
    Case,
    InputError,
    Report,
    ToolCall,
    Trace,
    UsageError,
    collapse,
    make_report,
    summarize,
    traces_frame,
)
from neverempty.widgets import FaultStepper, LabelStore, StepperState, apply_overrules

LIE, TRUTH = "There are no trams.", "The search timed out."
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</section></div><b>out",
    '" onmouseover="alert(1)',
    "</mark><iframe src='//x'>",
    "\x1b[31mred\u202e",
    "a\x00b\ud800",
    "&lt;script&gt;",
    "{{7*7}} ${7*7}",
]


def _report(answers: dict[str, dict[str, str]], kind: str = "timeout", shown: str = "None.") -> Report:
    """Report on cases whose answers are given by case and arm."""
    cases = [
        Case(id=name, input={"payload": "Any trams?"}, language="en" if name != "hindi" else "hi",
             faults=[{"tool": "trams" if name != "b" else "boats", "kind": kind}])
        for name in answers
    ]  # fmt: skip
    traces = []
    for case in cases:
        for arm, answer in answers[case.id].items():
            tool = case.faults[0].tool
            call = ToolCall(0, tool, {"to": "x"}, "error", shown, shown, kind=kind, injected=True)
            call.presentation, call.state = arm, "seen"
            crashed = answer == "CRASH"
            trace = Trace("default", case.id, arm, 0, "agent_error" if crashed else "ok", calls=[call])
            trace.answer = None if crashed else answer
            trace.messages = [{"role": "user", "content": "Any trams?"}]
            trace.language, trace.fault_kind, trace.fault_state = case.language, kind, "seen"
            trace.fault_presentation = arm
            traces.append(trace)
    return make_report(traces_frame(traces), cases, arms=["typed", "swallowed"], repeats=1)


@pytest.fixture
def report() -> Report:
    return _report(
        {
            "a": {"typed": TRUTH, "swallowed": TRUTH},
            "b": {"typed": TRUTH, "swallowed": LIE},
            "c": {"typed": "CRASH", "swallowed": "Hello."},
            "hindi": {"typed": "कोई ट्राम नहीं है।", "swallowed": "कोई ट्राम नहीं है।"},
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    return LabelStore(tmp_path / "labels.jsonl")


def test_the_worst_cases_come_first_with_every_arm_side_by_side(report: Report) -> None:
    state = StepperState(report)
    assert [case["case_id"] for case in state.shown] == ["b", "hindi", "c", "a"]
    assert [(one.arm, one.label) for one in state.repeats] == [
        ("swallowed", "misreport"),
        ("typed", "reported"),
    ]
    state.step(2)
    assert [(one.arm, one.label) for one in state.repeats] == [
        ("swallowed", "ignored"),
        ("typed", "no signal"),
    ]


def test_steps_stop_at_both_ends_and_say_so(report: Report) -> None:
    state = StepperState(report)
    state.press("p")
    assert (state.message, state.place) == ("this is the first case", "1 of 4: default/b")
    state.press("nnn")
    assert (state.message, state.place) == ("", "4 of 4: default/a")
    state.press("n")
    assert state.message == "this is the last case"
    state.goto("2")
    assert state.place == "2 of 4: default/hindi"
    state.goto("a")
    with pytest.raises(UsageError, match="no shown case is called 'zz'"):
        state.goto("zz")
    state.press("q")
    assert state.message == "the key 'q' means nothing"


@pytest.mark.parametrize(
    ("name", "value", "ids"),
    [
        ("label", "misreport", ["b", "hindi"]),
        ("label", "no signal", ["c"]),
        ("fault", "timeout", ["b", "hindi", "c", "a"]),
        ("tool", "boats", ["b"]),
        ("language", "hi", ["hindi"]),
    ],
)
def test_a_filter_shows_only_what_has_its_value(
    report: Report, name: str, value: str, ids: list[str]
) -> None:
    state = StepperState(report)
    state.filter(name, value)
    assert [case["case_id"] for case in state.shown] == ids
    state.press("c")
    assert len(state.shown) == 4


def test_filters_that_nothing_passes_show_no_case_and_no_error(report: Report) -> None:
    state = StepperState(report)
    state.filter("language", "hi")
    state.filter("tool", "boats")
    assert (state.current, state.repeats) == (None, [])
    assert state.place == "no case of 4 passes the filters"
    with pytest.raises(UsageError, match="no case has the label 'misreprot'; did you mean 'misreport'"):
        state.filter("label", "misreprot")


def test_disagreements_can_be_filtered_once_a_second_reader_has_read(report: Report) -> None:
    assert StepperState(report).options("disagreement") == ["all"]
    readings = pd.DataFrame({"suite": ["default"] * 2, "case_id": ["a", "b"], "agree": ["no", "yes"]})
    state = StepperState(report, readings=readings)
    state.filter("disagreement", "rules and judge: no")
    assert [case["case_id"] for case in state.shown] == ["a"]
    assert FaultStepper(report).filters["disagreement"].disabled
    assert not FaultStepper(report, readings=readings).filters["disagreement"].disabled


def test_an_overruling_is_kept_with_who_and_why_and_can_be_taken_back(
    report: Report, store: LabelStore
) -> None:
    state = StepperState(report, store, "ann")
    state.overrule("swallowed", 0, "reported", "the answer is a quote")
    found = {one.arm: one for one in state.repeats}["swallowed"]
    assert (found.label, found.overruled) == ("reported", "ann: reported, the answer is a quote")
    row = LabelStore(store.path).labels().iloc[0]
    assert (row["case_id"], row["arm"], row["label"], row["was"]) == (
        "b",
        "swallowed",
        "reported",
        "misreport",
    )
    state.take_back("swallowed", 0)
    assert {one.arm: one.label for one in state.repeats}["swallowed"] == "misreport"
    with pytest.raises(UsageError, match="was not overruled"):
        state.take_back("swallowed", 0)


def test_an_overruling_changes_the_frames_and_marks_them(report: Report, store: LabelStore) -> None:
    state = StepperState(report, store, "ann")
    state.overrule("swallowed", 0, "reported", "a quote")
    scores = apply_overrules(report.scores, report.traces, store)
    mine = scores[(scores["case_id"] == "b") & (scores["arm"] == "swallowed")].set_index("metric")
    for metric in ("misreport_as_empty", "undisclosed", "fabricated"):
        assert (mine.loc[metric, "label"], mine.loc[metric, "verdict"]) == ("reported", "pass")
        assert mine.loc[metric, "reason"] == "overruled by ann: a quote"
        assert mine.loc[metric, "scorer_version"].endswith("+overruled")
    untouched = scores["case_id"] != "b"
    pd.testing.assert_frame_equal(scores[untouched], report.scores[untouched])
    before, after = (
        summarize(collapse(frame))
        .set_index(["metric", "arm"])
        .loc[("misreport_as_empty", "swallowed"), "hits"]
        for frame in (report.scores, scores)
    )
    assert (before, after) == (2, 1)
    nothing = LabelStore(store.path.with_name("none.jsonl"))
    assert apply_overrules(report.scores, report.traces, nothing) is report.scores


def test_an_overruling_never_falls_on_another_answer_of_the_same_repeat(
    report: Report, store: LabelStore
) -> None:
    StepperState(report, store, "ann").overrule("swallowed", 0, "reported", "a quote")
    other = _report({"b": {"typed": TRUTH, "swallowed": "No trams run."}})
    assert {one.arm: one.overruled for one in StepperState(other, store, "ann").repeats}["swallowed"] == ""
    after = apply_overrules(other.scores, other.traces, store)
    pd.testing.assert_frame_equal(after, other.scores)


def test_people_who_overrule_differently_are_named_and_nothing_is_chosen_for_them(
    report: Report, store: LabelStore
) -> None:
    ann, ben = StepperState(report, store, "ann"), StepperState(report, store, "ben")
    ann.overrule("swallowed", 0, "reported", "a quote")
    ben.overrule("swallowed", 0, "ignored", "a joke")
    shown = {one.arm: one for one in ann.repeats}["swallowed"]
    assert shown.overruled == "ann: reported, a quote; ben: ignored, a joke"
    with pytest.raises(InputError, match=r"case 'b', arm 'swallowed', repeat 0: ann says reported, ben"):
        apply_overrules(report.scores, report.traces, store)
    ann.take_back("swallowed", 0)
    after = apply_overrules(report.scores, report.traces, store)
    assert set(after["label"][after["reason"] == "overruled by ben: a joke"]) == {"ignored"}


def test_a_claim_far_behind_the_shown_part_is_shown_with_its_place() -> None:
    long = "The tram line is old. " * 500 + LIE
    body = FaultStepper(_report({"a": {"typed": long, "swallowed": LIE}}))._repr_html_()
    assert "at character 11,000" in body
    assert body.count('title="claims absence"') == 2


def test_every_turn_of_a_repeat_can_be_opened(report: Report) -> None:
    turns = [{"role": "user", "content": "Any trams?"}, {"role": "assistant", "content": "I <look> it up."}]
    report.traces["messages"] = [turns] * len(report.traces)
    body = FaultStepper(report)._repr_html_()
    assert body.count("Every message of this repeat") == 2
    assert body.count("I &lt;look&gt; it up.") == 2


def test_messages_of_another_shape_are_left_out(report: Report) -> None:
    for messages in (["text", None, {"role": "user", "content": ["parts"]}, 3], None):
        report.traces["messages"] = [messages] * len(report.traces)
        assert "<section" in FaultStepper(report)._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("typed", 5, "reported", "x"), "has no repeat 5"),
        (("typed", 0, "false_alarm", "x"), "after error the label is one of"),
        (("typed", 0, "ignored", " "), "say why"),
    ],
)
def test_an_overruling_that_makes_no_sense_is_refused(
    report: Report, store: LabelStore, arguments: tuple[Any, ...], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        StepperState(report, store, "ann").overrule(*arguments)
    assert store.labels().empty


def test_without_a_store_or_a_name_nothing_is_overruled(report: Report, store: LabelStore) -> None:
    with pytest.raises(UsageError, match="there is no store"):
        StepperState(report).overrule("typed", 0, "ignored", "x")
    with pytest.raises(UsageError, match="annotator is empty"):
        StepperState(report, store)
    crashed = StepperState(report, store, "ann")
    crashed.goto("c")
    with pytest.raises(UsageError, match="nobody knows what happened"):
        crashed.overrule("typed", 0, "ignored", "x")


def test_a_report_without_fault_cases_has_nothing_to_step_through() -> None:
    trace = Trace("default", "a", "typed", 0, answer="Hello.")
    with pytest.raises(UsageError, match="nothing to step through"):
        FaultStepper(make_report(traces_frame([trace]), [Case(id="a", input={"payload": 1})]))


def test_the_panel_shows_what_happened_what_was_seen_and_the_marked_words(report: Report) -> None:
    body = FaultStepper(report)._repr_html_()
    assert 'title="claims absence"' in body
    assert re.search(r"<mark[^>]*>There are no</mark>|<mark[^>]*>There are no trams</mark>", body)
    for words in (
        "Conversation",
        "Any trams?",
        "what happened",
        "the model saw",
        "<b>fault timeout</b>",
        "seen",
    ):
        assert words in body
    assert body.count("<section") == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_from_outside_is_markup(text: str) -> None:
    report = _report({"a": {"typed": f"{text} {LIE}", "swallowed": text}}, shown=text)
    body = FaultStepper(report)._repr_html_()
    assert "<script" not in body
    assert "<iframe" not in body
    assert "<img" not in body
    assert not re.search(r"<[^>]*\son\w+=", body)
    body.encode("utf-8")
    assert body.count("<section") == body.count("</section>") == 2
    assert "\x1b" not in stdlib_html.unescape(body)


def test_keys_filters_and_buttons_of_the_panel_do_what_the_state_does(
    report: Report, store: LabelStore
) -> None:
    panel = FaultStepper(report, store, "ann")
    panel.box.value = "n"
    panel.box.value = "nn"
    assert panel.state.place == "3 of 4: default/c"
    panel.buttons["previous"].click()
    assert panel.state.place == "2 of 4: default/hindi"
    panel.filters["label"].value = "misreport"
    assert panel.state.place == "1 of 2 (of 4): default/b"
    panel.which.value = ("swallowed", 0)
    panel.label.value = "reported"
    panel.overrule.click()
    assert "say why" in panel._said.value
    panel.reason.value = "a quote"
    panel.overrule.click()
    assert (panel.reason.value, len(store.labels())) == ("", 1)
    panel.back.click()
    assert store.labels().empty
    panel.jump.value = "nobody"
    assert "no shown case is called" in panel._said.value
    assert "text/html" in panel._repr_mimebundle_()


def test_a_step_in_a_large_report_takes_no_time() -> None:
    report = _report({f"c{at}": {"typed": LIE, "swallowed": TRUTH} for at in range(1000)})
    panel = FaultStepper(report)
    start = time.perf_counter()
    for _ in range(20):
        panel.state.step(1)
        panel._draw()
    assert (time.perf_counter() - start) / 20 < 0.5
