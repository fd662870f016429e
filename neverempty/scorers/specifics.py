"""Specifics of an answer, and which of them stand nowhere that the agent could have read."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from neverempty.cases import Case
from neverempty.traces.model import Trace

_MOST_CHARS: Final = 20_000
_MOST_FOUND: Final = 50
_MONTHS: Final = {
    name[:3]: number
    for number, name in enumerate(
        ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
         "november", "december"),
        start=1,
    )
}  # fmt: skip
_MONTH: Final = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_URL: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.I
)
_MAY_HOLD: Final = re.compile(r"[\d\"“«「『@]|www\.")
_QUOTED: Final = re.compile(r"[\"“«「『]([^\"“”«»「」『』\n]{2,80})[\"”»」』]")
_DATES: Final = re.compile(
    rf"\b(\d{{4}})-(\d{{1,2}})-(\d{{1,2}})\b"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH})\b"
    rf"|\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b",
    re.I,
)
_ID: Final = re.compile(r"\b(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[^\W\d_])\w[\w-]{2,40}\b")
_NUMBER: Final = re.compile(r"\d+(?:[.,:٫٬ \u00a0\u202f]?\d+)*")
# Digits that say nothing about what was asked for: places in a list, waiting times, codes of the failure.
_LIST_MARK: Final = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]", re.M)
_NOISE: Final = re.compile(
    r"\b(?:error|code|status|http|attempts?|retr(?:y|ies))\W{0,3}(?:code\W{0,3})?\d{1,3}\b"
    r"|\b\d{1,3}\s?(?:s|ms|sec\w*|seconds?|min\w*|minutes?|hours?|hrs?|days?|moments?|times?|attempts?|retries)\b"
    r"|\b24/7\b",
    re.I,
)


def specifics(text: str) -> tuple[tuple[str, str], ...]:
    """Find what an answer states so exactly that it must come from somewhere.

    Web and mail addresses, quoted names, dates, ids that mix letters and digits, and numbers of two digits
    and more. Left out: places in a list, waiting times, error codes.

    Parameters
    ----------
    text : str
        The answer; its first 20,000 characters count.

    Returns
    -------
    tuple of (str, str)
        Pairs of the words as they stand and their normal form, in order, at most 50, without repeats.

    Examples
    --------
    >>> specifics('Invoice INV-4471 over 1,250.00 is due on 3 May; see "Annex B".')
    (('Annex B', 'annex b'), ('3 May', '5-3'), ('INV-4471', 'inv-4471'), ('1,250.00', '1250'))
    >>> specifics("Please try again in 10 minutes (error 503).")
    ()
    """
    return tuple(dict.fromkeys(_extract(text)))[:_MOST_FOUND]


def _extract(text: str) -> Iterator[tuple[str, str]]:
    if not _MAY_HOLD.search(text):
        return
    text = unicodedata.normalize("NFKC", text[:_MOST_CHARS])
    for pattern, form in ((_URL, _plain), (_QUOTED, _plain)):
        found = [match.group(pattern.groups) for match in pattern.finditer(text)]
        text = pattern.sub(" ", text)
        yield from ((words, form(words.rstrip(".,;:!?"))) for words in found)
    text = _NOISE.sub(" ", _LIST_MARK.sub(" ", text))
    for match in _DATES.finditer(text):
        yield match.group(), _date(match)
    text = _DATES.sub(" ", text)
    for match in _ID.finditer(text):
        yield match.group(), _plain(match.group())
    text = _ID.sub(" ", text)
    for match in _NUMBER.finditer(text):
        number = _number(match.group())
        if len(number.strip("-")) > 1:
            yield match.group(), number


def _plain(words: str) -> str:
    return " ".join(words.lower().split())


def _date(match: re.Match[str]) -> str:
    _, month, day, day_first, name_after, name_before, day_after = match.groups()
    name = name_after or name_before
    return (
        f"{_MONTHS[name[:3].lower()]}-{int(day_first or day_after)}" if name else f"{int(month)}-{int(day)}"
    )


def _number(digits: str) -> str:
    """Write a number the same way whatever its digits, separators and trailing zeros."""
    ascii_digits = "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in digits)
    if ":" in ascii_digits:
        return ascii_digits
    parts = re.split(r"[.,٫٬ \u00a0\u202f]", ascii_digits)
    decimal = len(parts) > 1 and len(parts[-1]) != 3
    whole = "".join(parts[:-1] if decimal else parts).lstrip("0") or "0"
    fraction = parts[-1].rstrip("0") if decimal else ""
    return f"{whole}.{fraction}" if fraction else whole


class Context:
    """Everything that an agent could have read in one repeat, ready to be searched.

    Parameters
    ----------
    texts : iterable of str
        The conversation and the tool results.

    Examples
    --------
    >>> Context(["Total: 1250 EUR"]).holds("1,250.00", "1250")
    True
    """

    def __init__(self, texts: Iterable[str]) -> None:
        folded = [unicodedata.normalize("NFKC", text) for text in texts]
        self._text = _plain("\n".join(folded))
        self._forms: set[str] | None = None
        self._folded = folded

    def holds(self, words: str, form: str) -> bool:
        """Say whether a specific stands in the context.

        Parameters
        ----------
        words, form : str
            A pair from `specifics`.

        Returns
        -------
        bool
            True where the words, or anything of the same normal form, stand there, and for a number that
            counts the items of a list there.
        """
        if _plain(words) in self._text and not form.isdigit():
            return True
        if self._forms is None:
            self._forms = {form for text in self._folded for form in _forms(text)}
        return form in self._forms


@cache
def _cached_forms(text: str) -> frozenset[str]:
    numbers = (_number(match.group()) for match in _NUMBER.finditer(text))
    dates = (_date(match) for match in _DATES.finditer(text))
    return frozenset((*numbers, *dates, *_list_lengths(text)))


def _forms(text: str) -> frozenset[str]:
    return _cached_forms(text) if len(text) < 2_000 else _cached_forms.__wrapped__(text)


def _list_lengths(text: str) -> Iterator[str]:
    if "[" not in text:
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    pending: list[Any] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            yield str(len(node))
            pending.extend(node)


def context_of(trace: Trace, case: Case) -> Context:
    """Collect what an agent could have read: its conversation and every tool result it saw.

    Parameters
    ----------
    trace : Trace
        One repeat; the agent's own messages do not count, its arguments neither.
    case : Case
        Its case.

    Returns
    -------
    Context
        The texts.
    """
    texts = [case.prompt]
    texts += [message.text for message in case.input.messages or ()]
    for message in trace.messages:
        content = message.get("content")
        if message.get("role") != "assistant" and isinstance(content, str):
            texts.append(content)
    texts += [text for call in trace.calls if (text := call.seen if call.seen is not None else call.returned)]
    return Context(texts)


def ungrounded(answer: str, trace: Trace, case: Case) -> tuple[str, ...]:
    """List the specifics of an answer that stand neither in the conversation nor in a tool result.

    Parameters
    ----------
    answer : str
        The answer.
    trace : Trace
        The repeat it ends.
    case : Case
        Its case.

    Returns
    -------
    tuple of str
        The words as they stand in the answer.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": "Any invoice over 500?"})
    >>> ungrounded("Yes: INV-4471, over 500.", Trace("default", "a", "typed", 0), case)
    ('INV-4471',)
    """
    found = specifics(answer)
    if not found:
        return ()
    context = context_of(trace, case)
    return tuple(words for words, form in found if not context.holds(words, form))
