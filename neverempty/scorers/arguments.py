"""Whether the agent passed the right arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from neverempty.cases import Case, ExpectedCall
from neverempty.scorers.argument_match import matches
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.scorers.tool_calls import without_retries
from neverempty.traces.model import ToolCall, Trace

_METRIC: Final = "arguments"
_SHOWN: Final = 120


class ArgumentsScorer:
    """Passes a repeat whose calls carry every argument that ``expect.tool_calls`` names.

    Under mode ``first`` the first call counts. Else each expected call is paired with a call of its own of
    the same tool so that as many as possible fit. The value is the share of expected arguments that fit.

    Examples
    --------
    >>> expect = {"tool_calls": {"calls": [{"tool": "search", "args": {"city": {"value": "Pune"}}}]}}
    >>> case = Case(id="a", input={"payload": 1}, expect=expect)
    >>> trace = Trace("default", "a", "typed", 0, calls=[ToolCall(0, "search", {"city": "Goa"}, "data")])
    >>> ArgumentsScorer().score(trace, case)[0].evidence
    {'wrong': [{'tool': 'search', 'arg': 'city', 'expected': 'Pune', 'got': 'Goa'}]}
    """

    name = "arguments"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "tools"),)

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
            One score; an expected call that was never made fails with the label ``not_called``.
        """
        expected = case.expect.tool_calls
        wanted = [] if expected is None else [call for call in expected.calls if call.args]
        if expected is None or not wanted:
            return (not_applicable(_METRIC, "no_expectation"),)
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        calls = without_retries(trace.calls)
        if expected.mode == "first":
            wanted, calls = [call for call in expected.calls[:1] if call.args], calls[:1]
            if not wanted:
                return (not_applicable(_METRIC, "no_expectation"),)
        return (_scored(wanted, pair(wanted, calls)),)


def pair(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> list[ToolCall | None]:
    """Give each expected call a call of its own of the same tool, so that as many as possible fit fully.

    Parameters
    ----------
    expected : sequence of ExpectedCall
        What the case expects.
    calls : sequence of ToolCall
        What was called.

    Returns
    -------
    list of ToolCall or None
        One per expected call: first a largest set of full fits (augmenting paths), then whatever call of
        the tool is left and fits most arguments; None where there is none.
    """
    fits = [
        [at for at, call in enumerate(calls) if call.tool == want.tool and _missed(want, call) == 0]
        for want in expected
    ]
    owner: dict[int, int] = {}

    def assign(want: int, tried: set[int]) -> bool:
        for at in fits[want]:
            if at not in tried:
                tried.add(at)
                if at not in owner or assign(owner[at], tried):
                    owner[at] = want
                    return True
        return False

    for want in range(len(expected)):
        assign(want, set())
    chosen: list[ToolCall | None] = [None] * len(expected)
    for at, want in owner.items():
        chosen[want] = calls[at]
    left = [at for at in range(len(calls)) if at not in owner]
    for want, call in enumerate(chosen):
        same = [at for at in left if calls[at].tool == expected[want].tool]
        if call is None and same:
            best = min(same, key=lambda at, want=want: _missed(expected[want], calls[at]))  # type: ignore[misc]
            left.remove(best)
            chosen[want] = calls[best]
    return chosen


def _missed(want: ExpectedCall, call: ToolCall) -> int:
    return sum(not _fits(want, call, name) for name in want.args)


def _fits(want: ExpectedCall, call: ToolCall, name: str) -> bool:
    return name in call.args and matches(want.args[name], call.args[name])


def _scored(wanted: Sequence[ExpectedCall], chosen: Sequence[ToolCall | None]) -> Score:
    wrong = [
        {
            "tool": want.tool,
            "arg": name,
            "expected": _short(want.args[name].value),
            "got": _short(None if call is None else call.args.get(name)),
        }
        for want, call in zip(wanted, chosen, strict=True)
        for name in want.args
        if call is None or not _fits(want, call, name)
    ]
    total = sum(len(want.args) for want in wanted)
    if not wrong:
        return check(_METRIC, True, "match", value=1.0)
    label = "not_called" if None in chosen else "wrong"
    return check(_METRIC, False, label, value=1 - len(wrong) / total, evidence={"wrong": wrong[:5]})


def _short(value: Any) -> Any:
    return value[:_SHOWN] if isinstance(value, str) else value
