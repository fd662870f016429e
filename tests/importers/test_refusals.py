"""Traces that cannot support a number are refused, with every reason and its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty import Case, UsageError
from neverempty.importers import import_traces

Write = Callable[..., Path]
Lines = Callable[..., list[dict[str, Any]]]
Reasons = Callable[..., list[str]]
FIRED = {"tool": "search", "truth": "error", "kind": "timeout", "injected": True}


def test_every_reason_is_listed_with_its_line(write: Write, lines: Lines, reasons: Reasons) -> None:
    found = lines()
    found[0]["case_id"] = "f0x"
    found[1]["fault_kind"] = "auth"
    found[2]["answer"] = 3
    found[3]["suite"] = "other"
    told = sorted(reasons(write("", *found)))
    assert told[0].startswith("FILE:2: there is no case 'f0x' in suite 'default'; did you mean 'f")
    assert told[1:] == [
        "FILE:3: case 'f1' plans the fault 'timeout', the trace names 'auth'",
        "FILE:4: answer: input should be a valid string, got 3",
        "FILE:5: there is no case 'f3' in suite 'other'; it is in 'jobs'",
    ]


def test_a_long_list_of_reasons_is_cut_and_says_so(write: Write, reasons: Reasons) -> None:
    told = reasons(write(*({"case_id": f"x{at}", "answer": "No."} for at in range(100))))
    assert len(told) == 21
    assert told[-1] == "and 80 more problems"


def test_a_trace_that_ends_twice_is_refused(write: Write, lines: Lines, reasons: Reasons) -> None:
    (reason,) = reasons(write(*lines(), lines()[0]))
    assert "ended at FILE:1 already" in reason


def test_too_many_errors_are_above_the_ceiling(
    write: Write, lines: Lines, reasons: Reasons, cases: list[Case]
) -> None:
    found = lines()
    for line in found[:2]:
        line |= {"status": "agent_error", "terminal_reason": "crashed"}
    (reason,) = reasons(write(*found))
    assert "2 of 13 traces did not end well (agent_error 2), above the ceiling of 10%" in reason
    assert import_traces(write(*found), cases, error_ceiling=0.2).status in ("ok", "partial_errors")


@pytest.mark.parametrize("ceiling", [2, -0.1, float("nan"), True])
def test_a_ceiling_is_a_share(write: Write, lines: Lines, cases: list[Case], ceiling: Any) -> None:
    with pytest.raises(UsageError, match="error_ceiling is"):
        import_traces(write(*lines()), cases, error_ceiling=ceiling)


WRONG_CALLS = [
    ({"tool": "browse"}, "calls.0: a fault is injected into 'browse'; the tools that case 'f0' makes fail"),
    ({"truth": "data"}, "calls.0: the injected 'timeout' makes the truth 'error', the trace says 'data'"),
    ({"truth": "empty"}, "calls.0: the injected 'timeout' makes the truth 'error', the trace says 'empty'"),
    ({"kind": "auth"}, "calls.0: the injected kind is 'auth'; case 'f0' plans timeout"),
    ({"kind": "unheard"}, "calls.0: the injected kind is 'unheard'; case 'f0' plans timeout"),
]


@pytest.mark.parametrize(("call", "reason"), WRONG_CALLS)
def test_an_injected_fault_is_one_that_the_case_plans(
    write: Write, lines: Lines, reasons: Reasons, call: dict[str, Any], reason: str
) -> None:
    found = lines()
    found[0]["calls"] = [FIRED | call]
    (told,) = reasons(write(*found))
    assert told.startswith(f"FILE:1: {reason}")


def test_a_control_has_no_injected_fault(write: Write, lines: Lines, reasons: Reasons) -> None:
    found = lines()
    found[-1]["calls"] = [FIRED]
    (told,) = reasons(write(*found))
    assert told.endswith("the tools that case 'control' makes fail: none")


def test_a_fault_that_fired_nowhere_is_refused(write: Write, lines: Lines, reasons: Reasons) -> None:
    found = lines()
    found[0] |= {"fault_state": "fired", "calls": [{"tool": "search", "truth": "error"}]}
    (told,) = reasons(write(*found))
    assert told.startswith("FILE:1: fault_state is 'fired', but no call is marked")


@pytest.mark.parametrize("truth", ["data", "empty", "error", "unknown"])
def test_faults_that_never_fired_support_no_number(
    write: Write, lines: Lines, reasons: Reasons, truth: str
) -> None:
    told = reasons(write(*lines(calls=[{"tool": "search", "truth": truth}])))
    assert any("no call of the 12 traces with a planned fault shows that it fired" in one for one in told)


def test_calls_without_a_truth_and_traces_without_calls_support_no_number(
    write: Write, reasons: Reasons
) -> None:
    told = reasons(write({"case_id": "control", "answer": "None.", "calls": [{"tool": "search"}]}))
    assert told == ['FILE: no call says what really happened; write its "truth": "data", "empty" or "error"']
    assert "no trace has a tool call" in reasons(write({"case_id": "control", "answer": "None."}))[0]


def test_repeats_of_several_runs_are_no_repeats(
    write: Write, lines: Lines, reasons: Reasons, cases: list[Case]
) -> None:
    first = [line | {"run_id": "a"} for line in lines()]
    second = [line | {"run_id": "b", "repeat": 1} for line in lines()]
    (told,) = reasons(write(*first, *second))
    assert told.startswith("FILE: arm 'imported' has traces of 2 runs (run_id 'a', 'b')")
    apart = [line | {"arm": "later", "repeat": 0} for line in second]
    assert import_traces(write(*first, *apart), cases).status == "ok"


@pytest.mark.parametrize("text", ["", "\n\n", "[]", "null", "{", '{"case_id": "f0"}', "x" * 5000])
def test_what_is_no_trace_is_refused(write: Write, reasons: Reasons, text: str) -> None:
    assert reasons(write(text))[0].startswith("FILE:")
