"""Words that others are written onto (Arabic "and", "the", "in") are known without them."""

from __future__ import annotations

import pytest

from neverempty.claims.lexicon import OTHER, Lexicon
from neverempty.claims.tokens import Folding


def _lexicon(clitics: tuple[str, ...]) -> Lexicon:
    folding = Folding(clitics=clitics, replace=(("\u064b", ""),))
    slots = {"thing": ["نتائج", "حجز*"], "no": ["ولا"], "there": ["هناك"]}
    return Lexicon(slots, [], ["لكم"], folding)


@pytest.mark.parametrize("word", ["نتائج", "والنتائج", "النتائج", "حجزكم", "والحجز"])
def test_a_word_is_known_with_and_without_its_clitics(word: str) -> None:
    known = _lexicon(("وال", "ال", "و"))
    assert known.codes[word] in known.chars("thing")


def test_a_word_on_the_list_is_not_taken_apart() -> None:
    lexicon = _lexicon(("و",))
    assert lexicon.codes["ولا"] == lexicon.chars("no")


def test_a_word_read_over_is_read_over_with_its_clitic() -> None:
    assert _lexicon(("و",)).codes["ولكم"] == ""
    assert _lexicon(()).codes["ولكم"] == OTHER


def test_a_token_without_letters_after_folding_has_no_class() -> None:
    assert _lexicon(()).codes["\u064b"] == ""
