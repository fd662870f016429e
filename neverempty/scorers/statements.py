"""Looking for a statement in an answer, and looking for all of a case's."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from neverempty.cases import Case, Statement, find_pattern
from neverempty.traces.model import Trace

JUDGED: Final = "judged"
"""Key of a score's evidence that counts what a judge decided."""

JUDGE_MISSING: Final = "judge_not_configured"
_SHOWN: Final = 160

StatementJudge = Callable[[Statement, Trace, Case], bool | None]
"""Decides a statement that string logic cannot: True (made), False (not made), None (no verdict)."""


class Look(NamedTuple):
    """What was found of one statement.

    Parameters
    ----------
    id : str
        Name of the statement.
    made : bool or None
        Whether the answer makes it; None where nothing could tell.
    reason : str or None
        Why nothing could tell.
    text : str or None
        The words of the answer, where string logic found them.
    judged : bool
        Whether a judge decided it.
    """

    id: str
    made: bool | None
    reason: str | None = None
    text: str | None = None
    judged: bool = False


def judged_version(version: str, judge: StatementJudge | None) -> str:
    """Name a scorer's version with the judge that it asks, so that other judges' numbers stay apart.

    Parameters
    ----------
    version : str
        The scorer's own.
    judge : callable or None
        Who decides statements.

    Returns
    -------
    str
        With the judge's hash, or the name of the function that judges.

    Examples
    --------
    >>> judged_version("1", None)
    '1'
    """
    if judge is None:
        return version
    return f"{version}+judge.{getattr(judge, 'judge_id', getattr(judge, '__name__', type(judge).__name__))}"


def look_for(statement: Statement, trace: Trace, case: Case, judge: StatementJudge | None) -> Look:
    """Look for one statement in an answer.

    Parameters
    ----------
    statement : Statement
        ``contains`` ignores case, white space, and full-width or composed forms; ``regex`` is RE2.
    trace, case
        The repeat and its case.
    judge : callable or None
        Decides ``match: judge``.

    Returns
    -------
    Look
        What was found.
    """
    answer = trace.answer or ""
    if statement.match == "judge":
        if judge is None:
            return Look(statement.id, None, JUDGE_MISSING)
        made = judge(statement, trace, case)
        return Look(statement.id, made, "judge_no_verdict" if made is None else None, judged=True)
    if statement.match == "regex":
        span = find_pattern(statement.statement, answer)
        return Look(
            statement.id, span is not None, None, answer[span[0] : span[1]][:_SHOWN] if span else None
        )
    made = fold(statement.statement) in fold(answer)
    return Look(statement.id, made, None, statement.statement[:_SHOWN] if made else None)


def look_for_all(
    statements: Iterable[Statement], trace: Trace, case: Case, judge: StatementJudge | None
) -> list[Look]:
    """Look for every statement of a list, in order.

    Parameters
    ----------
    statements : iterable of Statement
        The statements.
    trace, case, judge
        As for `look_for`.

    Returns
    -------
    list of Look
        One per statement.
    """
    return [look_for(statement, trace, case, judge) for statement in statements]


def judged_counts(looks: Iterable[Look]) -> dict[str, Any]:
    """Count what a judge decided, for a score's evidence: rates of claims are corrected from it.

    Parameters
    ----------
    looks : iterable of Look
        What was found of each statement.

    Returns
    -------
    dict
        Empty where no judge gave a verdict.

    Examples
    --------
    >>> judged_counts([Look("a", True, judged=True), Look("b", None, judged=True), Look("c", True)])
    {'judged': {'verdict': 'supported', 'hits': 1, 'n': 1}}
    """
    made = [look.made for look in looks if look.judged and look.made is not None]
    return tally("supported", sum(made), len(made))


def tally(verdict: str, hits: int, n: int) -> dict[str, Any]:
    """Write into a score's evidence how many of its claims got a verdict from a judge.

    Parameters
    ----------
    verdict : str
        The verdict that is counted.
    hits, n : int
        Claims with that verdict, and with any.

    Returns
    -------
    dict
        Empty where there are none.

    Examples
    --------
    >>> tally("contradicted", 0, 2), tally("contradicted", 0, 0)
    ({'judged': {'verdict': 'contradicted', 'hits': 0, 'n': 2}}, {})
    """
    return {JUDGED: {"verdict": verdict, "hits": hits, "n": n}} if n else {}


def fold(value: Any) -> str:
    r"""Fold a value's text for comparison: compatibility forms, case, white space.

    Parameters
    ----------
    value : object
        A text, or anything with one.

    Returns
    -------
    str
        The folded text.

    Examples
    --------
    >>> fold("  Ｐune\n Metro ")
    'pune metro'
    """
    return " ".join(unicodedata.normalize("NFKC", str(value)).casefold().split())
