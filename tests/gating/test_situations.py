"""What the gate does in each situation: every exit code by every road, and their combinations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import pytest

from neverempty import gate

LIE = "misreport_as_empty"
ROUTE: dict[str, Any] = {"metrics": ["route"]}
BOTH: dict[str, Any] = {"metrics": [LIE, "route"]}
FLOOR: dict[str, Any] = {**ROUTE, "floors": {"route": 0.95}}
LIMIT: dict[str, Any] = {"floors": {f"{LIE}_max": 0.02}}
CLEAN = "60*ppp"


class Case(NamedTuple):
    """A baseline, a candidate, what is asked, and what the gate must say."""

    name: str
    base: Any
    cand: Any
    config: dict[str, Any]
    code: int
    rules: list[str]
    must_pass: tuple[int, ...] = ()


SITUATIONS = [
    # 0: nothing fires
    Case("nothing changed", CLEAN, CLEAN, ROUTE, 0, []),
    Case("four clean flips of sixty are p = 0.0625", CLEAN, "56*ppp 4*fff", ROUTE, 0, []),
    Case("six flips with two improvements", "58*ppp 2*fff", "52*ppp 6*fff 2*ppp", ROUTE, 0, []),
    Case("everything improved", "60*fff", CLEAN, ROUTE, 0, []),
    Case("exactly on the floor", CLEAN, "57*ppp 3*fff", FLOOR, 0, []),
    Case("exactly on the limit", None, {LIE: "98*ppp 2*fff"}, LIMIT, 0, []),
    Case("a limit on the bound with enough clean cases", None, {LIE: "189*ppp"},
         {**LIMIT, "floors_on": "bound"}, 0, []),
    Case("a tenth of the cases unstable", CLEAN, "54*ppp 6*ppf", ROUTE, 0, []),
    Case("a tenth without signal", CLEAN, "54*ppp 6*nnn", ROUTE, 0, []),
    Case("no baseline, floor kept", None, CLEAN, FLOOR, 0, []),
    Case("a worse metric that is not gated", {LIE: CLEAN, "route": CLEAN},
         {LIE: CLEAN, "route": "30*ppp 30*fff"}, {}, 0, []),
    Case("a must-pass case that passes by majority", CLEAN, "ppf 59*ppp", ROUTE, 0, [], (0,)),
    Case("one repeat each", "60*p", "56*p 4*f", ROUTE, 0, []),
    Case("five flips of two gated metrics need 0.025", {LIE: CLEAN, "route": CLEAN},
         {LIE: CLEAN, "route": "55*ppp 5*fff"}, BOTH, 0, []),
    # 1: worse, or beyond a floor or limit
    Case("five clean flips of sixty", CLEAN, "55*ppp 5*fff", ROUTE, 1, ["capability_worse"]),
    Case("four flips below a floor", CLEAN, "56*ppp 4*fff", FLOOR, 1, ["below_floor"]),
    Case("four flips below a floor, no baseline", None, "56*ppp 4*fff", FLOOR, 1, ["below_floor"]),
    Case("five flips below a floor", CLEAN, "55*ppp 5*fff", FLOOR, 1, ["capability_worse", "below_floor"]),
    Case("a floor that the interval's end must keep", None, CLEAN, {**FLOOR, "floors_on": "bound"}, 1,
         ["below_floor"]),
    Case("a tie of two repeats fails the case", "60*pp", "55*pp 5*pf", ROUTE, 1, ["capability_worse"]),
    Case("six flips of two gated metrics", {LIE: CLEAN, "route": CLEAN},
         {LIE: CLEAN, "route": "54*ppp 6*fff"}, BOTH, 1, ["capability_worse"]),
    Case("five cases lie once in three", {LIE: CLEAN}, {LIE: "55*ppp 5*ppf"}, {}, 1, ["safety_worse"]),
    Case("an unstable lie is the finding, not noise", {LIE: CLEAN}, {LIE: "40*ppp 20*ppf"}, {}, 1,
         ["safety_worse"]),
    Case("a lie among too many without signal", {LIE: CLEAN}, {LIE: "44*ppp 6*fff 10*nnn"}, {}, 1,
         ["safety_worse", "no_signal"]),
    Case("over a limit", {LIE: CLEAN}, {LIE: "58*ppp 2*fff"}, LIMIT, 1, ["over_limit"]),
    Case("over a limit, no baseline", None, {LIE: "58*ppp 2*fff"}, LIMIT, 1, ["over_limit"]),
    Case("a limit on the bound with too few clean cases", None, {LIE: "188*ppp"},
         {**LIMIT, "floors_on": "bound"}, 1, ["over_limit"]),
    Case("over a limit from the start", {LIE: "50*ppp 10*fff"}, {LIE: "50*ppp 10*fff"}, LIMIT, 1,
         ["over_limit"]),
    Case("a lie while a capability is unstable", {LIE: CLEAN, "route": CLEAN},
         {LIE: "54*ppp 6*fff", "route": "45*ppp 15*ppf"}, BOTH, 1, ["safety_worse", "unstable"]),
    Case("a lie and a worse capability", {LIE: CLEAN, "route": CLEAN},
         {LIE: "53*ppp 7*fff", "route": "53*ppp 7*fff"}, BOTH, 1, ["safety_worse", "capability_worse"]),
    Case("a safety metric of one's own that is better when higher", {"polite": CLEAN},
         {"polite": "55*ppp 5*ppf"}, {"metrics": ["polite"]}, 1, ["safety_worse"]),
    Case("a limit of a capability that is better when lower", {"quick": CLEAN}, {"quick": "56*ppp 4*fff"},
         {"metrics": ["quick"], "floors": {"quick_max": 0.05}}, 1, ["over_limit"]),
    Case("repeats that stopped agreeing, where that is gated", CLEAN, "55*ppp 5*ppf",
         {"metrics": ["unstable:route"]}, 1, ["less_stable"]),
    # 2: a must-pass case failed
    Case("a must-pass case failed", CLEAN, "fff 59*ppp", ROUTE, 2, ["must_pass_failed"], (0,)),
    Case("a must-pass case failed, no baseline", None, "fff 59*ppp", ROUTE, 2, ["must_pass_failed"], (0,)),
    Case("a must-pass case failed before too", "fff 59*ppp", "fff 59*ppp", ROUTE, 2, ["must_pass_failed"],
         (0,)),
    Case("a must-pass case that lies once in three", {LIE: CLEAN}, {LIE: "ppf 59*ppp"}, {}, 2,
         ["must_pass_failed"], (0,)),
    Case("a must-pass case fails a metric that is not gated", {LIE: CLEAN, "route": CLEAN},
         {LIE: CLEAN, "route": "fff 59*ppp"}, {}, 2, ["must_pass_failed"], (0,)),
    Case("a must-pass tie fails", "60*pp", "pf 59*pp", ROUTE, 2, ["must_pass_failed"], (0,)),
    Case("a must-pass case and a worse capability", CLEAN, "6*fff 54*ppp", ROUTE, 2,
         ["must_pass_failed", "capability_worse"], (0,)),
    Case("a must-pass case and a worse safety metric", {LIE: CLEAN}, {LIE: "6*fff 54*ppp"}, {}, 2,
         ["must_pass_failed", "safety_worse"], (0,)),
    Case("a must-pass case and too much noise", CLEAN, "fff 15*ppf 44*ppp", ROUTE, 2,
         ["must_pass_failed", "unstable"], (0,)),
    Case("one must-pass case failed and another was not measured", CLEAN, "fff nnn 58*ppp", ROUTE, 2,
         ["must_pass_failed", "must_pass_unmeasured"], (0, 1)),
    # 3: nothing can be said
    Case("a must-pass case was not measured", CLEAN, "nnn 59*ppp", ROUTE, 3, ["must_pass_unmeasured"], (0,)),
    Case("a must-pass case that nothing checks", CLEAN, "--- 59*ppp", ROUTE, 3, ["must_pass_unmeasured"],
         (0,)),
    Case("more than a tenth unstable", CLEAN, "53*ppp 7*ppf", ROUTE, 3, ["unstable"]),
    Case("more than a tenth without signal", CLEAN, "53*ppp 7*nnn", ROUTE, 3, ["no_signal"]),
    Case("more than a tenth of the baseline without signal", "53*ppp 7*nnn", CLEAN, ROUTE, 3, ["no_signal"]),
    Case("more than a tenth with unequal repeats", CLEAN, "53*ppp 7*ppn", ROUTE, 3, ["no_signal"]),
    Case("unequal repeats of a safety metric", {LIE: CLEAN}, {LIE: "50*ppp 10*ppn"}, {}, 3, ["no_signal"]),
    Case("unstable and worse", CLEAN, "45*ppp 8*ppf 7*fff", ROUTE, 3, ["unstable", "capability_worse"]),
    Case("unstable and below the floor", None, "45*ppp 8*ppf 7*fff", FLOOR, 3, ["unstable", "below_floor"]),
    Case("without signal and below the floor", None, "40*ppp 13*nnn 7*fff", FLOOR, 3,
         ["no_signal", "below_floor"]),
    Case("nothing was measured", CLEAN, "60*nnn", ROUTE, 3, ["not_measured"]),
    Case("the metric applies to no case", {LIE: "60*---"}, {LIE: "60*---"}, {}, 3, ["not_measured"]),
    Case("a floor of a metric that was not measured", None, {LIE: CLEAN, "route": "60*nnn"},
         {"floors": {"route": 0.5}}, 3, ["not_measured"]),
    Case("stricter on noise", CLEAN, "59*ppp ppf", {**ROUTE, "max_unstable_rate": 0.01}, 3, ["unstable"]),
    Case("stricter on signal", CLEAN, "59*ppp nnn", {**ROUTE, "max_no_signal_rate": 0.0}, 3, ["no_signal"]),
    # 4: what cannot be compared
    Case("other cases", "59*ppp", CLEAN, ROUTE, 4, ["invalid"]),
    Case("fewer cases", CLEAN, "59*ppp", ROUTE, 4, ["invalid"]),
    Case("other repeats", "60*pp", CLEAN, ROUTE, 4, ["invalid"]),
    Case("a metric that the baseline lacks", {LIE: CLEAN}, {LIE: CLEAN, "route": CLEAN}, ROUTE, 4,
         ["invalid"]),
    Case("a gated metric that nobody has", None, CLEAN, {"metrics": ["rout"]}, 4, ["invalid"]),
    Case("a floor of a metric that nobody has", None, CLEAN, {**ROUTE, "floors": {"rout": 0.9}}, 4,
         ["invalid"]),
    Case("a floor where a limit is meant", None, {LIE: CLEAN}, {"floors": {LIE: 0.02}}, 4, ["invalid"]),
    Case("an arm that nobody has", CLEAN, CLEAN, {**ROUTE, "arms": ["raised"]}, 4, ["invalid"] * 2),
    Case("invalid, and a must-pass case failed all the same", "60*pp", "fff 59*ppp", ROUTE, 4,
         ["invalid", "must_pass_failed"], (0,)),
    Case("invalid, and over a limit all the same", {LIE: "60*pp"}, {LIE: "50*ppp 10*fff"}, LIMIT, 4,
         ["invalid", "over_limit"]),
]  # fmt: skip


@pytest.mark.parametrize("case", SITUATIONS, ids=lambda case: case.name)
def test_the_gate_decides(case: Case, outcomes: Callable[..., pd.DataFrame]) -> None:
    base = None if case.base is None else outcomes(case.base, case.must_pass)
    decision = gate(base, outcomes(case.cand, case.must_pass), case.config)
    assert [rule.name for rule in decision.rules] == case.rules
    assert decision.exit_code == case.code
    assert decision.verdict == ("pass", "regression", "must_pass", "inconclusive", "invalid")[case.code]


def test_the_situations_are_many_and_have_names_of_their_own() -> None:
    assert len({case.name for case in SITUATIONS}) == len(SITUATIONS) >= 40
    assert {case.code for case in SITUATIONS} == {0, 1, 2, 3, 4}
