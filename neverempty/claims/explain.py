"""Showing what was read where, and why: for the reader of one answer and for the writer of a rule."""

from __future__ import annotations

from collections.abc import Iterator

from neverempty.claims.engine import Found
from neverempty.claims.reading import Pass, look
from neverempty.claims.rulebook import CLAIMS, patterns_version


def explain(text: str, language: str | None = None) -> str:
    """Say which words of an answer make which claim by which rule, and which claims were undone by what.

    Parameters
    ----------
    text
        The answer.
    language
        A language to read it in besides those that are recognised.

    Returns
    -------
    str
        One line per claim, shield and undone claim, with the characters it stands at.

    Raises
    ------
    ValueError
        Where there are no rules for ``language``.

    Examples
    --------
    >>> print(explain("If there are no trams, walk.").split("rules")[0])
    language en
    not absence   3-15   'there are no'            en.there-is-no, undone by en.condition
    shield        0-21   'If there are no trams'   en.condition
    no claim
    <BLANKLINE>
    """
    found, readable, passes = look(text, language)
    lines = [
        f"language {found or 'none'}"
        if readable
        else "not readable: no rules for the language of this answer"
    ]
    claims = [line for one in passes for line in _claims(text, one)]
    undone = [line for one in passes for line in _undone(text, one)]
    shields = [line for one in passes for line in _shields(text, one)]
    lines += claims + undone + shields
    if not claims:
        lines.append("no claim")
    return "\n".join([*lines, f"rules {patterns_version()}"])


def _line(text: str, one: Pass, first: int, last: int, what: str, why: str) -> str:
    start, end = one.places(text).span(first, last)
    return f"{what:13} {f'{start}-{end}':6} {text[start:end]!r:25} {why}"


def _claims(text: str, one: Pass) -> Iterator[str]:
    for first, last, rule in sorted(one.findings.kept, key=_by_claim):
        yield _line(text, one, first, last, rule.claim, rule.id)


def _by_claim(found: Found) -> tuple[int, int, int]:
    return CLAIMS.index(found[2].claim), found[0], found[1]


def _undone(text: str, one: Pass) -> Iterator[str]:
    for (first, last, rule), why in one.findings.dropped:
        yield _line(text, one, first, last, f"not {rule.claim}", f"{rule.id}, undone by {why}")


def _shields(text: str, one: Pass) -> Iterator[str]:
    for first, last, rule in one.findings.shields:
        yield _line(text, one, first, last, "shield", rule.id)
