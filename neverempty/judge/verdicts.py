"""What a judge says of a claim, and what is left when it says nothing usable."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Verdict = Literal["supported", "contradicted", "not_in_evidence"]
Outcome = Literal["supported", "contradicted", "not_in_evidence", "judge_error", "abstained"]

VERDICTS: Final[tuple[Verdict, ...]] = ("supported", "contradicted", "not_in_evidence")
"""The three labels; with only two a judge would be forced to one where the evidence is silent."""


OUTCOMES: Final = (*VERDICTS, "judge_error", "abstained")
"""All that can come of asking a judge."""


class Judgement(NamedTuple):
    """What a judge said of one claim.

    Parameters
    ----------
    outcome : str
        One of `VERDICTS`; ``judge_error`` where no reply could be used, ``abstained`` where the judge was
        less sure than was asked. Neither is ever mapped to a verdict.
    confidence : float or None
        As the judge stated it, from 0 to 1.
    reason : str
        In the judge's words; of a ``judge_error``, what was wrong with its last reply.
    quotes : tuple of str
        What the judge quotes; each stands in the evidence.
    attempts : int
        Replies that were asked for; 0 where it came from the cache.
    judge_id : str
        Hash of model, prompt and rubric, to which any agreement belongs.

    Examples
    --------
    >>> Judgement("judge_error", None, "the reply is no JSON object", (), 3, "0f").verdict is None
    True
    """

    outcome: Outcome
    confidence: float | None
    reason: str
    quotes: tuple[str, ...]
    attempts: int
    judge_id: str

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, where there is one."""
        if self.outcome == "judge_error" or self.outcome == "abstained":
            return None
        return self.outcome
