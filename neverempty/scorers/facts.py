"""Whether the answer says what it should."""

from __future__ import annotations

from typing import Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.scorers.statements import StatementJudge, judged_counts, judged_version, look_for_all
from neverempty.traces.model import Trace

_METRIC: Final = "facts"


class FactsScorer:
    """Passes a repeat whose answer makes every statement of ``expect.facts``; the value is the share made.

    Parameters
    ----------
    judge : callable, optional
        ``(statement, trace, case) -> True, False or None`` for statements with ``match: judge``; without one
        they are ``no_signal: judge_not_configured``, unless another statement is missing anyway.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1}, expect={"facts": [{"id": "n", "statement": "3 flats"}]})
    >>> FactsScorer().score(Trace("default", "a", "typed", 0, answer="I found 3  Flats."), case)[0].verdict
    'pass'
    """

    name = "facts"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "answer"),)

    def __init__(self, judge: StatementJudge | None = None) -> None:
        self._judge = judge
        self.version = judged_version("1", judge)

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
            One score.
        """
        facts = case.expect.facts
        if not facts:
            return (not_applicable(_METRIC, "no_expectation"),)
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        looks = look_for_all(facts, trace, case, self._judge)
        missing = [look.id for look in looks if look.made is False]
        unsure = [look for look in looks if look.made is None]
        if unsure and not missing:
            return (no_signal(_METRIC, unsure[0].reason or "unknown"),)
        share = sum(look.made is True for look in looks) / len(looks)
        evidence = ({"missing": missing} if missing else {}) | judged_counts(looks)
        label = "missing" if missing else "complete"
        return (check(_METRIC, not missing, label, value=share, evidence=evidence or None),)
