"""One language's rules, compiled: from the words of an answer to the claims it makes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import re2

from neverempty.claims.lexicon import Lexicon, padded
from neverempty.claims.patterns import EDGE, Alphabet, PatternError, char_class, literals, translate
from neverempty.claims.rulebook import SHARED, Rule, rule_file

_REACH = 60  # words to either side of a claim in which its reason is looked for
_MANY = 100  # tokens from which on their places are worked out all at once
_FEW = 8  # shields up to which each claim is held against each of them
_MEMORY = 64 << 20  # bytes that the filter may remember states in
# The slots that end a sentence, and those that end a clause only. Rule files fill them.
_SENTENCE = ("stop", "question", "newline", "bar")
_CLAUSE = ("comma", "colon", "dash", "bracket", "but", "because", "therefore")


Found: TypeAlias = tuple[int, int, Rule]
"""A rule that fired from one word to before another (counted from the edge before the first word)."""


Matcher: TypeAlias = tuple[Callable[[str], Iterator[re.Match[str]]], int]
"""The search of a compiled pattern, and the number of the group that is its span."""


class Findings(NamedTuple):
    """What the rules of one language found, before and after shields and reasons were weighed.

    Parameters
    ----------
    kept
        The claims.
    shields
        The shields that fired.
    dropped
        The claims that a shield or a reason undid, each with the id of what undid it.
    """

    kept: list[Found]
    shields: list[Found]
    dropped: list[tuple[Found, str]]


class Engine:
    """The compiled rules of one language.

    Parameters
    ----------
    language
        One of ``LANGUAGES``, or ``SHARED`` for the rules of no language alone.
    """

    def __init__(self, language: str) -> None:
        shared, own = rule_file(SHARED), rule_file(language)
        rules = own.rules if language == SHARED else shared.rules + own.rules
        slots = {
            name: [*shared.slots.get(name, ()), *own.slots.get(name, ())]
            for name in {**shared.slots, **own.slots}
        }
        words = {word for rule in rules for pattern in rule.match for word in literals(pattern)}
        skip = slots.pop("skip", [])
        try:
            self.lexicon = Lexicon(slots, sorted(words), skip, own.folding)
        except PatternError as error:
            raise PatternError(f"{language}.toml: {error}") from error
        self._codes = self.lexicon.codes
        chars = self.lexicon.chars
        self._sentence = EDGE + chars(*_SENTENCE)
        alphabet = Alphabet(
            self.lexicon.slot,
            clause=self._sentence + chars(*_CLAUSE),
            sentence=self._sentence,
            cell=chars("bar"),
            line=EDGE + chars("newline"),
            but=chars("but"),
        )
        options = re2.Options()
        options.max_mem = _MEMORY
        options.never_capture = True
        self._filter = re2.Set.SearchSet(options)
        self._rules: list[tuple[Rule, str, bool]] = []
        self._sources: list[str] = []
        for rule in sorted(rules, key=_shields_last):
            self._add(rule, alphabet)
        self._matchers: list[Matcher | None] = [None] * len(self._sources)
        self._filter.Compile()
        self._but = re.compile(f"[{char_class(EDGE + chars('but'))}]")
        self._breaks = re.compile(f"[{char_class(self._sentence)}]")
        self._because = self._marker("because", alphabet)
        self._therefore = self._marker("therefore", alphabet)

    def _add(self, rule: Rule, alphabet: Alphabet) -> None:
        for pattern in rule.match:
            try:
                one = translate(pattern, alphabet)
            except PatternError as error:
                raise PatternError(f"rule {rule.id!r}: {error} (pattern {pattern!r})") from error
            self._filter.Add(one.wide)
            self._sources.append(one.exact)
            self._rules.append((rule, rule.claim, bool(rule.shields)))

    def _matcher(self, index: int) -> Matcher:
        """Compile a pattern when it first fires; most never do in one run."""
        exact = re.compile(self._sources[index])
        self._matchers[index] = found = (exact.finditer, exact.groups)
        return found

    def _marker(self, slot: str, alphabet: Alphabet) -> re.Pattern[str] | None:
        if not self.lexicon.has(slot):
            return None
        return re.compile(translate(f"{{{slot}}}", alphabet).exact)

    def codes(self, tokens: list[str]) -> list[str]:
        """Give the classes of each token."""
        return list(map(self._codes.__getitem__, tokens))

    def find(self, tokens: list[str]) -> list[Found]:
        """Apply the rules to an answer's tokens.

        Returns
        -------
        list of Found
            The claims that stay when shields and reasons are weighed.
        """
        line = padded("".join(map(self._codes.__getitem__, tokens)))
        fired = self._filter.Match(line)
        if not fired:
            return []
        fired.sort()
        founds: list[Found] = []
        shields: list[Found] = []
        rules, matchers = self._rules, self._matchers
        for index in fired:
            rule, claim, shielding = rules[index]
            if not (claim or founds):
                break  # rules that only shield come last, and there is nothing to shield
            into = founds if claim else shields
            matches, group = matchers[index] or self._matcher(index)
            for match in matches(line):
                start, end = match.span(group)
                into.append((start, end, rule))
                if claim and shielding:
                    shields.append((start, end, rule))
        return self._weigh(line, founds, shields, []) if shields or len(founds) > 1 else founds

    def inspect(self, codes: list[str]) -> Findings:
        """Apply the rules as ``find`` does, and keep what shielded and what was undone."""
        line = padded("".join(codes))
        founds: list[Found] = []
        shields: list[Found] = []
        for index in sorted(self._filter.Match(line) or ()):
            found: list[Found] = []
            self._match(line, index, found)
            _, claim, shielding = self._rules[index]
            founds += found if claim else []
            shields += found if shielding else []
        dropped: list[tuple[Found, str]] = []
        return Findings(self._weigh(line, founds, shields, dropped), shields, dropped)

    def _match(self, line: str, index: int, into: list[Found]) -> None:
        matches, group = self._matchers[index] or self._matcher(index)
        rule = self._rules[index][0]
        for match in matches(line):
            start, end = match.span(group)
            into.append((start, end, rule))

    def _weigh(
        self, line: str, founds: list[Found], shields: list[Found], dropped: list[tuple[Found, str]]
    ) -> list[Found]:
        """Leave out what a shield covers and what a reason undoes."""
        if shields:
            founds = _unshielded(founds, shields, dropped)
        failures = [found[0] for found in founds if found[2].claim == "failure"]
        if failures and len(failures) < len(founds) and self._gives_reason(line):
            failures.sort()
            return [
                found
                for found in founds
                if found[2].claim != "absence" or not self._undone(line, found, failures, dropped)
            ]
        return founds

    def _gives_reason(self, line: str) -> bool:
        return any(marker is not None and marker.search(line) for marker in (self._because, self._therefore))

    def _undone(
        self, line: str, absence: Found, failures: list[int], dropped: list[tuple[Found, str]]
    ) -> bool:
        """Say whether the answer gives a failure as the reason of an absence."""
        start, end = self._bounds(line, absence[0], absence[1])
        if self._reasoned(line, absence, failures, start, end):
            dropped.append((absence, "because"))
            return True
        if absence[2].search and self._concluded(line, absence, failures, start):
            dropped.append((absence, "therefore"))
            return True
        return False

    def _bounds(self, line: str, first: int, last: int) -> tuple[int, int]:
        """Give the sentence around a claim, at most ``_REACH`` words to either side."""
        start, end = max(0, first - _REACH), min(len(line), last + _REACH)
        for edge in self._breaks.finditer(line, start, first):
            start = edge.end()
        edge_after = self._breaks.search(line, last, end)
        return start, edge_after.start() if edge_after else end

    def _reasoned(self, line: str, absence: Found, failures: list[int], start: int, end: int) -> bool:
        """Say whether "because" stands in the absence's sentence with a failure after it."""
        if self._because is None:
            return False
        for marker in self._because.finditer(line, start, end):
            if not _any_within(failures, marker.start(), end):
                continue
            if marker.start() >= absence[1] - 1:
                # "but only because" turns nothing: it leads into the reason.
                low, high = absence[1], marker.start() - 3
            else:
                low, high = marker.end(), absence[0]
            if not self._but.search(line, low, high):
                return True
        return False

    def _concluded(self, line: str, absence: Found, failures: list[int], start: int) -> bool:
        """Say whether a failure and "therefore" stand before the absence, here or in the sentence before."""
        if self._therefore is None:
            return False
        for marker in self._therefore.finditer(line, start, absence[1]):
            since = start
            if marker.start() - start <= 1 and start > 1:
                since = self._bounds(line, start - 1, start)[0]
            if _any_within(failures, since, marker.end()) and not self._but.search(
                line, marker.end(), absence[0]
            ):
                return True
        return False


def _unshielded(founds: list[Found], shields: list[Found], dropped: list[tuple[Found, str]]) -> list[Found]:
    """Drop claims whose first or last word lies in a shield; no rule shields from the claim it makes."""
    if len(shields) > _FEW:
        return _unshielded_of_many(founds, shields, dropped)
    left = []
    for found in founds:
        first, end, rule = found
        claim = rule.claim
        for start, stop, shield in shields:
            over = start <= first < stop or start < end <= stop
            if over and claim in shield.shields and shield.claim != claim:
                dropped.append((found, shield.id))
                break
        else:
            left.append(found)
    return left


def _unshielded_of_many(
    founds: list[Found], shields: list[Found], dropped: list[tuple[Found, str]]
) -> list[Found]:
    """Do the same for an answer with many shields, in logarithmic time for each claim."""
    covers: dict[str, _Cover] = {}
    left = []
    for found in founds:
        claim = found[2].claim
        if claim not in covers:
            covers[claim] = _Cover(
                [one for one in shields if claim in one[2].shields and one[2].claim != claim]
            )
        shield = covers[claim].over(found[0]) or covers[claim].over(found[1] - 1)
        if shield is None:
            left.append(found)
        else:
            dropped.append((found, shield[2].id))
    return left


class _Cover:
    """Intervals of words that shields lie over, merged so that looking one up takes logarithmic time."""

    def __init__(self, shields: list[Found]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._shields: list[Found] = []
        for shield in sorted(shields, key=_start):
            start, end, _ = shield
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
                self._shields.append(shield)

    def over(self, word: int) -> Found | None:
        """Give the (first) shield over a word."""
        at = bisect_right(self._starts, word) - 1
        return self._shields[at] if at >= 0 and word < self._ends[at] else None


def _shields_last(rule: Rule) -> bool:
    return not rule.claim


def _start(found: Found) -> int:
    return found[0]


def _any_within(places: list[int], low: int, high: int) -> bool:
    at = bisect_left(places, low)
    return at < len(places) and places[at] < high


class Places:
    """From a position among an answer's words back to the characters of its text.

    Parameters
    ----------
    engine
        The language whose classes were counted.
    text, tokens, codes
        The answer, its tokens, and the classes of each.
    """

    def __init__(self, engine: Engine, text: str, tokens: list[str], codes: list[str]) -> None:
        self._lexicon = engine.lexicon
        self._tokens = tokens
        self._cut: dict[int, tuple[tuple[int, int], ...]] = {}
        self._upto = list(accumulate(map(len, codes)))
        # In a short text with single blanks between tokens their places follow from their lengths.
        plain = len(tokens) < _MANY and len(" ".join(tokens)) == len(text)
        self._starts = [] if plain else _look_up(text, tokens)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give the characters from word ``start`` to before word ``end``, counted from the edge."""
        # The edges of the text, which a pattern may take in, are no words.
        first = start - 1 if start else 0
        last = end - 2 if end - 2 < self._upto[-1] else self._upto[-1] - 1
        opening, closing = bisect_right(self._upto, first), bisect_right(self._upto, last)
        tokens = self._tokens
        if self._starts:
            begin, finish = self._starts[opening], self._starts[closing]
        else:
            begin = len(" ".join(tokens[:opening])) + 1 if opening else 0
            finish = begin + len(" ".join(tokens[opening:closing])) + 1 if closing > opening else begin
        begin += self._slices(opening)[first - self._upto[opening]][0]
        finish += self._slices(closing)[last - self._upto[closing]][1]
        return begin, finish

    def _slices(self, token: int) -> tuple[tuple[int, int], ...]:
        """Give the slices of a token; one that makes many claims (a long run of letters) is cut up once."""
        known = self._cut.get(token)
        if known is None:
            known = self._cut[token] = self._lexicon.slices(self._tokens[token])
        return known


def _look_up(text: str, tokens: list[str]) -> list[int]:
    starts: list[int] = []
    here = 0
    for token in tokens:
        here = text.index(token, here)
        starts.append(here)
        here += len(token)
    return starts


@cache
def engine(language: str) -> Engine:
    """Compile the rules of a language on first use."""
    return Engine(language)
