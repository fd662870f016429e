"""Cutting an answer into pieces: words, numbers and signs, whatever way their characters are encoded."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

# Combining signs that ``\w`` leaves out: Latin accents, Arabic vowels, Indic vowel signs, kana voicing.
_MARKS = (
    "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u3099\u309a"
)
# Characters that show nothing: soft hyphen, joiners, direction marks, variation selectors, tatweel.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u0640\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)
_APOSTROPHES = {ord(c): "'" for c in "\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4\u0060\uff07"}
# Full-width signs stand one for one for the narrow ones: the commonest oddity of Chinese and Japanese.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | _APOSTROPHES
_ODD = re.compile(f"[{_INVISIBLE.pattern[1:-2]}{''.join(map(chr, _APOSTROPHES))}]")
_L = f"(?:[^\\W_]|[{_MARKS}])"
_EMPTY = r"\[\s*\]|\{\s*\}|\(\s*\)"
# A hyphen inside a word only joins its parts; it ends no clause.
_HYPHEN = r"(?!(?<=\w)[-\u2010\u2011]\w)"
_PIECE = re.compile(
    rf"{_L}+(?:(?:['@&]|[.](?=[^\W\dA-Z\u00c0-\u00de\u0400-\u042f])|[.,:/](?=\d))+{_L}+)*'?|{_EMPTY}|{_HYPHEN}[^\w\s]"
)
_RUN = r"[^\W\d_A-Za-z\u00c0-\u024f]"
RUNS = re.compile(
    rf"{_RUN}+(?:[{_MARKS}]+{_RUN}*)*|[A-Za-z\u00c0-\u024f]+(?:['.&][A-Za-z]+)*|\d+(?:[.,:/]\d+)*|{_EMPTY}|[^\w\s]"
)
"""The runs of letters, numbers and signs of a language that does not part its words."""
OPENING, CLOSING = "<'", "'>"  # what lexicons call a single quotation mark before and after a word
_ACCENTS = re.compile("[\u0300-\u036f]+")


class Piece(NamedTuple):
    """One word or sign of a token, folded, and the slice of the token it came from."""

    text: str
    start: int
    end: int


class Folding(NamedTuple):
    """How a language writes one word in several ways.

    Parameters
    ----------
    accents
        Whether a Latin letter without its accent counts as the same letter.
    replace
        Pairs of spellings that are read as the second one.
    elision
        Whether an apostrophe ends a word, as in French ``n'ai``.
    scan
        Whether words are found inside runs of letters, as in Chinese.
    letters
        Single letters that are read as another one, before ``replace``.
    clitics
        Beginnings ("and", "the", "in") that are read over on a word that no entry knows with them.
    """

    accents: bool = True
    replace: tuple[tuple[str, str], ...] = ()
    elision: bool = False
    scan: bool = False
    letters: Mapping[int, str] = {}
    clitics: tuple[str, ...] = ()

    def word(self, word: str) -> str:
        """Fold one word to the spelling that lexicons are compared in."""
        word = word.casefold()
        if self.letters and not word.isascii():
            word = word.translate(self.letters)
        for old, new in self.replace:
            word = word.replace(old, new)
        if self.accents and not word.isascii() and word[0] < "\u0250":
            word = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))
        return word


def has_oddities(token: str) -> bool:
    """Say whether a token has invisible characters or ones with a plainer form."""
    return _ODD.search(token) is not None or not unicodedata.is_normalized("NFKC", token)


def clean(token: str) -> tuple[str, list[int] | None]:
    """Compose, narrow and strip one token of invisible characters.

    Returns
    -------
    tuple
        The clean text and, where its characters do not stand one for one, the position of each in ``token``.
    """
    if token.isascii():
        return token.replace("`", "'"), None
    if not has_oddities(token):
        return token, None
    plain = token.translate(_NARROW)
    if not _INVISIBLE.search(plain) and unicodedata.is_normalized("NFKC", plain):
        return plain, None
    clusters: list[tuple[str, int]] = []
    for at, char in enumerate(token):
        if _INVISIBLE.match(char):
            continue
        char = char.translate(_APOSTROPHES)
        if clusters and _joins(char):
            clusters[-1] = (clusters[-1][0] + char, clusters[-1][1])
        else:
            clusters.append((char, at))
    text: list[str] = []
    places: list[int] = []
    for cluster, at in clusters:
        composed = unicodedata.normalize("NFKC", cluster)
        text.append(composed)
        places.extend([at] * len(composed))
    places.append(len(token))
    return "".join(text), places


def _joins(char: str) -> bool:
    """Say whether a character composes with the one before it (marks, Hangul vowels, kana voicing)."""
    return bool(unicodedata.combining(char)) or "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f"


def pieces(token: str, folding: Folding) -> Iterator[Piece]:
    """Yield the folded pieces of one whitespace-free token, in order.

    Parameters
    ----------
    token
        A stretch of the answer without white space.
    folding
        The spelling rules of the language.
    """
    text, places = clean(token)
    for match in _PIECE.finditer(text):
        found = match.group()
        start, end = match.span()
        if found[-1] == "'" and len(found) > 1 and not folding.elision:
            # A closing quote, not part of the word.
            yield _piece(folding.word(found[:-1]), start, end - 1, places)
            yield _piece(CLOSING, end - 1, end, places)
        elif found == "'":
            yield _piece(quote_name(text, end), start, end, places)
        elif folding.elision and "'" in found:
            for part in re.finditer(r"[^']*'|[^']+$", found):
                yield _piece(folding.word(part.group()), start + part.start(), start + part.end(), places)
        else:
            yield _piece(folding.word(found), start, end, places)


def quote_name(text: str, end: int) -> str:
    """Name the single quotation mark that ends at a place: opening before a word, else closing."""
    return OPENING if end < len(text) and text[end].isalnum() else CLOSING


def _piece(text: str, start: int, end: int, places: list[int] | None) -> Piece:
    if places is None:
        return Piece(text, start, end)
    return Piece(text, places[start], max(places[end], places[end - 1] + 1))
