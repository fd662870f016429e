"""Planned faults as they stand in a case, arms, and which call meets which fault."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from neverempty._errors import UsageError
from neverempty.faults import KINDS, PRESENTATIONS, Arm, FaultPlan, FaultSpec, seed_of


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_can_be_planned_without_a_parameter(kind: str) -> None:
    spec = FaultSpec.model_validate({"tool": "search", "kind": kind})
    assert FaultSpec.model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "slow"}, "timeout"),
        ({"kind": "timeout", "chance": 0.5}, "chance"),
        ({"kind": "timeout", "after_calls": -1}, "after_calls"),
        ({"kind": "timeout", "for_calls": 0}, "for_calls"),
        ({"kind": "timeout", "after_calls": True}, "after_calls"),
        ({"kind": "timeout", "tool": ""}, "tool"),
        ({"kind": "timeout", "presentation": "whispered"}, "presentation"),
        ({"kind": "partial", "presentation": "typed"}, "no presentation"),
        ({"kind": "none", "presentation": "typed"}, "no presentation"),
        ({"kind": "empty", "when": "after"}, "'when'"),
        ({"kind": "stale", "below": "shop:get"}, "'below'"),
        ({"kind": "timeout", "below": "shop.get"}, "package.module:function"),
        ({"kind": "timeout", "below": "shop:get()"}, "package.module:function"),
        ({"kind": "timeout", "below": "shop:get", "presentation": "typed"}, "leave presentation out"),
        ({"kind": "timeout", "raises": "shop:Error"}, "'below'"),
        ({"kind": "timeout", "keep": 1}, "'keep' belongs to kind 'truncated'"),
        ({"kind": "truncated", "page": 1}, "'page' belongs to kind 'partial'"),
        ({"kind": "partial", "data": [1]}, "'data' belongs to kind 'stale'"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_words(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        FaultSpec.model_validate({"tool": "search"} | fields)


def test_a_composed_fault_is_neither_compared_nor_written() -> None:
    used, unused = (FaultSpec(tool="search", kind="timeout") for _ in range(2))
    assert used.armed("typed") is used.armed("typed")
    assert used == unused
    assert hash(used) == hash(unused)
    assert used.model_dump() == unused.model_dump()


@pytest.mark.parametrize("name", PRESENTATIONS)
def test_the_name_of_a_presentation_is_an_arm(name: str) -> None:
    assert Arm.of(name) == Arm(name=name, presentation=name)
    own = Arm(name="short prompt", prompt="Be brief.")
    assert Arm.of(own) is own


def test_an_unknown_arm_is_refused_with_the_way_out() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'swallowed'\?.*Arm\(name='swalowed'"):
        Arm.of("swalowed")
    with pytest.raises(ValidationError, match="unknown wording 'loud'"):
        Arm(name="loud", params={"wording": "loud"})


@given(
    after=st.integers(0, 5),
    span=st.none() | st.integers(1, 5),
    calls=st.integers(0, 12),
)
def test_a_fault_meets_exactly_the_calls_of_its_span(after: int, span: int | None, calls: int) -> None:
    plan = FaultPlan([FaultSpec(tool="search", kind="timeout", after_calls=after, for_calls=span)])
    met = [plan.next("search") is not None for _ in range(calls)]
    last = calls if span is None else after + span
    assert met == [after <= index < last for index in range(calls)]


def test_tools_are_counted_apart_and_the_first_of_two_faults_counts() -> None:
    plan = FaultPlan(
        [
            FaultSpec(tool="search", kind="timeout", for_calls=1),
            FaultSpec(tool="search", kind="auth"),
            FaultSpec(tool="mail", kind="none"),
        ],
        "raised",
    )
    kinds = [fault.kind if fault else None for fault in (plan.next("search"), plan.next("search"))]
    assert kinds == ["timeout", "auth"]
    assert plan.next("mail") is None
    assert plan.next("other") is None
    assert plan.kind == "timeout+auth+none"
    assert [fault.presentation for fault in plan.planned] == ["raised", "raised"]


def test_a_faults_own_presentation_wins_over_the_arms() -> None:
    plan = FaultPlan([FaultSpec(tool="search", kind="timeout", presentation="flagged")], "raised")
    fault = plan.next("search")
    assert fault is not None
    assert fault.presentation == "flagged"


def test_plans_of_the_same_case_do_not_share_their_counts() -> None:
    faults = (FaultSpec(tool="search", kind="timeout", for_calls=1),)
    first, second = FaultPlan(faults), FaultPlan(faults)
    assert first.next("search") is not None
    assert second.next("search") is not None
    assert first.next("search") is None


def test_no_call_is_lost_between_threads() -> None:
    plan = FaultPlan([FaultSpec(tool="search", kind="timeout", after_calls=100, for_calls=300)])
    met: list[bool] = []

    def call() -> None:
        met.extend([plan.next("search") is not None for _ in range(100)])

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(met), sum(met)) == (800, 300)


def test_a_seed_is_the_same_in_every_process_and_no_two_keys_run_together() -> None:
    code = "from neverempty.faults import seed_of; print(seed_of(7, 'suite', 'é', 2))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other.stdout) == seed_of(7, "suite", "é", 2)
    assert seed_of("a", "b,c") != seed_of("a,b", "c")
    assert seed_of("\ud800") != seed_of("\ud801")
