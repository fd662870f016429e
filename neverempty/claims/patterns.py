"""The small language in which rules are written, translated into regular expressions over word classes.

A pattern is a line of words, ``{slots}`` and a few signs. It is matched against one character per word, so
that it never sees letters and costs next to nothing::

    word        that word, in any spelling that the language folds together
    {slot}      one entry of the slot (a word or a phrase); {a|b} one entry of either; {a|=word} or that word
    {!a|b}      one word that is in neither slot and is no clause boundary
    {^a}        one word or boundary that is not in the slot; first or last in a pattern, it is only looked at
    x? x* x+    optional; up to 4; 1 to 5 (of a word or a slot)
    ( a | b )   either; ( a b )? optional group
    ~  ~3       up to 6, up to 3 words of the same clause
    ~~          up to 30 words, across clause boundaries, within the line
    >  >>       at the end of a pattern: the rest of the clause; the rest of the sentence, up to a "but"
    ^  $        a clause begins, ends here;  ^^  $$  a sentence (or table cell, list item) begins, ends here
    ^^^         a sentence or list item begins here, but no table cell
    [ ... ]     the span of the claim, where it is not the whole match
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

EDGE = "\u00ff"  # stands before the first and after the last word
_TOKEN = re.compile(
    r"\{([^}]+)\}([?*+]?)|(\()|(\)\??)|(\|)|(~~|~\d*)|(>>?)|(\^{1,3}|\$\$?)|([\[\]])|([^\s(){}|~>^$\[\]]+)"
)
_TIMES = {"": ("", ""), "?": ("?", "?"), "*": ("{0,4}", "*"), "+": ("{1,5}", "+")}


class PatternError(ValueError):
    """A rule file says something that cannot be read; the message names the file and the rule."""


class Alphabet(NamedTuple):
    """What a translation needs to know of a language's word classes.

    Parameters
    ----------
    slot
        Gives, for a slot's name, the characters of its words and the sequences of its phrases.
    clause, sentence, cell, line, but
        The characters at which a clause, a sentence, a cell, a line ends; of words that turn the thought.
    """

    slot: Callable[[str], tuple[str, list[list[str]]]]
    clause: str
    sentence: str
    cell: str
    line: str
    but: str


class Translated(NamedTuple):
    """A pattern as an exact expression for ``re`` and a wider one, without look-around, for the filter."""

    exact: str
    wide: str


def literals(pattern: str) -> Iterator[str]:
    """Yield the plain words of a pattern."""
    for token in _TOKEN.finditer(pattern):
        if token[10]:
            yield token[10].rstrip("?*+")
        elif token[1]:
            yield from (name[1:] for name in token[1].lstrip("!^").split("|") if name[0] == "=")


def translate(pattern: str, alphabet: Alphabet) -> Translated:
    """Translate one pattern.

    Parameters
    ----------
    pattern
        A line in the syntax above.
    alphabet
        The word classes of the language.

    Returns
    -------
    Translated
        Sources of two regular expressions over strings of class characters.

    Raises
    ------
    PatternError
        Where the pattern cannot be read.
    """
    rest = _TOKEN.sub("", pattern).strip()
    if rest:
        raise PatternError(f"cannot read {rest!r} in the pattern {pattern!r}")
    exact: list[str] = []
    wide: list[str] = []
    tokens = list(_TOKEN.finditer(pattern))
    for at, token in enumerate(tokens):
        if token[7] and any(later.group() != "]" for later in tokens[at + 1 :]):
            raise PatternError(f"{token[7]!r} may only end a pattern: {pattern!r}")
        one = _atom(token, alphabet)
        if token[6] and token[6] != "~~" and at + 1 < len(tokens) and _bounds(tokens[at + 1], alphabet):
            # Up to a boundary there is one way only to fill the gap.
            one = Translated(one.exact[:-1] + "+", one.wide)
        if (token[1] or "")[:1] == "^" and at in (0, len(tokens) - 1):
            # A neighbour is only looked at: it is no part of the span.
            one = Translated(f"(?{'=' if at else '<='}{one.exact})", one.wide)
        exact.append(one.exact)
        wide.append(one.wide)
    return Translated("".join(exact), "".join(wide))


def _bounds(token: re.Match[str], alphabet: Alphabet) -> bool:
    """Say whether a token of a pattern matches clause boundaries only."""
    if not token[1] or token[2] or token[1][0] in "!^=":
        return False
    found = [alphabet.slot(name) for name in token[1].split("|")]
    return all(not phrases and set(chars) <= set(alphabet.clause) for chars, phrases in found)


def _atom(token: re.Match[str], alphabet: Alphabet) -> Translated:
    if token[1]:
        return _slot(token[1], token[2], alphabet)
    if token[3]:
        return Translated("(?:", "(?:")
    if token[4]:
        return Translated(token[4], token[4])
    if token[5]:
        return Translated("|", "|")
    if token[6]:
        return _gap(token[6], alphabet)
    if token[7]:
        stop = alphabet.clause if token[7] == ">" else alphabet.sentence + alphabet.but
        return Translated(f"[^{char_class(stop)}]*", "")
    if token[8]:
        ends = alphabet.clause if len(token[8]) == 1 else alphabet.sentence
        if len(token[8]) == 3:
            ends = "".join(set(ends) - set(alphabet.cell))
        look = "(?<=" if token[8][0] == "^" else "(?="
        return Translated(f"{look}[{char_class(ends)}])", f"[{char_class(ends)}]")
    if token[9]:
        return Translated("(?P<span>" if token[9] == "[" else ")", "(?:" if token[9] == "[" else ")")
    word = token[10].rstrip("?*+")
    return _slot("=" + word, token[10][len(word) :], alphabet)


def _gap(sign: str, alphabet: Alphabet) -> Translated:
    if sign == "~~":
        line = char_class(alphabet.line)
        return Translated(f"[^{line}]{{0,30}}?", f"[^{line}]*")
    clause = char_class(alphabet.clause)
    return Translated(f"[^{clause}]{{0,{sign[1:] or 6}}}?", f"[^{clause}]*")


def _slot(names: str, times: str, alphabet: Alphabet) -> Translated:
    exact, wide = _TIMES[times]
    sign = names[0] if names[0] in "!^" else ""
    chars = ""
    phrases: list[list[str]] = []
    for name in names.lstrip("!^").split("|"):
        more, sequences = alphabet.slot(name)
        chars += more
        phrases += sequences
    if sign:
        stop = alphabet.clause if sign == "!" else ""
        none_of = char_class(stop + chars)
        return Translated(f"[^{none_of}]{exact}", f"[^{none_of}]{wide}")
    if not phrases and not chars:
        raise PatternError(f"the slot {names!r} is empty")
    choices = sorted(phrases, key=len, reverse=True) + ([[chars]] if chars else [])
    parts = [[f"[{char_class(word)}]" for word in words] for words in choices]
    loose = "|".join(map("".join, parts))
    if len(choices) == 1:
        return Translated(f"(?:{loose}){exact}" if times and phrases else loose + exact, f"(?:{loose}){wide}")
    # The first word as one class, so that the search can leap to it; what may follow depends on which it was.
    firsts = char_class("".join(words[0] for words in choices))
    rest = "|".join(f"(?<={words[0]})" + "".join(words[1:]) for words in parts)
    return Translated(
        f"(?:[{firsts}](?:{rest})){exact}" if times else f"[{firsts}](?:{rest})", f"(?:{loose}){wide}"
    )


@lru_cache(maxsize=4096)
def char_class(chars: str) -> str:
    """Write characters as the inside of a class, neighbours as a range."""
    points = sorted(set(map(ord, chars)))
    written = ""
    at = 0
    while at < len(points):
        last = at
        while last + 1 < len(points) and points[last + 1] == points[last] + 1:
            last += 1
        written += chr(points[at]) if last == at else f"{chr(points[at])}-{chr(points[last])}"
        at = last + 1
    return written
