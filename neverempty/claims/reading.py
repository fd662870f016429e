"""Reading an answer: which of its words claim absence, disclose a failure, report data."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from neverempty.claims.detect import known, languages
from neverempty.claims.engine import Engine, Findings, Found, Places, engine
from neverempty.claims.rulebook import patterns_version

_CODE = frozenset("[{<`|")  # an answer that begins so is code or a table, which needs no language
# Quotation marks that may stand around a whole answer, as where it was printed as a string.
_WRAPPED = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "»": "«", "「": "」", "『": "』"}
_put = object.__setattr__
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


class Pass(NamedTuple):
    """One language's look at an answer: its words, and what its rules found among them."""

    engine: Engine
    tokens: list[str]
    codes: list[str]
    findings: Findings

    def places(self, text: str) -> Places:
        """Prepare the way back from words to characters."""
        return Places(self.engine, text, self.tokens, self.codes)


class Reading:
    """What an answer says. Frozen; two readings are equal when they say the same.

    The rules work on words; where those stand in the text is worked out when it is first asked.

    Parameters
    ----------
    text
        The answer.
    found
        The claims found among the words, by language.
    language
        The language it is read in (the likeliest, where it mixes several), or None where it has no words.
    readable
        False for an answer in a language without rules: it is never guessed what it says.
    version
        The version of the rules; readings of different versions are not compared.

    Attributes
    ----------
    absence
        Where it says that what was asked for does not exist.
    failure
        Where it says that the look-up failed or could not be made.
    data
        Where it reports what was found.
    """

    __slots__ = ("_absence", "_data", "_failure", "_found", "_text", "language", "readable", "version")

    _absence: tuple[Span, ...]
    _failure: tuple[Span, ...]
    _data: tuple[Span, ...]
    _found: tuple[tuple[str, list[Found]], ...]
    _text: str
    language: str | None
    readable: bool
    version: str

    def __init__(
        self,
        text: str,
        found: tuple[tuple[str, list[Found]], ...],
        language: str | None,
        readable: bool,
        version: str,
    ) -> None:
        _put(self, "_text", text)
        _put(self, "_found", found)
        _put(self, "language", language)
        _put(self, "readable", readable)
        _put(self, "version", version)

    def _locate(self) -> None:
        spans: dict[str, list[Span]] = {"absence": [], "failure": [], "data": []}
        text = self._text
        for language, founds in self._found:
            reader, tokens = engine(language), cut(text)
            places = Places(reader, text, tokens, reader.codes(tokens))
            for first, last, rule in founds:
                start, end = places.span(first, last)
                spans[rule.claim].append(Span(start, end, text[start:end], rule.id))
        for claim, made in spans.items():
            _put(self, "_" + claim, _apart(made))
        _put(self, "_found", ())
        _put(self, "_text", "")

    def __getattr__(self, name: str) -> tuple[Span, ...]:
        # Only reached before the spans have been worked out.
        if name in ("_absence", "_failure", "_data"):
            self._locate()
            spans: tuple[Span, ...] = object.__getattribute__(self, name)
            return spans
        raise AttributeError(f"a reading has no {name!r}")

    @property
    def absence(self) -> tuple[Span, ...]:
        """Where the answer says that what was asked for does not exist."""
        return self._absence

    @property
    def failure(self) -> tuple[Span, ...]:
        """Where the answer says that the look-up failed or could not be made."""
        return self._failure

    @property
    def data(self) -> tuple[Span, ...]:
        """Where the answer reports what was found."""
        return self._data

    @property
    def claim(self) -> str:
        """The claim of the answer as a whole: ``absence``, else ``failure``, else ``data``, else ``none``."""
        for name in ("absence", "failure", "data"):
            if getattr(self, name):
                return name
        return "none"

    def _key(self) -> tuple[Any, ...]:
        return self.absence, self.failure, self.data, self.language, self.readable, self.version

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Reading) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        names = ("absence", "failure", "data", "language", "readable", "version")
        return f"Reading({', '.join(f'{n}={v!r}' for n, v in zip(names, self._key(), strict=True))})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a reading cannot be changed (tried to set {name!r})")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a reading cannot be changed (tried to delete {name!r})")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, self._key()


def _restored(
    absence: tuple[Span, ...],
    failure: tuple[Span, ...],
    data: tuple[Span, ...],
    language: str | None,
    readable: bool,
    version: str,
) -> Reading:
    reading = Reading("", (), language, readable, version)
    for name, spans in (("_absence", absence), ("_failure", failure), ("_data", data)):
        _put(reading, name, spans)
    return reading


def read_answer(text: str, language: str | None = None) -> Reading:
    """Read an answer: find where it claims absence, discloses a failure, reports data.

    Nothing is sent anywhere, and the same text gives the same reading on every machine. An answer that mixes
    languages is read in each of them.

    Parameters
    ----------
    text
        The answer.
    language
        A language to read it in besides those that are recognised (one of ``LANGUAGES``): a hint, never a
        blindfold.

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
    'There are no'
    >>> read_answer("I found nothing, because the search timed out.").absence
    ()
    """
    tokens = cut(text)
    present, readable = _languages(tokens, language)
    found: list[tuple[str, list[Found]]] = []
    if tokens and readable:
        for name in present or _NEUTRAL:
            reader = engine(name)
            founds = reader.find(tokens)
            if founds:
                found.append((name, founds))
    return Reading(text, tuple(found), present[0] if present else None, readable, patterns_version())


def _languages(tokens: list[str], hint: str | None) -> tuple[list[str], bool]:
    """Name the languages of an answer and say whether it is readable; code and tables need no language."""
    if hint is not None:
        known(hint)
    if not tokens:
        return [hint] if hint else [], True
    present, readable = languages(tokens, hint)
    if not readable and tokens[0][0] in _CODE:
        return [], True
    return present, readable


def look(text: str, language: str | None) -> tuple[str | None, bool, list[Pass]]:
    """Apply the rules of every language of an answer.

    Parameters
    ----------
    text, language
        As in ``read_answer``.

    Returns
    -------
    tuple
        The likeliest language, whether the answer is readable, and each language's findings.
    """
    tokens = cut(text)
    present, readable = _languages(tokens, language)
    passes = []
    for name in (present or _NEUTRAL) if tokens and readable else ():
        reader = engine(name)
        codes = reader.codes(tokens)
        passes.append(Pass(reader, tokens, codes, reader.inspect(codes)))
    return present[0] if present else None, readable, passes


def cut(text: str) -> list[str]:
    """Cut an answer at white space, keeping the ends of its lines."""
    if text[:1] in _WRAPPED:
        text = _unwrapped(text)
    if "\n" not in text:
        return text.split()
    tokens: list[str] = []
    for line in text.split("\n"):
        tokens += line.split()
        tokens.append("\n")
    tokens.pop()
    return tokens


def _unwrapped(text: str) -> str:
    """Take off quotation marks around the whole of an answer: nobody else's words stand between them."""
    opening, inner = text[0], text.rstrip()
    closing = _WRAPPED[opening]
    alone = inner.count(opening) == 1 + (opening == closing) and inner.count(closing) == inner.count(opening)
    return inner[1:-1] if len(inner) > 2 and inner.endswith(closing) and alone else text


def _apart(spans: list[Span]) -> tuple[Span, ...]:
    """Sort spans; of those that overlap, the first and longest stays."""
    kept: list[Span] = []
    for span in sorted(spans, key=_order):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, -span.end, span.rule
