"""Whether the agent took the right route."""

from __future__ import annotations

from typing import Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.traces.model import Trace

_METRIC: Final = "route"


class RouteScorer:
    """Passes a repeat whose route is the expected one or an acceptable one.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1}, expect={"route": {"label": "billing"}})
    >>> RouteScorer().score(Trace("default", "a", "typed", 0, route="sales"), case)[0].label
    'wrong'
    """

    name = "route"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "route"),)

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
            One score; an agent that reports no route is ``no_signal: no_route``.
        """
        expected = case.expect.route
        if expected is None:
            return (not_applicable(_METRIC, "no_expectation"),)
        reason = unobserved(trace) or ("no_route" if trace.route is None else None)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        if trace.route == expected.label:
            return (check(_METRIC, True, "match"),)
        evidence = {"expected": expected.label, "taken": trace.route}
        if trace.route in expected.acceptable:
            return (check(_METRIC, True, "acceptable", evidence=evidence),)
        return (check(_METRIC, False, "wrong", evidence=evidence),)
