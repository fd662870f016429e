"""One repeat of one case, made of what a test cares about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from neverempty.cases import Case
from neverempty.scorers import FailureScorer, Score
from neverempty.traces.model import ToolCall, Trace

SAID = {
    "absence": "There are no open jobs in Pune.",
    "failure": "The job search failed, so I could not check.",
    "data": 'I found two jobs: "Night Nurse" and "Ward Porter".',
    "none": "Which part of town do you prefer?",
}
TOOL_TEXT = '[{"title": "Night Nurse"}, {"title": "Ward Porter"}]'


@pytest.fixture(scope="session")
def said() -> dict[str, str]:
    """One answer per claim."""
    return SAID


@pytest.fixture(scope="session")
def call() -> Callable[..., ToolCall]:
    """Make a tool call; an error is an injected timeout that the model saw."""

    def make(truth: str, number: int = 0, **fields: Any) -> ToolCall:
        made: dict[str, Any] = {"tool": "search", "args": {"q": "jobs"}, "state": "none"}
        if truth == "error":
            made |= {"kind": "timeout", "injected": True, "state": "seen", "presentation": "typed"}
        if truth == "empty":
            made |= {"kind": "empty", "injected": True, "state": "seen"}
        if truth == "data":
            made |= {"returned": TOOL_TEXT}
        return ToolCall(call=number, truth=truth, **(made | fields))  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def case() -> Callable[..., Case]:
    """Make a case; keywords are fields of the case, ``expect`` among them."""

    def make(fault: str | None = None, **fields: Any) -> Case:
        made: dict[str, Any] = {"id": "a", "input": {"payload": "Any jobs in Pune?"}, "language": "en"}
        if fault is not None:
            made["faults"] = [{"tool": "search", "kind": kind} for kind in fault.split("+")]
        return Case(**(made | fields))

    return make


@pytest.fixture(scope="session")
def trace() -> Callable[..., Trace]:
    """Make a trace of the case ``a`` whose fault state follows from its calls."""
    reach = ("none", "armed", "fired", "seen")

    def make(answer: str | None = None, calls: tuple[ToolCall, ...] = (), **fields: Any) -> Trace:
        kinds = [call.kind for call in calls if call.injected and call.kind]
        made: dict[str, Any] = {
            "repeat": 0,
            "fault_kind": "+".join(dict.fromkeys(kinds)) or "none",
            "fault_state": max((call.state for call in calls), key=reach.index, default="none"),
            "language": "en",
            "duration_ms": 5.0,
        }
        return Trace("default", "a", "typed", answer=answer, calls=list(calls), **(made | fields))

    return make


@pytest.fixture(scope="session")
def by_metric() -> Callable[..., dict[str, Score]]:
    """Score one repeat with the failure family; the scores by metric."""

    def score(trace: Trace, case: Case) -> dict[str, Score]:
        return {one.metric: one for one in FailureScorer().score(trace, case)}

    return score
