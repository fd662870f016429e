"""Specifics of an answer, and which of them stand nowhere that the agent could have read."""

from __future__ import annotations

import datetime
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any, Final

from neverempty.cases import Case
from neverempty.scorers import specifics_words as words_of
from neverempty.traces.model import Trace

_MOST_CHARS: Final = 20_000
_MOST_FOUND: Final = 50
_MOST_TERMS: Final = 40
# Takes the place of what was found, and joins nothing.
_GAP: Final = " | "
_URL: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"')\]]+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.I
)
_QUOTED: Final = re.compile(r"[\"“«「『]([^\"“”«»「」『』\n]{2,80})[\"”»」』]")
_DATES: Final = re.compile(
    r"(?<![\d.,/-])(?:\d{4}[-/.年]\s?)?(?P<a>\d{1,2})(?:[-/]|[月월]\s?)(?P<b>\d{1,2})(?:[-/]\d{2,4}|[日일])?(?![\d/-])"
    r"|(?<![\d.,/-])(?P<c>\d{1,2})\.(?P<d>\d{1,2})\.(?:\d{2,4})?(?!\d)"
    rf"|(?<!\d)(?P<e>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)? (?:de |of )?(?P<f>{words_of.MONTH})"
    rf"|(?<!\w)(?P<g>{words_of.MONTH}) (?:the )?(?P<h>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])",
    re.I,
)
_DAY_MONTH: Final = re.compile(r"(\d{1,2})\.(\d{1,2})")
_TIME: Final = re.compile(
    r"(?<![\d.,:])(?P<hour>\d{1,2})(?:[:h](?P<minute>\d{2})(?::\d{2})?(?!\d)(?: ?[ap]\.?m\b)?| ?[ap]\.?m\b)",
    re.I,
)
_ID: Final = re.compile(
    r"\b(?!\d+(?:st|nd|rd|th|er|k)\b)(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[^\W\d_])[A-Za-z0-9_][A-Za-z0-9_-]{2,40}(?![A-Za-z0-9_])"
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:٫٬ \u00a0\u202f]?\d+)*(?:k\b)?", re.I)
_YEAR: Final = re.compile(r"20[23]\d")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?؟।。])\s+|(?<=[。?])|\n+")
_LIST_MARK: Final = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]", re.M)
_IN_DIGITS: Final = re.compile(r"(?<=\d)[ ()./-]{1,3}(?=\d)")
_LONG: Final = 6
_OFFERED: Final = 4


def specifics(text: str) -> tuple[tuple[str, str], ...]:
    """Find what an answer states so exactly that it must come from somewhere.

    Web and mail addresses, quoted names, dates, times, ids that mix letters and digits, numbers from two on,
    also in words, and capitalised names. Left out: questions, places in a list, waiting times, error codes,
    years of our time, examples, blanks that nobody filled in, and small numbers and names in offers.

    Parameters
    ----------
    text : str
        The answer; its first 20,000 characters count.

    Returns
    -------
    tuple of (str, str)
        Pairs of the words as they stand and their normal form, at most 50, without repeats. A date's form is
        its day and month with the smaller first, since ``3/5`` may be either.

    Examples
    --------
    >>> specifics('Invoice INV-4471 over 1,250.00 is due on 3 May; see "Annex B".')
    (('Annex B', 'annex b'), ('3 May', '3-5'), ('INV-4471', 'inv-4471'), ('1,250.00', '1250'))
    >>> specifics("Please try again in 10 minutes (error 503).")
    ()
    """
    return tuple(dict.fromkeys(_extract(text)))[:_MOST_FOUND]


def _extract(text: str) -> Iterator[tuple[str, str]]:
    text = unicodedata.normalize("NFKC", text[:_MOST_CHARS])
    text = words_of.EXAMPLE.sub(_GAP, words_of.PLACEHOLDER.sub(_GAP, text))
    for pattern in (_URL, _QUOTED):
        for match in pattern.finditer(text):
            words = match.group(pattern.groups)
            form = _plain(words.rstrip(".,;:!?"))
            if any(char.isalnum() for char in form):
                yield words, form
        text = pattern.sub(_GAP, text)
    text = words_of.NOISE.sub(_GAP, _LIST_MARK.sub("\n", text))
    for match in _DATES.finditer(text):
        if day := _date(match):
            yield match.group(), day
    text = _DATES.sub(lambda match: _GAP if _date(match) else match.group(), text)
    for sentence in _SENTENCE_END.split(text):
        if not sentence.rstrip().endswith(("?", "؟")):
            yield from _stated(sentence)


def _stated(sentence: str) -> Iterator[tuple[str, str]]:
    """Find times, ids, numbers and names in a sentence that states something."""
    offer = words_of.OFFER.search(sentence) is not None
    rest = sentence
    for pattern, form_of in ((_TIME, _time), (_ID, lambda match: _plain(match.group()))):
        yield from ((match.group(), form_of(match)) for match in pattern.finditer(rest))
        rest = pattern.sub(_GAP, rest)
    for match in _NUMBER.finditer(rest):
        number = _number(match.group())
        small = number in ("0", "1") or (offer and len(number) < _OFFERED)
        if not small and not _YEAR.fullmatch(number):
            yield match.group(), number
    if not offer:
        yield from _number_words(rest)
        yield from _names(sentence)


def _number_words(text: str) -> Iterator[tuple[str, str]]:
    for match in words_of.NUMBER_WORD.finditer(text):
        yield match.group(), str(words_of.NUMBER_WORDS[match.group().lower()])
    for match in words_of.HAN_NUMBER.finditer(text):
        yield match.group(), str(words_of.HAN_NUMBERS[match.group()])


def _names(sentence: str) -> Iterator[tuple[str, str]]:
    """Find names of two words and more, and of one after a word as *in* or *by*."""
    for match in words_of.NAME.finditer(sentence):
        words = match.group().split(" ")
        while words and words[0].lower() in words_of.NO_NAME:
            words = words[1:]
        alone = len(words) == 1 and words_of.BEFORE_NAME.search(sentence[: match.start()])
        if len(words) > 1 or alone:
            name = " ".join(words)
            yield name, _plain(name)


def _plain(words: str) -> str:
    return " ".join(words.lower().split())


def _date(match: re.Match[str]) -> str | None:
    """Write day and month the same way in any order; None where the digits are no date."""
    month = match["f"] or match["g"]
    if month:
        pair = (words_of.MONTHS[month.lower()], int(match["e"] or match["h"]))
    else:
        pair = (int(match["a"] or match["c"]), int(match["b"] or match["d"]))
    return _pair(*pair)


def _pair(one: int, other: int) -> str | None:
    low, high = sorted((one, other))
    return f"{low}-{high}" if 1 <= low <= 12 and high <= 31 else None


def _time(match: re.Match[str]) -> str:
    """Write a time as on a clock face: 18:05 and 6:05 pm are the same."""
    return f"{int(match['hour']) % 12 or 12}:{int(match['minute'] or 0):02}"


def _number(digits: str) -> str:
    """Write a number the same way whatever its digits, separators and trailing zeros."""
    thousands = digits[-1] in "kK"
    digits = digits[:-1] if thousands else digits
    ascii_digits = "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in digits)
    if ":" in ascii_digits:
        return ascii_digits
    parts = re.split(r"[.,٫٬ \u00a0\u202f]", ascii_digits)
    decimal = len(parts) > 1 and len(parts[-1]) != 3
    whole = "".join(parts[:-1] if decimal else parts).lstrip("0") or "0"
    fraction = parts[-1].rstrip("0") if decimal else ""
    if thousands and len(fraction) <= 3:
        return (whole + fraction.ljust(3, "0")).lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


class Context:
    """Everything that an agent could have read in one repeat, ready to be searched.

    Parameters
    ----------
    texts : iterable of str
        The conversation and the tool results.
    data : iterable of str, optional
        The tool results among them that are data: sums, differences and products over their numbers count as
        read.

    Examples
    --------
    >>> Context(["Total: 1250 EUR"]).holds("1,250.00", "1250")
    True
    >>> Context(["tea 4, cup 8"], data=["tea 4, cup 8"]).holds("12", "12")
    True
    """

    def __init__(self, texts: Iterable[str], data: Iterable[str] = ()) -> None:
        self._folded = [unicodedata.normalize("NFKC", text) for text in texts]
        self._data = [unicodedata.normalize("NFKC", text) for text in data]
        self._text = _plain("\n".join(self._folded))
        self._forms: set[str] | None = None

    def holds(self, words: str, form: str) -> bool:
        """Say whether a specific stands in the context.

        Parameters
        ----------
        words, form : str
            A pair from `specifics`.

        Returns
        -------
        bool
            True where the words, or anything of the same normal form, stand there; for a number also where it
            counts the items of a list or follows from the data; for a name also where a word of it does.
        """
        if _plain(words) in self._text and not form.isdigit():
            return True
        if self._forms is None:
            self._forms = {form for text in self._folded for form in _forms(text)}
            self._forms |= _computed(self._data, self._forms)
        return form in self._forms or any(self._holds_parts(words, form))

    def _holds_parts(self, words: str, form: str) -> Iterator[bool]:
        forms = self._forms or set()
        if match := _DAY_MONTH.fullmatch(words):
            yield _pair(*map(int, match.groups())) in forms
        digits = "".join(char for char in words if char.isdigit())
        if len(digits) >= _LONG:
            yield digits in _IN_DIGITS.sub("", self._text)
        if re.fullmatch(r"\d+-\d+", form):
            # a span of two numbers that were read one by one
            yield all(_number(found) in forms for found in re.findall(r"\d+", words)) and "-" in words
        if not digits and words[:1].isupper() and " " in words:
            yield any(len(word) > 2 and word in self._text for word in form.split())


@cache
def _cached_forms(text: str) -> frozenset[str]:
    numbers = (_number(match.group()) for match in _NUMBER.finditer(text))
    times = (_time(match) for match in _TIME.finditer(text))
    words = (form for _, form in _number_words(text))
    stated = (form for _, form in _extract(text))
    return frozenset((*numbers, *times, *words, *stated, *_days(text), *_list_lengths(text)))


def _forms(text: str) -> frozenset[str]:
    return _cached_forms(text) if len(text) < 2_000 else _cached_forms.__wrapped__(text)


def _days(text: str) -> Iterator[str]:
    """Give the dates of a text, and the days beside them where it speaks of tomorrow."""
    moved = (-1, 0, 1) if words_of.TOMORROW.search(text) else (0,)
    for match in _DATES.finditer(text):
        form = _date(match)
        if form is None:
            continue
        yield form
        low, high = map(int, form.split("-"))
        for month, day in {(low, high), (high, low)}:
            try:
                date = datetime.date(2024, month, day)
            except ValueError:
                continue
            for days in moved:
                there = date + datetime.timedelta(days=days)
                yield "-".join(map(str, sorted((there.month, there.day))))


def _computed(data: Iterable[str], known: Iterable[str]) -> set[str]:
    """Give sums, differences and products of the data's numbers with each other and with the question's."""
    found = [_number(match.group()) for text in data for match in _NUMBER.finditer(text[:_MOST_CHARS])]
    terms = [Decimal(number) for number in found[:_MOST_TERMS] if ":" not in number and len(number) < 15]
    plain = sorted(number for number in known if re.fullmatch(r"\d{1,9}(?:\.\d{1,4})?", number))
    others = {*terms, *map(Decimal, plain[:_MOST_TERMS])}
    results = {value for one in terms for two in others for value in (one + two, abs(one - two), one * two)}
    results |= {sum(terms, Decimal(0))} if terms else set()
    lines = [sum(1 for line in text.splitlines() if line.strip()) for text in data]
    return {_number(f"{value:f}") if value % 1 else f"{value:.0f}" for value in results} | set(
        map(str, lines)
    )


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
    read = [(call.truth, call.returned if call.seen is None else call.seen) for call in trace.calls]
    texts += [text for _, text in read if text]
    return Context(texts, data=[text for truth, text in read if text and truth == "data"])


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
