"""What the local model is asked: every presentation and prompt, the wordings, and which arms are compared."""

from __future__ import annotations

from itertools import product

from neverempty.agents.local_prompts import PROMPTS
from neverempty.demo.local_plan import SHOWN, WORDINGS, arm_of, declared_pairs, parts
from neverempty.results import ERROR_WORDINGS


def test_at_least_60_failing_cases_meet_every_presentation_under_every_prompt():
    errors = parts()[0]
    assert len(errors.cases) >= 60
    assert {arm.name for arm in errors.arms} == {
        f"{shown}/{prompt}" for shown, prompt in product(SHOWN, PROMPTS)
    }


def test_the_controls_run_under_every_prompt():
    controls = next(part for part in parts() if part.name == "controls")
    assert {case.fault_kind for case in controls.cases} == {"empty", "none"}
    assert {arm.prompt for arm in controls.arms} == set(PROMPTS)


def test_at_least_three_wordings_of_the_error_are_compared_and_all_exist():
    assert len(WORDINGS) >= 3
    assert set(WORDINGS) <= set(ERROR_WORDINGS)
    assert len({ERROR_WORDINGS[name] for name in WORDINGS}) == len(WORDINGS)


def test_every_arm_names_its_wording_so_that_a_new_default_changes_no_request():
    assert all(arm.params["wording"] in WORDINGS for part in parts() for arm in part.arms)


def test_repeats_run_at_a_temperature_and_only_they():
    for part in parts():
        assert (part.repeats > 1) == all(arm.params.get("temperature", 0) > 0 for arm in part.arms)


def test_every_declared_pair_is_of_two_arms_that_are_run_and_stands_once():
    names = {arm.name for part in parts() for arm in part.arms}
    pairs = declared_pairs()
    assert all(pair.first in names and pair.second in names for pair in pairs)
    assert all(pair.first != pair.second for pair in pairs)
    assert len(set(pairs)) == len(pairs)


def test_an_arms_name_says_what_it_is():
    assert arm_of("typed", "zero_shot").name == "typed/zero_shot"
    assert arm_of("typed", "zero_shot", temperature=0.7).name == "typed/zero_shot/T0.7"
