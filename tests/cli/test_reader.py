"""``neverempty reader explain``: which words made the reading, and which were undone."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("There are no open parcels.", ["absence  'There are no", "by en."]),
        ("I found nothing, because the lookup timed out.", ["not absence:", "undone by because", "failure "]),
        ("If there are no parcels, ask again.", ["not absence:", "undone by en.", "no claim"]),
        ("Good morning.", ["no claim", "rules "]),
        ("Tyvärr finns det inga paket att hämta i butiken just nu.", ["not readable"]),
    ],
)
def test_explain_names_the_words_and_the_rule(cli: Any, text: str, lines: list[str]) -> None:
    done = cli("reader", "explain", text)
    assert done.code == 0
    assert [line for line in lines if line not in done.out] == []


def test_explain_reads_in_a_language_that_is_named(cli: Any) -> None:
    assert "language en" in cli("reader", "explain", "None.", "--language", "en").out
    unknown = cli("reader", "explain", "None.", "--language", "xx")
    assert unknown.code == 64
    assert "xx" in unknown.err


def test_an_action_must_be_named(cli: Any) -> None:
    done = cli("reader")
    assert done.code == 64
    assert "ACTION" in done.err or "action" in done.err
