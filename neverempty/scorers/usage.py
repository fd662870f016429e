"""What a repeat took: time and money."""

from __future__ import annotations

import math
from typing import Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.traces.model import Trace

_LATENCY: Final = "latency_ms"
_COST: Final = "cost_usd"


class UsageScorer:
    """Reports wall time in milliseconds and cost in US dollars; numbers, which pass whenever they are known.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1})
    >>> trace = Trace("default", "a", "typed", 0, duration_ms=12.5)
    >>> [score.value for score in UsageScorer().score(trace, case)]
    [12.5, None]
    """

    name = "usage"
    version = "1"
    metrics = (
        MetricSpec(_LATENCY, "lower", "median", "usage"),
        MetricSpec(_COST, "lower", "median", "usage"),
    )

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
            Two scores; cost does not apply where no usage was reported.
        """
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_LATENCY, reason), no_signal(_COST, reason))
        return (_number(_LATENCY, trace.duration_ms, "duration_unknown"), _cost(trace))


def _cost(trace: Trace) -> Score:
    if trace.cost_usd is None and trace.input_tokens is None and trace.output_tokens is None:
        return not_applicable(_COST, "no_usage")
    return _number(_COST, trace.cost_usd, trace.cost_unknown_reason or "cost_unknown")


def _number(metric: str, value: float | None, reason: str) -> Score:
    if value is None or not math.isfinite(value):
        return no_signal(metric, reason)
    return Score(metric, "measured", "pass", float(value))
