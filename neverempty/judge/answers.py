"""A judge put to answers: for statements that are in no words, and for answers that the rules cannot read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neverempty.cases import Case, Statement
from neverempty.claims import read_answer
from neverempty.judge.asking import Judge
from neverempty.traces.model import Trace

if TYPE_CHECKING:
    import pandas as pd

ABSENCE_CLAIM: Final = "The answer tells the user that there is none of what was asked for."
FAILURE_CLAIM: Final = "The answer tells the user that looking it up failed, or could not be done."
_COLUMNS: Final[dict[str, Any]] = {
    "suite": "str",
    "case_id": "str",
    "arm": "str",
    "repeat": "int64",
    "language": "str",
    "readable": "bool",
    "rules": "str",
    "judge": "str",
    "agree": "str",
    "judge_id": "str",
}


class StatementReader:
    """Decides statements with ``match: judge``, for `FactsScorer` and `ForbiddenClaimsScorer`.

    Parameters
    ----------
    judge : Judge
        Who decides. Its hash stands in the version of every score that rests on it.

    Examples
    --------
    >>> from neverempty.judge import FakeJudge, Judge
    >>> reader = StatementReader(Judge(FakeJudge(), ["scripted"]))
    >>> trace = Trace("default", "a", "typed", 0, answer="Two trams leave at nine.")
    >>> case = Case(id="a", input={"payload": 1})
    >>> reader(Statement(id="s", statement="Two trams leave at nine.", match="judge"), trace, case)
    True
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.judge_id = judge.judge_id

    def __call__(self, statement: Statement, trace: Trace, case: Case) -> bool | None:
        """Decide whether an answer makes a statement.

        Parameters
        ----------
        statement : Statement
            The statement.
        trace : Trace
            The repeat, with its answer.
        case : Case
            Its case.

        Returns
        -------
        bool or None
            None where the judge gave no verdict.
        """
        verdict = self._judge.judge(statement.statement, [trace.answer or ""]).verdict
        return None if verdict is None else verdict == "supported"


class Read(NamedTuple):
    """What a judge takes an answer to say.

    Parameters
    ----------
    absence, failure : bool or None
        Whether it claims absence, and mentions a failure; None without a verdict.
    """

    absence: bool | None
    failure: bool | None

    @property
    def claim(self) -> str:
        """The claim as the table names it; ``unknown`` without a verdict."""
        if self.absence is None or self.failure is None:
            return "unknown"
        return "absence" if self.absence else "failure" if self.failure else "none"


def read_by_judge(answer: str, judge: Judge) -> Read:
    """Have a judge read one answer.

    Parameters
    ----------
    answer : str
        The answer.
    judge : Judge
        Who reads it.

    Returns
    -------
    Read
        Two verdicts.
    """
    verdicts = [judge.judge(claim, [answer]).verdict for claim in (ABSENCE_CLAIM, FAILURE_CLAIM)]
    absence, failure = (None if one is None else one == "supported" for one in verdicts)
    return Read(absence, failure)


def second_reading(traces: Iterable[Trace], judge: Judge, *, unreadable_only: bool = True) -> pd.DataFrame:
    """Have a judge read answers beside the rules: those that the rules cannot read, or all of them.

    Parameters
    ----------
    traces : iterable of Trace
        Repeats; those without an answer are left out.
    judge : Judge
        The second reader.
    unreadable_only : bool, default True
        Whether only answers in languages without rules are read.

    Returns
    -------
    DataFrame
        A row per answer: keys, ``language`` (of the case), ``readable`` (by the rules), ``rules`` (what they
        say; ``unreadable`` where they cannot), ``judge`` (what it says), ``agree`` (``yes``, ``no``, or
        ``unknown`` where one of them says nothing), ``judge_id``. The judge's labels stay in this frame: no
        metric of the rules takes them in.

    Examples
    --------
    >>> from neverempty.judge import FakeJudge, Judge
    >>> trace = Trace("default", "a", "typed", 0, answer="Det finns inga bussar i kväll, tyvärr.")
    >>> frame = second_reading([trace], Judge(FakeJudge(), ["scripted"]))
    >>> frame[["readable", "rules", "agree"]].values.tolist()
    [[False, 'unreadable', 'unknown']]
    """
    import pandas as pd

    rows = list(_read_all(traces, judge, unreadable_only))
    return pd.DataFrame(rows, columns=[*_COLUMNS]).astype(_COLUMNS)


def _read_all(traces: Iterable[Trace], judge: Judge, unreadable_only: bool) -> Iterator[dict[str, Any]]:
    for trace in traces:
        if not trace.answer or not trace.answer.strip():
            continue
        reading = read_answer(trace.answer)
        if reading.readable and unreadable_only:
            continue
        told = read_by_judge(trace.answer, judge)
        rules = "unreadable" if not reading.readable else reading.claim
        shown = "none" if rules == "data" else rules
        known = "unknown" not in (told.claim, shown) and shown != "unreadable"
        yield {
            "suite": trace.suite,
            "case_id": trace.case_id,
            "arm": trace.arm,
            "repeat": trace.repeat,
            "language": trace.language or "",
            "readable": reading.readable,
            "rules": rules,
            "judge": told.claim,
            "agree": ("yes" if told.claim == shown else "no") if known else "unknown",
            "judge_id": judge.judge_id,
        }
