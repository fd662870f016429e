"""Exact checks of the reply's own words: banned ones, and those of another locale than the case's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from neverempty._errors import UsageError
from neverempty.cases import Case
from neverempty.claims import LANGUAGES, read_answer
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unanswered
from neverempty.traces.model import Trace

_BANNED: Final = "banned_words"
_LOCALE: Final = "reply_locale"
# Vowel signs and points of Hebrew, Arabic and Devanagari.
_MARKS: Final = "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_SPACE: Final = re.compile(r"\s+")
# Scripts that write without blanks between words: there a word may stand inside a run of letters.
_UNSPACED: Final = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
# Only where both marks stand in one number is it certain which of them parts the decimals.
_POINT_NUMBER: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{2,3})+\.\d+(?![\d.,]*\d)")
_COMMA_NUMBER: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d.,]*\d)")
_WRONG_NUMBER: Final = {
    **dict.fromkeys(("en", "hi", "hinglish", "ja", "zh", "ko"), _COMMA_NUMBER),
    **dict.fromkeys(("de", "es", "fr", "it", "pt", "ru"), _POINT_NUMBER),
}


def folded(text: str) -> str:
    """Fold a text so that words compare: compatibility forms, case, white space, invisible characters.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The folded text.

    Examples
    --------
    >>> folded("ＧＵＡＲ\u00adANTEED  returns")
    'guaranteed returns'
    """
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", plain)).strip()


class BannedWordsScorer:
    """Fails a repeat whose reply holds a banned word or phrase.

    A word counts where it stands by itself: between characters that are no letters, marks or digits; in
    scripts without blanks between words, anywhere.

    Parameters
    ----------
    words : iterable of str, or mapping of str to iterable of str
        The words, or the words by language of the case; under ``""`` those of every language.

    Examples
    --------
    >>> scorer = BannedWordsScorer(["guaranteed", "as an AI"])
    >>> trace = Trace("default", "a", "typed", 0, answer="Returns are GUARANTEED.")
    >>> scorer.score(trace, Case(id="a", input={"payload": 1}))[0].evidence
    {'words': ['guaranteed']}
    """

    name = "banned_words"
    version = "1"
    metrics = (MetricSpec(_BANNED, "lower", "any_hit", "reply"),)

    def __init__(self, words: Iterable[str] | Mapping[str, Iterable[str]]) -> None:
        if isinstance(words, str):
            raise UsageError("words is one text; give a list of words")
        by_language = words if isinstance(words, Mapping) else {"": words}
        self._patterns = {
            language: [(word, _word_pattern(word)) for word in listed]
            for language, listed in by_language.items()
        }

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
            One score; an empty answer is ``no_signal``, a language without words not applicable.
        """
        patterns = [*self._patterns.get("", ()), *self._patterns.get(case.language or "", ())]
        if not patterns:
            return (not_applicable(_BANNED, "no_expectation"),)
        reason = unanswered(trace)
        if reason is not None:
            return (no_signal(_BANNED, reason),)
        reply = folded(trace.answer or "")
        said = list(dict.fromkeys(word for word, pattern in patterns if pattern.search(reply)))
        if said:
            return (check(_BANNED, False, "said", evidence={"words": said}),)
        return (check(_BANNED, True, "clean"),)


def _word_pattern(word: str) -> re.Pattern[str]:
    plain = folded(word) if isinstance(word, str) else ""
    if not plain:
        raise UsageError(f"{word!r} is no word that could be banned")
    before = "" if _is_unspaced(plain[0]) else r"(?<![\w\u0300-\u036f])" + _no_mark("<!")
    after = "" if _is_unspaced(plain[-1]) else r"(?!\w)" + _no_mark("!")
    return re.compile(before + re.escape(plain) + after)


def _no_mark(kind: str) -> str:
    """Look at vowel signs and other marks, which are no word characters to ``re``: Indic, Arabic, Hebrew."""
    return f"(?{kind}[{_MARKS}])"


def _is_unspaced(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_UNSPACED)


class LocaleScorer:
    """Passes a repeat whose reply is in the language of its case, with numbers written as that language does.

    Numbers count only where they are certain: ``1,234.50`` in a German reply, ``1.234,50`` in an English one.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1}, language="de")
    >>> trace = Trace("default", "a", "typed", 0, answer="Der Betrag ist 1,234.50 Euro.")
    >>> LocaleScorer().score(trace, case)[0].label
    'number_format'
    """

    name = "reply_locale"
    version = "1"
    metrics = (MetricSpec(_LOCALE, "higher", "majority", "reply"),)

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
            One score; not applicable where the case names no language that can be told, no signal where the
            reply has too few words to tell.
        """
        if case.language not in LANGUAGES:
            return (not_applicable(_LOCALE, "no_language"),)
        reason = unanswered(trace)
        if reason is not None:
            return (no_signal(_LOCALE, reason),)
        answer = trace.answer or ""
        reading = read_answer(answer)
        if reading.readable and reading.language is None:
            return (no_signal(_LOCALE, "language_not_told"),)
        if reading.language != case.language:
            spoken = reading.language or "another language"
            return (check(_LOCALE, False, "other_language", evidence={"reply": spoken}),)
        wrong = _WRONG_NUMBER.get(case.language)
        if wrong is not None and (found := wrong.search(unicodedata.normalize("NFKC", answer))):
            return (check(_LOCALE, False, "number_format", evidence={"number": found.group()}),)
        return (check(_LOCALE, True, "fits"),)
