"""A hyphen joins the parts of a word in every script; between words it ends a clause."""

from __future__ import annotations

import pytest

from neverempty.claims.tokens import Folding, pieces


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("look-up,", ["look", "up", ","]),
        ("Größen-Liste", ["grossen", "liste"]),
        ("из-за", ["из", "за"]),
        ("e\u2011mail", ["e", "mail"]),
        ("-5", ["-", "5"]),
        ("-", ["-"]),
    ],
)
def test_a_hyphen_inside_a_word_is_no_sign_of_its_own(token: str, words: list[str]) -> None:
    assert [piece.text for piece in pieces(token, Folding())] == words
