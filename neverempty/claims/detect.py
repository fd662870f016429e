"""Telling the languages of an answer from its letters and its commonest words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from neverempty.claims.rulebook import LANGUAGES, word_lists
from neverempty.claims.tokens import Folding, clean, pieces

_KEPT = 50_000
_FOLDING = Folding(elision=True)
# One letter per language keeps an answer's votes in one string; all below U+0100, where counting is fast.
_LATIN = {"en": "e", "hinglish": "n", "es": "s", "fr": "f", "de": "d", "pt": "p", "it": "i"}
_SCRIPTS = {"hi": "H", "ar": "A", "ru": "R", "ja": "J", "zh": "Z", "ko": "K"}
_SIGNS = ".,:;!?()[]\"'«»“”„¿¡…*_#"
_UNKNOWN, _FOREIGN = "u", "X"  # a Latin word on no list; a word in letters of no language read here
_READ = {letter: language for language, letter in {**_LATIN, **_SCRIPTS}.items()}
_LATIN_NAMES, _LATIN_LETTERS = list(_LATIN), list(_LATIN.values())
_HINGLISH = _LATIN_NAMES.index("hinglish")
_PLACE = {language: at for at, language in enumerate(LANGUAGES)}
_LATIN_WORD = re.compile("[A-Za-z]+")
_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00aa-\u02ff\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]")
_SCRIPT_VOTE = re.compile("[HARJZKX]")
_ENGLISH = ["en"]
# Characters in the form that only Japanese writes; they tell an answer without kana from a Chinese one.
_SHINJITAI = frozenset("検図円気込働発価毎駅営応対変験済続処録効実権様単伝")
_JAPANESE = re.compile(f"[\u3040-\u30ff{''.join(_SHINJITAI)}]")
_SHORT = 16  # characters up to which an answer in Chinese characters alone may be either
_BY_NAME = {
    "DEVANAGARI": "H",
    "ARABIC": "A",
    "CYRILLIC": "R",
    "HIRAGANA": "J",
    "KATAKANA": "J",
    "KATAKANA-HIRAGANA": "J",
    "HALFWIDTH": "J",
    "CJK": "Z",
    "IDEOGRAPHIC": "Z",
    "HANGUL": "K",
    "LATIN": _UNKNOWN,
}


class _Votes(dict[str, str]):
    """The letters of the languages that a token speaks for, by token; new tokens are looked up and kept."""

    def __init__(self) -> None:
        super().__init__()
        lists = word_lists()
        self._words: dict[str, str] = {}
        letters = {
            **_LATIN,
            **{language: chr(0xC0 + at) for at, language in enumerate(sorted(lists["other"]))},
            **dict.fromkeys(lists["same_letters"], _FOREIGN),
        }
        for language, words in {**lists["read"], **lists["other"], **lists["same_letters"]}.items():
            for word in words.split():
                folded = _FOLDING.word(word)
                spoken = self._words.get(folded, "")
                letter = letters[language]
                self._words[folded] = spoken if letter in spoken else spoken + letter
        self._foreign = frozenset(lists["letters"]["foreign"])
        self._telling = {
            char: _LATIN[language]
            for language, chars in lists["letters"].items()
            if language != "foreign"
            for char in chars
        }

    def __missing__(self, token: str) -> str:
        votes = self._vote(token)
        if len(token) <= 24:
            if len(self) >= _KEPT:
                self.clear()
            self[token] = votes
        return votes

    def _vote(self, token: str) -> str:
        if token.isascii():
            core = token.strip(_SIGNS).lower()
            listed = self._words.get(core)
            if listed is not None:
                return listed
            if core.isalpha():
                return _UNKNOWN
            if "'" not in core:
                return _UNKNOWN if core[:1].isalpha() else ""
        else:
            known = self._other_letters(token.strip(_SIGNS))
            if known is not None:
                return known
        text = clean(token[:4000])[0]
        telling = "" if text.isascii() else "".join(self._telling.get(char, "") for char in text.lower())
        words = (piece.text for piece in pieces(text, _FOLDING) if _speaks(piece.text))
        return telling + "".join(map(self._word, words))

    def _other_letters(self, token: str) -> str | None:
        """Give the vote of a token in other letters than Latin ones; None for one to be looked at closer."""
        listed = self._words.get(token.lower())
        if listed is not None or not token:
            return listed or ""
        other = _OTHER_LETTER.search(token)
        if other is None:
            return None
        if not self._foreign.isdisjoint(token):
            return _FOREIGN
        script = _script(other.group())
        if script == "Z" and _JAPANESE.search(token):
            script = "J"
        return script + "".join(
            self._words.get(word.lower(), _UNKNOWN) for word in _LATIN_WORD.findall(token)
        )

    def _word(self, word: str) -> str:
        listed = self._words.get(word)
        if listed is not None:
            return listed
        if word.isascii():
            return _UNKNOWN
        if not self._foreign.isdisjoint(word):
            return _FOREIGN
        scripts = "".join(dict.fromkeys(map(_script, word)))
        return scripts or _UNKNOWN


def _speaks(word: str) -> bool:
    """Say whether a word tells a language: a number does where letters follow it (Chinese dates)."""
    first = word[0]
    return first.isalpha() or (first.isdecimal() and not word.isascii() and any(map(str.isalpha, word)))


@cache
def _script(char: str) -> str:
    """Give the letter of a character's script; marks and digits speak for none."""
    if not char.isalpha():
        return ""
    if char in _SHINJITAI:
        return "J"
    return _BY_NAME.get(unicodedata.name(char, "").split(" ")[0], _FOREIGN)


@cache
def _votes() -> _Votes:
    return _Votes()


def languages(tokens: list[str], hint: str | None) -> tuple[list[str], bool]:
    """Name the languages that an answer is written in.

    Parameters
    ----------
    tokens
        The answer, cut at white space.
    hint
        A language to read besides what is found.

    Returns
    -------
    tuple
        The languages, the most likely first, and whether the answer can be read at all. An answer without
        a word is readable and in no language.
    """
    votes = _votes()
    cast = "".join(map(votes.__getitem__, tokens))
    if (
        hint is None
        and cast.count("e") * 5 > len(tokens) * 2
        and cast.count("n") < 2
        and not _SCRIPT_VOTE.search(cast)
    ):
        return _ENGLISH, True
    found = _weigh(cast, len(tokens))
    if found is None:
        return [], False
    present, telling = found
    if present == ["zh"] and sum(map(len, tokens)) <= _SHORT:
        present.append("ja")
    if hint is not None and hint not in present:
        present.append(hint)
    return present, telling or hint is not None


def _weigh(cast: str, n_tokens: int) -> tuple[list[str], bool] | None:
    """Rank the languages of the votes, and say whether they tell; None where another language has more."""
    if not cast:
        return [], True
    votes = cast.replace(_UNKNOWN, "")
    if _SCRIPT_VOTE.search(votes):
        if votes.count(votes[0]) == len(votes) and votes[0] != _FOREIGN:
            return [_READ[votes[0]]], True
        return _weigh_scripts(cast)
    unknown = len(cast) - len(votes)
    counts = list(map(votes.count, _LATIN_LETTERS))
    best = max(counts)
    # Where most tokens speak for a language, no other one can have many more.
    if votes and best * 3 < n_tokens * 2 and max(map(votes.count, set(votes))) > best:
        return None
    if best == 0 or best * 12 < unknown:
        return [], unknown < 3
    enough = min(best, max(3, best * 3 // 4))
    if counts.count(best) == 1 and sum(map(enough.__le__, counts)) == 1 and counts[_HINGLISH] < 2:
        return [_LATIN_NAMES[counts.index(best)]], True
    # Hinglish borrows most of its words from English; two of its own are telling.
    named = zip(_LATIN_NAMES, counts, strict=True)
    return _ranked({one: n for one, n in named if n >= enough or (one == "hinglish" and n > 1)}), True


def _weigh_scripts(cast: str) -> tuple[list[str], bool] | None:
    """Rank the languages of an answer with other letters than Latin ones, or with both."""
    votes = {letter: cast.count(letter) for letter in set(cast)}
    foreign = votes.pop(_FOREIGN, 0)
    votes.pop(_UNKNOWN, 0)
    counts = {_READ[letter]: n for letter, n in votes.items() if letter in _READ}
    if "ja" in counts and "zh" in counts:
        counts["ja"] += counts.pop("zh")
    most = max(counts.values(), default=0)
    # Words and letters that only another language of the same script has weigh more than its letters do.
    if not counts or max(votes.values()) > most or foreign * 3 >= most:
        return None
    best = max((n for one, n in counts.items() if one in _LATIN), default=0)
    return _ranked({one: n for one, n in counts.items() if one in _SCRIPTS or n == best or n > 2}), True


def _ranked(counts: dict[str, int]) -> list[str]:
    """Sort languages by their votes; of ties, one with letters of its own first, then as in ``LANGUAGES``."""
    if len(counts) == 1:
        return list(counts)
    return sorted(counts, key=lambda one: (-counts[one], one in _LATIN, _PLACE[one]))


def known(language: str) -> str:
    """Check the name of a language.

    Raises
    ------
    ValueError
        Where there are no rules for it.
    """
    if language not in LANGUAGES:
        raise ValueError(
            f"there are no rules for the language {language!r}; there are for {', '.join(LANGUAGES)}"
        )
    return language
