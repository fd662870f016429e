"""Whether a repeat ended exactly once, with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal
from neverempty.traces.model import Trace

_METRIC: Final = "terminal_event"

Events = Callable[[Trace], Iterable[Mapping[str, Any]] | None]
"""Gives the agent's own events of a repeat, in order; None where they were not kept."""


class TerminalEventScorer:
    """Passes a repeat that ended exactly once, and says why.

    Without events of the agent's own, the trace's single end is asked for its reason.

    Parameters
    ----------
    events : callable, optional
        ``trace -> events``, each a mapping with a ``type``, and a ``reason`` on the last.
    terminal : iterable of str, default ("completed", "failed", "cancelled", "stopped")
        The types that end an episode.

    Examples
    --------
    >>> scorer = TerminalEventScorer(lambda trace: trace.structured["events"], terminal=["done"])
    >>> events = [{"type": "done", "reason": "answered"}, {"type": "done", "reason": "again"}]
    >>> trace = Trace("default", "a", "typed", 0, answer="None.", structured={"events": events})
    >>> scorer.score(trace, Case(id="a", input={"payload": 1}))[0].label
    'ended_2_times'
    """

    name = "terminal_event"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "episode"),)

    def __init__(
        self,
        events: Events | None = None,
        terminal: Iterable[str] = ("completed", "failed", "cancelled", "stopped"),
    ) -> None:
        self._events = events
        self._terminal = frozenset([terminal] if isinstance(terminal, str) else terminal)

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
            One score: ``once``, ``no_reason``, ``not_last`` or ``ended_N_times``.
        """
        if trace.status != "ok":
            return (no_signal(_METRIC, trace.status),)
        if self._events is None:
            reason = trace.terminal_reason.strip()
            return (check(_METRIC, bool(reason), "once" if reason else "no_reason"),)
        events = self._events(trace)
        if events is None:
            return (no_signal(_METRIC, "events_not_kept"),)
        return (self._judged(list(events)),)

    def _judged(self, events: list[Mapping[str, Any]]) -> Score:
        ends = [event for event in events if event.get("type") in self._terminal]
        if len(ends) != 1:
            return check(_METRIC, False, f"ended_{len(ends)}_times")
        if events[-1] is not ends[0]:
            return check(_METRIC, False, "not_last")
        reason = str(ends[0].get("reason") or "").strip()
        return check(_METRIC, bool(reason), "once" if reason else "no_reason")
