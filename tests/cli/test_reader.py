"""``neverempty reader explain``: which words made the reading, and which were undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("There are no open parcels.", ["absence ", "en."]),
        ("I found nothing, because the lookup timed out.", ["not absence ", "undone by because", "failure "]),
        ("If there are no parcels, ask again.", ["not absence ", "undone by en.", "no claim"]),
        ("Good morning.", ["no claim", "rules "]),
        ("Tyvärr finns det inga paket att hämta i butiken just nu.", ["not readable"]),
    ],
)
def test_explain_names_the_words_and_the_rule(cli: Any, text: str, lines: list[str]) -> None:
    done = cli("reader", "explain", text)
    assert done.code == 0
    assert [line for line in lines if line not in done.out] == []


_ANSWERS = [
    ("a", "There are no parcels.", True, False),
    ("b", "The lookup failed.", False, True),
    ("c", "Two parcels are on their way.", True, False),  # labelled wrong, so that a row is read wrong
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    keys = ("id", "text", "absence_claim", "failure_mention")
    rows = [
        dict(zip(keys, row, strict=True)) | {"language": "en", "tool_outcome": "error"} for row in _ANSWERS
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_score_prints_rates_and_the_rows_read_wrong(cli: Any, answers: Path) -> None:
    done = cli("reader", "score", answers.name)
    assert done.code == 0
    assert "c: labelled absence, read " in done.out
    assert "3 answers; rules " in done.out
    assert "misreport" in done.out


def test_score_gives_the_same_as_json(cli: Any, answers: Path) -> None:
    found = json.loads(cli("reader", "score", answers.name, "--json").out)
    assert found["n"] == 3
    assert [row["id"] for row in found["wrong"]] == ["c"]
    recall = next(one["recall"] for one in found["scores"] if (one["by"], one["flag"]) == ("all", "absence"))
    assert recall == 0.5


def test_score_names_the_lines_it_cannot_use(cli: Any, answers: Path) -> None:
    answers.write_text(answers.read_text(encoding="utf-8") + '\n{"id": "d"}\n', encoding="utf-8")
    done = cli("reader", "score", answers.name)
    assert done.code == 4
    assert "answers.jsonl:4: 'text' is missing" in done.err
    assert cli("reader", "score", "nothing.jsonl").code == 4


def test_explain_reads_in_a_language_that_is_named(cli: Any) -> None:
    assert "language en" in cli("reader", "explain", "None.", "--language", "en").out
    unknown = cli("reader", "explain", "None.", "--language", "xx")
    assert unknown.code == 64
    assert "xx" in unknown.err


def test_an_action_must_be_named(cli: Any) -> None:
    done = cli("reader")
    assert done.code == 64
    assert "ACTION" in done.err or "action" in done.err
