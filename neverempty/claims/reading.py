"""Reading an answer: which of its words claim absence, disclose a failure, report data."""

from __future__ import annotations

from typing import NamedTuple

from neverempty.claims.detect import known, languages
from neverempty.claims.engine import Engine, Findings, Found, Places, engine
from neverempty.claims.rulebook import patterns_version


_CODE = frozenset("[{<`|")  # an answer that begins so is code or a table, which needs no language

_new = tuple.__new__  # makes a named tuple in a third of the time that its class takes
_NEUTRAL = ["en"]  # what an answer without a telling word is read as: "0 hits", "[]"


class Span(NamedTuple):
    """A stretch of the answer that makes a claim.

    Parameters
    ----------
    start, end
        Characters of the answer: ``answer[start:end] == text``.
    text
        The words themselves.
    rule
        The rule that fired, such as ``en.there-is-no``.
    """

    start: int
    end: int
    text: str
    rule: str


class Reading(NamedTuple):
    """What an answer says.

    Parameters
    ----------
    absence
        Where it says that what was asked for does not exist.
    failure
        Where it says that the look-up failed or could not be made.
    data
        Where it reports what was found.
    language
        The language it is read in (the likeliest, where it mixes several), or None where it has no words.
    readable
        False for an answer in a language without rules: it is never guessed what it says.
    version
        The version of the rules; readings of different versions are not compared.
    """

    absence: tuple[Span, ...]
    failure: tuple[Span, ...]
    data: tuple[Span, ...]
    language: str | None
    readable: bool
    version: str


class Pass(NamedTuple):
    """One language's look at an answer, for explanations."""

    engine: Engine
    places: Places
    findings: Findings


def read_answer(text: str, language: str | None = None) -> Reading:
    """Read an answer: where does it claim absence, disclose a failure, report data?

    Nothing is sent anywhere, and the same text gives the same reading on every machine. An answer that mixes languages
    is read in each of them.

    Parameters
    ----------
    text
        The answer.
    language
        A language to read it in besides those that are recognised (one of ``LANGUAGES``); a hint, never a blindfold.

    Returns
    -------
    Reading
        Spans of the text by claim, the language, and whether it could be read.

    Raises
    ------
    ValueError
        Where there are no rules for ``language``.

    Examples
    --------
    >>> reading = read_answer("There are no open tickets.")
    >>> reading.absence[0].text
    'There are no open tickets'
    >>> read_answer("I found nothing, because the search timed out.").absence
    ()
    """
    found, readable, passes = look(text, language)
    absence: tuple[Span, ...] = ()
    failure: tuple[Span, ...] = ()
    data: tuple[Span, ...] = ()
    for _, places, findings in passes:
        kept = findings.kept
        if kept["absence"]:
            absence = _spans(text, places, kept["absence"], absence)
        if kept["failure"]:
            failure = _spans(text, places, kept["failure"], failure)
        if kept["data"]:
            data = _spans(text, places, kept["data"], data)
    return _new(Reading, (absence, failure, data, found, readable, patterns_version()))


def look(text: str, language: str | None, whole: bool = False) -> tuple[str | None, bool, list[Pass]]:
    """Apply the rules of every language of an answer.

    Parameters
    ----------
    text, language
        As in ``read_answer``.
    whole
        Whether to name the shields too where there is nothing to shield.

    Returns
    -------
    tuple
        The likeliest language, whether the answer is readable, and each language's findings.
    """
    if language is not None:
        known(language)
    tokens = _tokens(text)
    if not tokens:
        return language, True, []
    present, readable = languages(tokens, language)
    if not readable and tokens[0][0] in _CODE:
        present, readable = [], True
    if not readable and language is None:
        return None, False, []
    passes = []
    for name in present or _NEUTRAL:
        reader = engine(name)
        codes = reader.codes(tokens)
        findings = reader.find(codes, whole)
        if findings is not None:
            passes.append(Pass(reader, Places(reader, text, tokens, codes), findings))
    return present[0] if present else None, readable, passes


def _tokens(text: str) -> list[str]:
    """Cut an answer at white space, keeping the ends of its lines."""
    if "\n" not in text:
        return text.split()
    tokens: list[str] = []
    for line in text.split("\n"):
        tokens += line.split()
        tokens.append("\n")
    tokens.pop()
    return tokens


def _spans(text: str, places: Places, founds: list[Found], earlier: tuple[Span, ...]) -> tuple[Span, ...]:
    """Turn findings into spans of the text; of those that overlap, the first and longest stays."""
    if len(founds) > 1:
        founds.sort(key=_order)
    spans: list[Span] = []
    reached = 0
    for first, last, rule in founds:
        if first >= reached:
            start, end = places.span(first, last)
            spans.append(_new(Span, (start, end, text[start:end], rule.id)))
            reached = last
    if not earlier:
        return tuple(spans)
    merged: list[Span] = []
    for span in sorted([*earlier, *spans], key=_order):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
    return tuple(merged)


def _order(one: Found | Span) -> tuple[int, int]:
    return one[0], -one[1]
