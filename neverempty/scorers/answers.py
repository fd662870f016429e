"""What an answer claims: the reader's spans as evidence, each distinct answer read once."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast

from neverempty.claims.reading import Span, read_answer
from neverempty.claims.rulebook import LANGUAGES

Claim = Literal["absence", "failure", "data", "none"]

_KEPT: Final = 20_000
_SPANS: Final = 3
_SPAN_CHARS: Final = 160
# An error text shorter than this can stand in an answer by chance.
_PARROTED: Final = 8


class Said(NamedTuple):
    """What one answer says, short enough to be kept.

    Parameters
    ----------
    claim : {"absence", "failure", "data", "none"}
        The gravest claim: an absence beats a failure mention (the reader has already undone the absences
        for which a failure is the reason), a failure beats data.
    readable : bool
        False for an answer in a language without rules.
    spans : tuple of dict
        The first spans of the claims made, as ``{"claim", "start", "end", "text", "rule"}``.
    """

    claim: Claim
    readable: bool
    spans: tuple[dict[str, Any], ...]


_SILENT: Final = Said("none", True, ())


@cache
def reading_language(language: str | None) -> str | None:
    """Name the language whose rules a case's language tag asks for.

    Parameters
    ----------
    language : str or None
        A tag as ``"en"``, ``"en-IN"`` or ``"hi-Latn"``.

    Returns
    -------
    str or None
        A language of the reader; None where it has no rules for it, so that the answer's own words tell.

    Examples
    --------
    >>> reading_language("en-IN"), reading_language("hi-Latn"), reading_language("nl")
    ('en', 'hinglish', None)
    """
    if language is None:
        return None
    parts = language.lower().replace("_", "-").split("-")
    if parts[0] == "hi" and "latn" in parts[1:]:
        return "hinglish"
    return parts[0] if parts[0] in LANGUAGES else None


class AnswerReader:
    """Reads answers and remembers them: agents repeat themselves.

    Examples
    --------
    >>> AnswerReader().read("The search timed out.", "en").claim
    'failure'
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str | None], Said] = {}

    def read(self, answer: str | None, language: str | None) -> Said:
        """Read an answer.

        Parameters
        ----------
        answer : str or None
            The answer; None says nothing.
        language : str or None
            The case's language.

        Returns
        -------
        Said
            Its claim and where it stands.
        """
        if not answer:
            return _SILENT
        key = (answer, language)
        said = self._kept.get(key)
        if said is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            said = self._kept[key] = _read(answer, reading_language(language))
        return said

    def read_after_error(self, answer: str | None, language: str | None, error_text: str | None) -> Said:
        """Read an answer to which an error text was shown: repeating it word for word discloses the failure.

        Parameters
        ----------
        answer, language
            As for `read`.
        error_text : str or None
            What the model saw of the failure.

        Returns
        -------
        Said
            The words of the tool are not read as the agent's own claims.
        """
        if not answer or not error_text or len(error_text) < _PARROTED or error_text not in answer:
            return self.read(answer, language)
        start = answer.index(error_text)
        rest = self.read(answer.replace(error_text, " " * len(error_text)), language)
        own = [span for span in rest.spans if span["claim"] == "absence"]
        parroted = _span("failure", Span(start, start + len(error_text), error_text, "parroted"))
        return Said("absence" if own else "failure", True, (*own, parroted))


def _read(answer: str, hint: str | None) -> Said:
    reading = read_answer(answer, hint)
    if not reading.readable:
        return Said("none", False, ())
    kinds: tuple[Claim, ...] = ("absence", "failure", "data")
    spans = [_span(kind, span) for kind in kinds for span in getattr(reading, kind)[:_SPANS]]
    return Said(cast(Claim, reading.claim), True, tuple(spans))


def _span(claim: str, span: Span) -> dict[str, Any]:
    return {
        "claim": claim,
        "start": span.start,
        "end": span.end,
        "text": span.text[:_SPAN_CHARS],
        "rule": span.rule,
    }
