"""Does the answer say what it must not? A negative check, which silence never passes."""

from __future__ import annotations

from typing import Final

from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unanswered
from neverempty.scorers.statements import StatementJudge, judged_counts, judged_version, look_for_all
from neverempty.traces.model import Trace

_METRIC: Final = "forbidden_claims"


class ForbiddenClaimsScorer:
    """Fails a repeat whose answer makes any statement of ``expect.forbidden_claims``.

    Parameters
    ----------
    judge : callable, optional
        As for `FactsScorer`.

    Examples
    --------
    >>> expect = {"forbidden_claims": [{"id": "g", "statement": "guaranteed"}]}
    >>> case = Case(id="a", input={"payload": 1}, expect=expect)
    >>> ForbiddenClaimsScorer().score(Trace("default", "a", "typed", 0, answer=""), case)[0].reason
    'empty_answer'
    """

    name = "forbidden_claims"
    metrics = (MetricSpec(_METRIC, "lower", "any_hit", "answer"),)

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
            One score; an empty answer is ``no_signal: empty_answer``.
        """
        forbidden = case.expect.forbidden_claims
        if not forbidden:
            return (not_applicable(_METRIC, "no_expectation"),)
        reason = unanswered(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        looks = look_for_all(forbidden, trace, case, self._judge)
        made = [{"id": look.id, "text": look.text} for look in looks if look.made]
        if made:
            return (check(_METRIC, False, "claimed", evidence={"claims": made} | judged_counts(looks)),)
        unsure = [look for look in looks if look.made is None]
        if unsure:
            return (no_signal(_METRIC, unsure[0].reason or "unknown"),)
        return (check(_METRIC, True, "clean", evidence=judged_counts(looks) or None),)
