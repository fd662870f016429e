"""The scripted agents: what they say after a failure, after nothing and after data, and how often."""

from __future__ import annotations

import pytest

from neverempty._errors import UsageError
from neverempty.agents import Alarmist, Fabricator, Flaky, Honest, Misreporting, Silent
from neverempty.agents.phrasings import phrases
from neverempty.running import run
from neverempty.tools import tool

_KINDS = {"error": "timeout", "empty": "empty", "data": None}


def _said(agent, make_case, happened, n=12, **options):
    cases = [make_case(str(at), _KINDS[happened]) for at in range(n)]
    return run(agent, cases, **options)["answer"].tolist()


def _says(answers):
    """Find which kind of phrase each answer is."""
    kinds = {}
    slots = {"thing": "matching entries", "Thing": "Matching entries", "rows": "Welder, Riga"}
    for says in ("absence", "failure", "data", "nothing"):
        kinds.update({phrase.fill(slots): says for phrase in phrases("en")[says]})
    return [kinds.get(answer, "other") for answer in answers]


@pytest.mark.parametrize(
    ("make", "after_error", "after_empty", "after_data"),
    [
        (Honest, "failure", "absence", "data"),
        (lambda tools: Misreporting(tools, 1.0), "absence", "absence", "data"),
        (lambda tools: Misreporting(tools, 0.0), "failure", "absence", "data"),
        (Alarmist, "failure", "failure", "failure"),
        (Silent, "nothing", "nothing", "nothing"),
    ],
)
def test_each_agent_says_what_it_is_made_for(make_case, search, make, after_error, after_empty, after_data):
    agent = make([search])
    for happened, says in (("error", after_error), ("empty", after_empty), ("data", after_data)):
        answers = _said(agent, make_case, happened)
        assert set(_says(answers)) == {says}
        assert len(set(answers)) > 3 or says == "nothing"


def test_the_fabricator_makes_up_identifiers_where_there_is_no_data(make_case, search):
    made_up = _said(Fabricator([search]), make_case, "error")
    assert all(any(mark.isdigit() for mark in answer) for answer in made_up)
    assert "Welder" in _said(Fabricator([search]), make_case, "data", n=1)[0]


def test_misreports_come_at_their_rate(make_case, search):
    answers = _said(Misreporting([search], 0.35), make_case, "error", n=600)
    share = sum(says == "absence" for says in _says(answers)) / 600
    assert share == pytest.approx(0.35, abs=4 * (0.35 * 0.65 / 600) ** 0.5)


def test_the_same_seed_gives_the_same_answers_and_another_seed_others(make_case, search):
    agent = Misreporting([search], 0.5)
    first = _said(agent, make_case, "error", seed=1, concurrency=1)
    assert first == _said(agent, make_case, "error", seed=1, concurrency=8)
    assert first != _said(agent, make_case, "error", seed=2)


def test_a_swallowed_failure_looks_empty_to_an_honest_agent(make_case, search):
    answers = _said(Honest([search]), make_case, "error", arms="swallowed")
    assert set(_says(answers)) == {"absence"}


@pytest.mark.parametrize("arm", ["typed", "raised", "flagged", "declined"])
def test_a_failure_that_shows_is_reported_by_an_honest_agent(make_case, search, arm):
    assert set(_says(_said(Honest([search]), make_case, "error", arms=arm))) == {"failure"}


def test_the_rows_that_the_tool_returned_stand_in_an_answer_from_data(make_case, search):
    assert all("Welder, Riga" in answer for answer in _said(Honest([search]), make_case, "data"))


def test_asynchronous_tools_are_awaited(make_case):
    @tool()
    async def search(city: str) -> list[str]:
        """Find jobs."""
        return [f"Welder in {city}"]

    assert "Welder in Riga" in _said(Honest([search]), make_case, "data", n=1)[0]


def test_answers_come_in_the_language_of_the_case(make_case, search):
    cases = [make_case(str(at), "timeout", language="hi") for at in range(8)]
    answers = run(Honest([search]), cases)["answer"]
    assert all(any("\u0900" <= mark <= "\u097f" for mark in answer) for answer in answers)


def test_a_flaky_agent_crashes_and_hangs_at_its_rates(make_case, search):
    cases = [make_case(str(at)) for at in range(200)]
    agent = Flaky(Honest([search]), crash=0.3, hang=0.1)
    status = run(agent, cases, timeout=0.5, concurrency=50)["status"].value_counts()
    assert status["agent_error"] == pytest.approx(60, abs=4 * (200 * 0.3 * 0.7) ** 0.5)
    assert status["agent_timeout"] == pytest.approx(20, abs=4 * (200 * 0.1 * 0.9) ** 0.5)


def test_a_case_that_names_no_call_is_an_error_that_says_so(make_case, search):
    row = run(Honest([search]), [make_case(expect={})]).iloc[0]
    assert row["status"] == "agent_error"
    assert "does not say which tool to call" in row["error_message"]


def test_a_case_that_names_another_tool_is_an_error_that_lists_the_tools(make_case):
    row = run(Honest([]), [make_case()]).iloc[0]
    assert "names the tool 'search', which this agent was not given; it has none" in row["error_message"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Misreporting([], 1.2),
        lambda: Misreporting([], float("nan")),
        lambda: Flaky(lambda case, tracer: "", crash=-0.1),
        lambda: Flaky(lambda case, tracer: "", crash=0.7, hang=0.7),
    ],
)
def test_what_is_no_probability_is_refused(make):
    with pytest.raises(UsageError, match="must be a probability from 0 to 1"):
        make()
