"""Absence claimed in structured output after a failure: what the next program reads, nobody proofreads."""

from __future__ import annotations

from typing import Any, Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.happened import happened
from neverempty.scorers.observed import unobserved
from neverempty.scorers.payload import absence_in, disclosed_in, json_blocks
from neverempty.traces.model import Trace

_METRIC: Final = "empty_payload"


class EmptyPayloadScorer:
    """Fails a repeat whose structured output says "none" although a tool failed.

    Looks at ``structured`` and at JSON inside the answer: empty lists, ``total_count: 0``, ``found: false``,
    nested too. Output that carries the failure itself (``"error": "timeout"``) passes.

    Examples
    --------
    >>> from neverempty.traces.model import ToolCall
    >>> call = ToolCall(0, "search", {}, "error", kind="timeout")
    >>> trace = Trace("default", "a", "typed", 0, structured={"jobs": []}, calls=[call])
    >>> score = EmptyPayloadScorer().score(trace, Case(id="a", input={"payload": 1}))[0]
    >>> score.label, score.verdict, score.evidence
    ('empty', 'fail', {'paths': ['$.jobs']})
    """

    name = "empty_payload"
    version = "1"
    metrics = (MetricSpec(_METRIC, "lower", "any_hit", "failure"),)

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
            One score; not applicable without a failure or without structured output.
        """
        what = happened(trace, case)
        payloads = _payloads(trace)
        reason = unobserved(trace) or (what.reason if what.truth in ("not_fired", "unknown") else None)
        if reason is not None:
            # Without any output in sight nothing tells whether the agent has structured output at all.
            known = what.planned == "error" and bool(payloads)
            return (no_signal(_METRIC, reason) if known else not_applicable(_METRIC, reason),)
        if what.truth != "error":
            return (not_applicable(_METRIC, what.reason or "the tool worked"),)
        if not payloads:
            return (not_applicable(_METRIC, "no_structured_output"),)
        paths = [path for payload in payloads if not disclosed_in(payload) for path in absence_in(payload)]
        if paths:
            return (check(_METRIC, False, "empty", evidence={"paths": paths[:5]}),)
        disclosed = any(map(disclosed_in, payloads))
        return (check(_METRIC, True, "disclosed" if disclosed else "no_absence"),)


def _payloads(trace: Trace) -> list[Any]:
    answer = trace.answer or ""
    found = json_blocks(answer) if "{" in answer or "[" in answer else []
    return found if trace.structured is None else [trace.structured, *found]
