"""Whether an answer's reasoning contradicts the trace of the rule that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unanswered
from neverempty.scorers.statements import tally
from neverempty.traces.model import Trace

if TYPE_CHECKING:
    from neverempty.judge import Judge

_METRIC: Final = "contradicts_rule_trace"


class RuleTraceScorer:
    """Fails a repeat whose answer contradicts what a rule decided about an item, or why.

    Each item of ``expect.items`` is evidence; the answer is the claim. An answer that says nothing of an item
    does not contradict it.

    Parameters
    ----------
    judge : Judge
        Who decides; its hash stands in the version.

    Examples
    --------
    >>> from neverempty.judge import FakeJudge, Judge
    >>> item = {"item_id": "loan-7", "rule_result": "refused", "rule_trace": "income 900 is below 1000"}
    >>> case = Case(id="a", input={"payload": 1}, expect={"items": [item]})
    >>> trace = Trace("default", "a", "typed", 0, answer="")
    >>> RuleTraceScorer(Judge(FakeJudge(), ["scripted"])).score(trace, case)[0].reason
    'empty_answer'
    """

    name = "contradicts_rule_trace"
    metrics = (MetricSpec(_METRIC, "lower", "any_hit", "judged"),)

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.version = f"1+judge.{judge.judge_id}"

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
            One score; no signal where the judge gave no verdict on some item and contradicted none.
        """
        items = case.expect.items
        if not items:
            return (not_applicable(_METRIC, "no_expectation"),)
        reason = unanswered(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        open_items, contradicted = [], []
        for item in items:
            # in plain lines: a judge that quotes JSON inside its own JSON gets it wrong
            evidence = f"item: {item.item_id}\nresult: {item.rule_result}\nbecause: {item.rule_trace}"
            found = self._judge.judge(trace.answer or "", [evidence])
            if found.verdict == "contradicted":
                contradicted.append(
                    {"item": item.item_id, "reason": found.reason, "quotes": list(found.quotes)}
                )
            elif found.verdict is None:
                open_items.append(found.outcome)
        judged = tally("contradicted", len(contradicted), len(items) - len(open_items))
        if contradicted:
            return (check(_METRIC, False, "contradicted", evidence={"items": contradicted[:5]} | judged),)
        if open_items:
            return (no_signal(_METRIC, open_items[0]),)
        return (check(_METRIC, True, "consistent", evidence=judged),)
