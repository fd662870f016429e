"""Asking a judge about a claim: again where its reply cannot be used, never a guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from neverempty._errors import UsageError
from neverempty.judge.cache import JudgeCache, cache_key
from neverempty.judge.families import FAMILIES, check_families, family_of
from neverempty.judge.prompt import RUBRIC, judge_id_of, messages_for
from neverempty.judge.replies import BadReplyError, Reply, read_reply
from neverempty.judge.verdicts import Judgement, Outcome
from neverempty.stats import Estimate, wilson_interval

RETRIES: Final = 2
"""How often a reply that cannot be used is asked for again."""

_SHOWN: Final = 200


@runtime_checkable
class JudgeModel(Protocol):
    """What judges: a model with a name, a family, and a way to answer.

    Attributes
    ----------
    name : str
        The model's name, as the provider writes it.
    family : str or None
        Its family, as `family_of` names it; None where nobody knows.
    """

    @property
    def name(self) -> str: ...
    @property
    def family(self) -> str | None: ...
    def reply(self, messages: Sequence[dict[str, Any]], params: dict[str, Any]) -> str:
        """Answer.

        Parameters
        ----------
        messages : sequence of dict
            In the chat-completions shape.
        params : dict
            ``temperature`` and ``attempt``: 0, then 1 and 2 where the reply before could not be used.

        Returns
        -------
        str
            The reply's text.
        """
        ...


class Judge:
    """Asks a model about claims.

    Parameters
    ----------
    model : JudgeModel
        Who judges.
    agent_families : iterable of str
        Families, or names, of the models that are judged; the judge must be of another family.
    rubric : str
        What the labels mean.
    min_confidence : float, default 0.0
        Below it, a stated confidence makes the judgement ``abstained``: no signal.
    cache : JudgeCache, optional
        Where replies are kept; in memory by default.

    Raises
    ------
    UsageError
        Where a family is unknown or the same, or the confidence no share.

    Examples
    --------
    >>> from neverempty.judge import FakeJudge
    >>> judge = Judge(FakeJudge(), agent_families=["meta"])
    >>> judge.judge("Two trams leave at nine.", ["Two trams leave at nine."]).outcome
    'supported'
    """

    def __init__(
        self,
        model: JudgeModel,
        agent_families: Iterable[str],
        *,
        rubric: str = RUBRIC,
        min_confidence: float = 0.0,
        cache: JudgeCache | None = None,
    ) -> None:
        if isinstance(agent_families, str):
            agent_families = [agent_families]
        families = [one if one in FAMILIES else family_of(one) for one in agent_families]
        check_families(model.family, families or [None])
        if isinstance(min_confidence, bool) or not 0 <= min_confidence <= 1:
            raise UsageError(f"min_confidence is {min_confidence!r}; give a share from 0 to 1")
        self._model = model
        self._rubric = rubric
        self._least = min_confidence
        self._cache = cache if cache is not None else JudgeCache()
        self._asked_as = judge_id_of(model.name, rubric)  # replies do not depend on when the judge abstains
        self.judge_id = judge_id_of(model.name, rubric, float(min_confidence))

    def judge(self, claim: str, evidence: Iterable[str]) -> Judgement:
        """Judge one claim.

        Parameters
        ----------
        claim : str
            One atomic claim.
        evidence : iterable of str
            What it is held against.

        Returns
        -------
        Judgement
            ``judge_error`` where no reply of three could be used, or the model raised each time.
        """
        return self._ask(claim, _pieces(evidence), self._cache, 0)

    def _ask(self, claim: str, pieces: list[str], cache: JudgeCache | None, salt: int) -> Judgement:
        messages = messages_for(claim, pieces, self._rubric)
        problem, asked = "", 0
        for attempt in range(RETRIES + 1):
            params = {"temperature": 0, "attempt": attempt} | ({"sample": salt} if salt else {})
            key = cache_key(self._asked_as, messages, params)
            text = cache.get(key) if cache is not None else None
            if text is None:
                asked += 1
                text, problem = self._reply(messages, params)
                if text is None:
                    continue
                if cache is not None:
                    cache.put(key, text)
            try:
                reply = read_reply(text, pieces)
            except BadReplyError as error:
                problem = str(error)
                messages = [*messages, {"role": "assistant", "content": text}, _again(problem)]
                continue
            return self._judgement(reply, asked)
        return Judgement("judge_error", None, problem, (), asked, self.judge_id)

    def _reply(self, messages: list[dict[str, Any]], params: dict[str, Any]) -> tuple[str | None, str]:
        """Ask the model once; a reply that is lost is no signal on one claim, not the end of a run."""
        try:
            text: object = self._model.reply(messages, params)
        except Exception as error:
            return None, f"the model raised {type(error).__name__}: {str(error)[:_SHOWN]}"
        if not isinstance(text, str):
            return None, f"the model gave {type(text).__name__}, no text"
        return text, ""

    def _judgement(self, reply: Reply, asked: int) -> Judgement:
        unsure = reply.confidence is not None and reply.confidence < self._least
        outcome: Outcome = "abstained" if unsure else reply.verdict
        return Judgement(outcome, reply.confidence, reply.reason, reply.quotes, asked, self.judge_id)

    def self_consistency(self, claims: Iterable[tuple[str, Sequence[str]]], n: int = 5) -> Consistency:
        """Measure how often the judge agrees with itself, without its cache.

        Parameters
        ----------
        claims : iterable of (str, sequence of str)
            Claims with their evidence.
        n : int, default 5
            How often each is asked.

        Returns
        -------
        Consistency
            The share of claims on which all of them agreed, and of answers that were the commonest.

        Raises
        ------
        UsageError
            For fewer than two asks.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 2:
            raise UsageError(f"n is {n!r}; a judge can agree with itself from 2 on")
        same = total = agreeing = silent = 0
        for claim, evidence in claims:
            said = [self._ask(claim, _pieces(evidence), None, salt).verdict for salt in range(1, n + 1)]
            known = Counter(one for one in said if one is not None)
            commonest = max(known.values(), default=0)
            silent += n - sum(known.values())
            agreeing += commonest
            same += commonest == n
            total += 1
        share = agreeing / (total * n) if total else None
        return Consistency(wilson_interval(same, total), share, silent, n)


def _pieces(evidence: Iterable[str]) -> list[str]:
    return [evidence] if isinstance(evidence, str) else list(evidence)


def _again(problem: str) -> dict[str, Any]:
    return {
        "role": "user",
        "content": f"That reply cannot be used: {problem}. Reply with the JSON object alone.",
    }


class Consistency(NamedTuple):
    """How often a judge agrees with itself.

    Parameters
    ----------
    unanimous : Estimate
        Share of claims of which every ask gave the same verdict.
    agreement : float or None
        Share of asks that gave their claim's commonest verdict.
    silent : int
        Asks without a verdict; they agree with nothing, not even with each other.
    n : int
        Asks per claim.
    """

    unanimous: Estimate
    agreement: float | None
    silent: int
    n: int
