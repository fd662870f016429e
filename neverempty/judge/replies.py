"""A judge's reply, read strictly: what does not fit is an error to be asked again, never a guess."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from neverempty._io import JsonError, loads_strict
from neverempty.judge.verdicts import VERDICTS, Verdict

_FENCE: Final = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.S)
_SPACE: Final = re.compile(r"\s+")
_MARKS: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_LONGEST: Final = 500


class BadReplyError(ValueError):
    """A reply of the judge that cannot be used; the message says why."""


class Reply(NamedTuple):
    """A reply that can be used.

    Parameters
    ----------
    verdict : str
        The label.
    confidence : float or None
        As stated.
    reason : str
        In the judge's words.
    quotes : tuple of str
        As the judge wrote them.
    """

    verdict: Verdict
    confidence: float | None
    reason: str
    quotes: tuple[str, ...]


def read_reply(text: str, evidence: Sequence[str]) -> Reply:
    """Read a judge's reply.

    Parameters
    ----------
    text : str
        The reply: one JSON object, or one in a code fence.
    evidence : sequence of str
        What the claim was held against; every quote must stand in one piece of it, white space and
        typographic marks aside.

    Returns
    -------
    Reply
        The verdict.

    Raises
    ------
    BadReplyError
        Where the reply is anything else; a label in other words is not mapped to the nearest one.

    Examples
    --------
    >>> read_reply('{"verdict": "supported", "quotes": ["two trams"]}', ["Two trams."])
    Traceback (most recent call last):
    neverempty.judge.replies.BadReplyError: the quote 'two trams' does not stand in the evidence
    >>> read_reply('{"verdict": "supported", "quotes": ["Two trams"]}', ["Two  trams."]).verdict
    'supported'
    """
    fenced = _FENCE.fullmatch(text)
    try:
        data = loads_strict((fenced[1] if fenced else text).strip())
    except JsonError as error:
        raise BadReplyError(f"the reply is no JSON: {error.reason}") from None
    if not isinstance(data, dict):
        raise BadReplyError("the reply is no JSON object")
    verdict = data.get("verdict")
    if verdict not in VERDICTS:
        raise BadReplyError(f"the verdict is {str(verdict)[:60]!r}, none of {', '.join(VERDICTS)}")
    quotes = _quotes(data.get("quotes", []), evidence)
    if verdict != "not_in_evidence" and not quotes:
        raise BadReplyError(f"the verdict {verdict} comes without a quote")
    reason = data.get("reason", "")
    return Reply(verdict, _confidence(data.get("confidence")), str(reason)[:_LONGEST], quotes)


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise BadReplyError(f"the confidence is {str(value)[:40]!r}, no number from 0 to 1")
    return float(value)


def _quotes(value: Any, evidence: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadReplyError("quotes is no list of texts")
    pieces = [_plain(piece) for piece in evidence]
    quotes = tuple(one for one in value if one.strip())
    for quote in quotes:
        if not any(_plain(quote) in piece for piece in pieces):
            raise BadReplyError(f"the quote {quote[:80]!r} does not stand in the evidence")
    return quotes


def _plain(text: str) -> str:
    plain = (
        unicodedata.normalize("NFKC", text).translate(_MARKS).replace("&lt;", "<")
    )  # as the prompt escapes
    return _SPACE.sub(" ", plain).strip()
