"""The demonstration's cases and world: they fit together, and are varied enough to say something."""

from __future__ import annotations

from collections import Counter

import pytest

from neverempty._errors import InputError
from neverempty.demo import data
from neverempty.demo.data import dataset, demo_cases, world
from neverempty.demo.tools import THINGS, TOOLS
from neverempty.faults import KINDS

_TOOLS = {tool.name: tool for tool in TOOLS}


def test_there_are_at_least_60_english_cases_whose_tool_fails_and_two_controls_for_each():
    counts = Counter(case.fault_kind for case in demo_cases(language="en"))
    failing = sum(n for kind, n in counts.items() if KINDS[kind].truth == "error")
    assert failing >= 60
    assert counts["empty"] == counts["none"] == failing


def test_failures_are_spread_over_kinds_and_domains():
    cases = demo_cases(controls=False)
    kinds = Counter(case.fault_kind for case in cases)
    assert len(kinds) == 9
    assert max(kinds.values()) <= 1.5 * min(kinds.values())
    assert len({tag for case in cases for tag in case.tags if tag.startswith("domain:")}) >= 10
    assert Counter(case.language for case in cases) == {"en": 64, "hi": 12, "hinglish": 12}


def test_a_failure_and_its_controls_are_one_family_in_one_split():
    families: dict[str, list] = {}
    for case in demo_cases():
        (family,) = [tag for tag in case.tags if tag.startswith("family:")]
        families.setdefault(family, []).append(case)
    for variants in families.values():
        assert len(variants) == 3
        assert len({case.prompt for case in variants}) == len({case.split for case in variants}) == 1
        assert sum(KINDS[case.fault_kind].truth == "error" for case in variants) == 1


def test_the_frozen_part_is_the_larger_one():
    splits = Counter(case.split for case in demo_cases())
    assert splits["test"] > splits["dev"] > 0


@pytest.mark.parametrize("case", demo_cases(), ids=lambda case: case.id)
def test_the_tool_that_a_case_names_finds_data_and_in_it_the_fact_that_is_expected(case):
    (call,) = case.expect.tool_calls.calls
    assert all(fault.tool == call.tool for fault in case.faults)
    result = _TOOLS[call.tool](**{name: arg.value for name, arg in call.args.items()})
    assert result.status == "ok"
    assert bool(case.expect.facts) == (case.fault_kind == "none")
    for fact in case.expect.facts:
        assert fact.statement in result.to_model()


def test_a_look_up_that_matches_nothing_is_a_declared_empty():
    assert _TOOLS["search_jobs"]("astronaut", "Pune").status == "empty"


def test_every_tool_has_a_name_for_what_it_looks_up_and_something_to_find():
    assert set(THINGS) == set(_TOOLS) == set(world())
    assert all(world().values())


def test_the_installed_copy_is_used_where_there_is_no_checkout(tmp_path, monkeypatch):
    installed = tmp_path / "datasets"
    (installed / "demo").mkdir(parents=True)
    (installed / "demo" / "failure.jsonl").write_text("")
    monkeypatch.setattr(data, "_CHECKOUT", tmp_path / "none")
    monkeypatch.setattr(data, "_INSTALLED", installed)
    assert dataset("demo/failure.jsonl") == installed / "demo" / "failure.jsonl"
    with pytest.raises(InputError, match=r"datasets/demo/world\.json is missing"):
        dataset("demo/world.json")
