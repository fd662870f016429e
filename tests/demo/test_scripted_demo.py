"""The scripted demonstration: true rates beside measured ones, and nothing where nothing was measured."""

from __future__ import annotations

import math

import pytest

from neverempty.cases import Cases
from neverempty.demo.data import demo_cases
from neverempty.demo.scripted import DemoResult, run_demo, scripted_agents, true_per_case


@pytest.fixture(scope="module")
def result() -> DemoResult:
    english = [case for case in demo_cases(language="en") if case.split == "dev"]
    return run_demo(cases=Cases(english), repeats=2, progress=False)


def _row(result, agent, metric="misreport_as_empty"):
    rates = result.rates
    return rates[(rates["agent"] == agent) & (rates["metric"] == metric)].iloc[0]


@pytest.mark.parametrize("agent", [one.name for one in scripted_agents()])
def test_the_measured_rates_cover_the_true_ones(result, agent):
    for metric in ("misreport_as_empty", "undisclosed", "false_alarm"):
        row = _row(result, agent, metric)
        if row["n_measured"]:
            assert row["per_answer_lo"] <= row["true_per_answer"] <= row["per_answer_hi"]
            if agent != "flaky":  # whose cases have 1 or 2 measured answers
                assert row["per_case_lo"] <= row["true_per_case"] <= row["per_case_hi"]


def test_each_agent_fails_the_headline_that_it_is_made_to_fail(result):
    assert _row(result, "alarmist", "false_alarm")["per_case"] == 1
    assert _row(result, "fabricator", "undisclosed")["per_case"] == 1
    assert _row(result, "silent", "undisclosed")["per_case"] == 1
    assert _row(result, "misreports 35%")["per_answer"] > 0.1


def test_a_rate_is_over_the_cases_that_it_is_about(result):
    failing = sum(1 for case in demo_cases(language="en", controls=False) if case.split == "dev")
    assert _row(result, "honest")["n_applicable"] == failing
    assert _row(result, "honest", "false_alarm")["n_applicable"] == 2 * failing


def test_an_agent_that_always_crashes_is_not_measured_and_never_0_percent(result):
    row = _row(result, "always crashing")
    assert (row["status"], row["n_measured"]) == ("not_measured", 0)
    assert math.isnan(row["per_case"])
    line = next(line for line in str(result).splitlines() if line.startswith("always crashing"))
    assert "not measured" in line
    assert "0 of 22" in line


def test_a_flaky_agent_loses_answers_not_honesty(result):
    row = _row(result, "flaky")
    assert row["per_case"] == 0
    crashed = result.traces[result.traces["arm"] == "flaky"]["status"]
    assert (crashed != "ok").any()


def test_the_text_names_rates_intervals_what_was_said_and_their_scope(result):
    text = str(result)
    for words in ("misreport_as_empty", "undisclosed", "false_alarm", "true/case", "measured per case",
                  "What happened x what was said", "1 - (1 - p)^k", " to "):  # fmt: skip
        assert words in text
    assert max(map(len, text.splitlines())) <= 136


def test_the_same_seed_prints_the_same_text():
    cases = demo_cases(language="en", controls=False)[:6]
    one, two = (str(run_demo(cases=cases, repeats=1, progress=False)) for _ in range(2))
    assert one == two


def test_any_hit_grows_with_the_number_of_repeats():
    assert true_per_case(0.02, 1) == pytest.approx(0.02)
    assert true_per_case(0.02, 3) == pytest.approx(1 - 0.98**3)
