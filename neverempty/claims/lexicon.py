"""Words of a language as characters: every word that the rules treat alike becomes the same character."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from neverempty.claims.patterns import EDGE, PatternError
from neverempty.claims.tokens import RUNS, Folding, clean, pieces, quote_name

OTHER = "w"  # any word that no rule names
_FIRST = 0x100
_KEPT = 50_000  # tokens remembered per language
_LONGEST = 24  # longer tokens are read again each time


class Sliced(NamedTuple):
    """The classes of one token and the slice of the token behind each."""

    codes: str
    slices: tuple[tuple[int, int], ...]


class Lexicon:
    """The words of one language and the classes that its rules tell apart.

    Parameters
    ----------
    slots
        Entries by slot. ``_`` joins the words of a phrase; ``*`` at an end (or both) stands for any letters.
    words
        Words that stand in patterns by themselves.
    skip
        Words that are read over as if they were not there.
    folding
        The spelling rules of the language.
    """

    def __init__(
        self, slots: Mapping[str, Iterable[str]], words: Iterable[str], skip: Iterable[str], folding: Folding
    ) -> None:
        self.folding = folding
        self._skip = {folding.word(word) for word in skip}
        self._phrases: dict[str, list[list[str]]] = {}
        entries: dict[str, set[str]] = {}
        for word in words:
            self._add(entries, word, "=" + word)
        for slot, listed in slots.items():
            self._phrases[slot] = []
            for entry in listed:
                self._enter(entries, slot, entry)
        both = sorted(word for word in entries if word in self._skip)
        if both:
            uses = "; ".join(f"{word} ({', '.join(sorted(entries[word]))})" for word in both)
            raise PatternError(f"words of the slot 'skip' are used elsewhere: {uses}")
        self._sign(entries)
        self.codes = _Codes(self)
        self._slices: dict[str, tuple[tuple[int, int], ...]] = {}

    def _enter(self, entries: dict[str, set[str]], slot: str, entry: str) -> None:
        words = [word for word in entry.split("_") if word]
        if len(words) < 2:
            self._add(entries, entry, slot)
            return
        words = [word for word in words if self.folding.word(word) not in self._skip]
        for word in words:
            self._add(entries, word, "=" + word)
        self._phrases[slot].append(["=" + word for word in words])

    def _add(self, entries: dict[str, set[str]], word: str, slot: str) -> None:
        entries.setdefault(self.folding.word(word), set()).add(slot)

    def _sign(self, entries: Mapping[str, set[str]]) -> None:
        """Give every set of slots its character, and every entry that of all the slots it falls in."""
        starts = {e[:-1]: s for e, s in entries.items() if len(e) > 1 and e[-1] == "*" and e[0] != "*"}
        ends = {e[1:]: s for e, s in entries.items() if len(e) > 1 and e[0] == "*" and e[-1] != "*"}
        inside = {e[1:-1]: s for e, s in entries.items() if len(e) > 2 and e[0] == e[-1] == "*"}
        # By length, so that a word is not held against every prefix and suffix there is.
        start_sizes = self._start_sizes = sorted({len(part) for part in starts}, reverse=True)
        end_sizes = self._end_sizes = sorted({len(part) for part in ends}, reverse=True)
        empty: set[str] = set()
        chars: dict[frozenset[str], str] = {}

        def char(word: str, own: Iterable[str]) -> str:
            found = set(own)
            for size in start_sizes:
                found |= starts.get(word[:size], empty)
            for size in end_sizes:
                found |= ends.get(word[-size:], empty)
            for part, slots in inside.items():
                found |= slots if part in word else set()
            return chars.setdefault(frozenset(found), chr(_FIRST + len(chars)))

        self._exact = {e: char(e, s) for e, s in entries.items() if "*" not in e}
        self._starts = {e: char(e, ()) for e in starts}
        self._ends = {e: char(e, ()) for e in ends}
        self._inside = {e: char(e, ()) for e in inside}
        self.number, self.zero = char("1", ["number"]), char("0", ["zero"])
        self._by_slot: dict[str, str] = {}
        for signature, one in chars.items():
            for slot in signature:
                self._by_slot[slot] = self._by_slot.get(slot, "") + one
        self._exact |= dict.fromkeys(self._skip, "")
        self._heads = _heads(self._exact)
        self._only_ends = () if starts or inside else tuple(ends)
        self._affixes = bool(starts or ends or inside)
        self._quick = not self.folding.scan
        plain = all(not old.isascii() for old, _ in self.folding.replace)
        self._fold: Callable[[str], str] = str.lower if plain else self.folding.word

    def has(self, slot: str) -> bool:
        """Say whether the language has any entry in a slot."""
        return bool(self._phrases.get(slot) or self._by_slot.get(slot))

    def slices(self, token: str) -> tuple[tuple[int, int], ...]:
        """Give the slice of a token behind each of its classes."""
        known = self._slices.get(token)
        if known is None:
            known = self.read(token).slices or ((0, len(token)),)
            if len(token) <= _LONGEST:
                if len(self._slices) >= _KEPT:
                    self._slices.clear()
                self._slices[token] = known
        return known

    def slot(self, name: str) -> tuple[str, list[list[str]]]:
        """Give the characters of a slot's words and, for each phrase, those of its words in order."""
        if name[0] != "=":
            if name not in self._phrases and name not in self._by_slot:
                raise PatternError(f"no slot is called {name!r}")
            phrases = [[self._by_slot[word] for word in words] for words in self._phrases.get(name, [])]
            return self._by_slot.get(name, ""), phrases
        return self._by_slot[name], []

    def chars(self, *names: str) -> str:
        """Give the characters of the single words of the slots; unknown slots are left out."""
        return "".join(dict.fromkeys("".join(self._by_slot.get(name, "") for name in names)))

    def read(self, token: str) -> Sliced:
        """Read one token.

        Parameters
        ----------
        token
            A stretch of the answer without white space.

        Returns
        -------
        Sliced
            One character per word or sign that the rules can see.
        """
        if self.folding.scan:
            return self._read_runs(token)
        found = [(self._char(piece.text), piece.start, piece.end) for piece in pieces(token, self.folding)]
        return Sliced("".join([one for one, _, _ in found]), tuple([(a, z) for one, a, z in found if one]))

    def _read_runs(self, token: str) -> Sliced:
        """Read a token in which words are not parted."""
        text, places = clean(token)
        folded = self.folding.word(text)
        if len(folded) == len(text):
            text = folded
        codes: list[str] = []
        slices: list[tuple[int, int]] = []
        for match in RUNS.finditer(text):
            word = match.group()
            start, end = match.span()
            if word == "'":
                word = quote_name(text, end)
            known = self._exact.get(word)
            if known is None and not word.isascii() and word[0].isalpha():
                self._walk(word, start, codes, slices)
                continue
            known = self._char(word) if known is None else known
            if known:
                codes.append(known)
                slices.append((start, end))
        if places is not None:
            slices = [(places[start], max(places[end], places[end - 1] + 1)) for start, end in slices]
        return Sliced("".join(codes), tuple(slices))

    def quick(self, token: str) -> str:
        """Give the classes of a plain token, most of which are one word with at most one sign after it."""
        known = self._exact.get(token)
        if known is not None and token not in "'\"":
            return known
        if self._quick and token.isascii():
            if token.isalpha():
                word = self._fold(token)
                return self._exact.get(word) or self._unknown(word)
            if token.isdigit():
                return self._exact.get(token) or (self.number if token.strip("0") else self.zero)
            word = token[:-1]
            if word.isalnum() and token[-1] in ".,:;!?)":
                return self._char(self._fold(word)) + self._exact.get(token[-1], "")
            parts = self._fold(token).split("-")
            if all(map(str.isalnum, parts)):
                return "".join(map(self._char, parts))
        return self.read(token).codes

    def _char(self, word: str) -> str:
        known = self._exact.get(word)
        if known is not None:
            return known
        first = word[:1]  # empty where the folding leaves no letter
        if first.isdecimal():
            nothing = ":" not in word and not any(c.isdecimal() and int(c) for c in word)
            return self.zero if nothing else self.number
        if not first.isalnum():
            return ""
        return self._unknown(word)

    def _unknown(self, word: str) -> str:
        found = self._affixed(word)
        if found != OTHER:
            return found
        for clitic in self.folding.clitics:
            if word.startswith(clitic) and len(word) > len(clitic) + 1:
                bare = word[len(clitic) :]
                known = self._exact.get(bare)
                found = self._affixed(bare) if known is None else known
                if found != OTHER:
                    return found
        return OTHER

    def _affixed(self, word: str) -> str:
        """Give the class of a word by its beginning, end or middle."""
        if not self._affixes or (self._only_ends and not word.endswith(self._only_ends)):
            return OTHER
        for size in self._start_sizes:
            if word[:size] in self._starts:
                return self._starts[word[:size]]
        for size in self._end_sizes:
            if word[-size:] in self._ends:
                return self._ends[word[-size:]]
        for part, one in self._inside.items():
            if part in word:
                return one
        return OTHER

    def _walk(self, text: str, offset: int, codes: list[str], slices: list[tuple[int, int]]) -> None:
        """Find the words of a run of letters, the longest at each place; unknown letters become one word."""
        at = unknown = 0
        size = len(text)
        exact, heads = self._exact, self._heads
        while at < size:
            for length in heads.get(text[at : at + 2]) or heads.get(text[at], ()):
                known = exact.get(text[at : at + length])
                if known is not None and at + length <= size:
                    if unknown < at:
                        codes.append(OTHER)
                        slices.append((offset + unknown, offset + at))
                    if known:
                        codes.append(known)
                        slices.append((offset + at, offset + at + length))
                    at = unknown = at + length
                    break
            else:
                at += 1
        if unknown < size:
            codes.append(OTHER)
            slices.append((offset + unknown, offset + size))


def _heads(words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Give the lengths of the words that begin with one or two characters, the longest first."""
    heads: dict[str, set[int]] = {}
    for word in filter(None, words):
        heads.setdefault(word[:2], set()).add(len(word))
    for head, lengths in heads.items():
        if len(head) == 2 and head[0] in heads:
            lengths.add(1)
    return {head: tuple(sorted(lengths, reverse=True)) for head, lengths in heads.items()}


class _Codes(dict[str, str]):
    """The characters of tokens met before; a token met for the first time is read and remembered."""

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__({"\n": lexicon.chars("newline")})
        self._lexicon = lexicon

    def __missing__(self, token: str) -> str:
        codes = self._lexicon.quick(token)
        if len(token) <= _LONGEST:
            if len(self) >= _KEPT:
                self.clear()
                self["\n"] = self._lexicon.chars("newline")
            self[token] = codes
        return codes


def padded(codes: str) -> str:
    """Put the edge of the text on both sides of its classes."""
    return f"{EDGE}{codes}{EDGE}"
