"""Whether the agent called the right tools (first, set or sequence), and none that it must not call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import is_blank, unobserved
from neverempty.traces.model import ToolCall, Trace

_BY_MODE: Final = {"first": "first_tool", "set": "tool_set", "sequence": "tool_sequence"}
_FORBIDDEN: Final = "forbidden_tools"


class ToolCallsScorer:
    """Compares the tools that were called with ``expect.tool_calls``.

    Yields first_tool, tool_set and tool_sequence; the case's mode says which of them applies. Repeating a
    call that failed, with the same arguments, is one call. A set compares which tools were called, a
    sequence also in which order and how often.

    Examples
    --------
    >>> expect = {"tool_calls": {"mode": "first", "calls": [{"tool": "search"}]}}
    >>> case = Case(id="a", input={"payload": 1}, expect=expect)
    >>> trace = Trace("default", "a", "typed", 0, answer="Done.")
    >>> [score.reason or score.label for score in ToolCallsScorer().score(trace, case)]
    ['no_call', 'other_mode', 'other_mode']
    """

    name = "tool_calls"
    version = "1"
    metrics = tuple(MetricSpec(metric, "higher", "majority", "tools") for metric in _BY_MODE.values())

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
            One score per mode.
        """
        expected = case.expect.tool_calls
        if expected is None:
            return tuple(not_applicable(metric, "no_expectation") for metric in _BY_MODE.values())
        reason = unobserved(trace)
        scores = []
        for mode, metric in _BY_MODE.items():
            if mode != expected.mode:
                scores.append(not_applicable(metric, "other_mode"))
            elif reason is not None:
                scores.append(no_signal(metric, reason))
            else:
                called = [call.tool for call in without_retries(trace.calls)]
                scores.append(_compare(metric, mode, [call.tool for call in expected.calls], called))
        return tuple(scores)


class ForbiddenToolsScorer:
    """Fails a repeat that called a tool of ``expect.forbidden_tools``.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1}, expect={"forbidden_tools": ["pay"]})
    >>> trace = Trace("default", "a", "typed", 0, answer="Paid.", calls=[ToolCall(0, "pay", {}, "data")])
    >>> ForbiddenToolsScorer().score(trace, case)[0].verdict
    'fail'
    """

    name = "forbidden_tools"
    version = "1"
    metrics = (MetricSpec(_FORBIDDEN, "lower", "any_hit", "tools"),)

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
            One score; a repeat with neither a call nor an answer is ``no_signal: empty_answer``.
        """
        forbidden = case.expect.forbidden_tools
        if not forbidden:
            return (not_applicable(_FORBIDDEN, "no_expectation"),)
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_FORBIDDEN, reason),)
        called = [call.tool for call in trace.calls if call.tool in forbidden]
        if called:
            return (check(_FORBIDDEN, False, "called", evidence={"tools": sorted(set(called))}),)
        if is_blank(trace.answer) and trace.structured is None:
            return (no_signal(_FORBIDDEN, "empty_answer"),)
        return (check(_FORBIDDEN, True, "not_called"),)


def without_retries(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Leave out each call that repeats a failed one with the same arguments.

    Parameters
    ----------
    calls : sequence of ToolCall
        In order.

    Returns
    -------
    list of ToolCall
        The others, in order.

    Examples
    --------
    >>> calls = [ToolCall(0, "a", {}, "error"), ToolCall(1, "a", {}, "data"), ToolCall(2, "a", {}, "data")]
    >>> [call.call for call in without_retries(calls)]
    [0, 2]
    """
    kept: list[ToolCall] = []
    failed: list[tuple[str, dict[str, Any]]] = []
    for call in calls:
        name = (call.tool, call.args)
        if name in failed:
            failed.remove(name)
        else:
            kept.append(call)
        if call.truth == "error":
            failed.append(name)
    return kept


def _compare(metric: str, mode: str, expected: list[str], called: list[str]) -> Score:
    evidence = {"expected": expected[:10], "called": called[:10]}
    if mode == "first":
        if not called:
            return check(metric, False, "no_call", evidence=evidence)
        match = called[0] == expected[0]
        return check(metric, match, "match" if match else "wrong", evidence=None if match else evidence)
    label = _difference(expected, called, ordered=mode == "sequence")
    return check(metric, label == "match", label, evidence=None if label == "match" else evidence)


def _difference(expected: list[str], called: list[str], *, ordered: bool) -> str:
    if set(expected) - set(called):
        return "missing" if called else "no_call"
    if set(called) - set(expected):
        return "unexpected"
    if ordered and called != expected:
        return "wrong_order" if sorted(called) == sorted(expected) else "wrong_number"
    return "match"
