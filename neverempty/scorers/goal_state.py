"""Whether the world is as it should be: a look at the real store, not at what the agent says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.traces.model import Trace

_METRIC: Final = "goal_state"

Look = Callable[[Trace, Case], Iterable[Any] | None]
"""Reads the store that a repeat worked on, and gives the ids of what it holds; None where it cannot tell."""


class GoalStateScorer:
    """Passes a repeat after which the store holds what ``expect.custom["goal_state"]`` says.

    The expectation has ``ids``, ``count``, or both. An id that stands twice counts twice.

    Parameters
    ----------
    look : callable
        ``(trace, case) -> ids``. Each repeat needs a store of its own, which the trace or the case names.
        Whatever it raises is no signal.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1}, expect={"custom": {"goal_state": {"ids": ["b-1"]}}})
    >>> trace = Trace("default", "a", "typed", 0, answer="Booked.")
    >>> GoalStateScorer(lambda trace, case: []).score(trace, case)[0].evidence
    {'missing': ['b-1'], 'unexpected': [], 'count': 0}
    """

    name = "goal_state"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "episode"),)

    def __init__(self, look: Look) -> None:
        self._look = look

    def score(self, trace: Trace, case: Case) -> tuple[Score, ...]:
        """Score one repeat.

        Parameters
        ----------
        trace : Trace
            The repeat.
        case : Case
            Its case.

        Returns
        -------
        tuple of Score
            One score; without an expectation not applicable.
        """
        goal = case.expect.custom.get(_METRIC)
        if goal is None:
            return (not_applicable(_METRIC, "no_expectation"),)
        problem = _malformed(goal)
        reason = f"bad_expectation: {problem}" if problem else unobserved(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        found = self._look(trace, case)
        if found is None:
            return (no_signal(_METRIC, "not_observed"),)
        return (_compared(goal, [str(one) for one in found]),)


def _malformed(goal: Any) -> str | None:
    if not isinstance(goal, dict) or not goal or not set(goal) <= {"ids", "count"}:
        return "goal_state is an object with ids, count or both"
    if not isinstance(goal.get("ids", []), list):
        return "ids is no list"
    count = goal.get("count", 0)
    return None if isinstance(count, int) and not isinstance(count, bool) else "count is no whole number"


def _compared(goal: dict[str, Any], found: list[str]) -> Score:
    there = Counter(found)
    wanted = Counter(map(str, goal["ids"])) if "ids" in goal else there
    missing, unexpected = sorted((wanted - there).elements()), sorted((there - wanted).elements())
    right_count = len(found) == goal.get("count", len(found))
    if missing or unexpected or not right_count:
        evidence = {"missing": missing[:20], "unexpected": unexpected[:20], "count": len(found)}
        return check(_METRIC, False, "missed", evidence=evidence)
    return check(_METRIC, True, "met")
