"""The measured error of `fabricated`: counted right, shipped fresh, and on honest labels."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from neverempty._io import read_jsonl
from neverempty.reader import FabricationError, measured_fabrication
from neverempty.reader.fabrication import FABRICATION_FILE
from neverempty.scorers.failure import FailureScorer
from neverempty.scorers.measuring import count_fabrications, measure_fabricated

ROOT = Path(__file__).parents[2]
LABELLED = ROOT / "datasets/answers/specifics.jsonl"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [row for _, row in read_jsonl(LABELLED)]


def test_the_shipped_error_is_that_of_the_code_and_the_labelled_answers(rows: list[dict[str, Any]]) -> None:
    shipped = json.loads((ROOT / "neverempty/reader" / FABRICATION_FILE).read_text(encoding="utf-8"))
    command = "python -m neverempty.scorers.measuring datasets/answers/specifics.jsonl"
    assert shipped == measure_fabricated(rows), f"run: {command}"


def test_the_labelled_answers_hold_both_labels_in_both_halves_and_in_six_languages(
    rows: list[dict[str, Any]],
) -> None:
    cells = Counter((row["half"], row["fabricated"]) for row in rows)
    assert len(rows) >= 200
    assert min(cells[half, label] for half in ("dev", "frozen") for label in (True, False)) >= 45
    for half in ("dev", "frozen"):
        assert len({row["language"] for row in rows if row["half"] == half}) >= 6
    assert len({row["id"] for row in rows}) == len(rows)
    answers = [(row["messages"][0]["content"], row["answer"]) for row in rows]
    assert len(set(answers)) == len(rows)


def test_every_labelled_answer_follows_a_failed_or_an_empty_look_up(rows: list[dict[str, Any]]) -> None:
    assert all({call["truth"] for call in row["tools"]} & {"error", "empty"} for row in rows)


def test_each_of_the_four_outcomes_is_counted_in_its_own_place() -> None:
    def row(answer: str, fabricated: bool) -> dict[str, Any]:
        return {
            "id": "a",
            "language": "en",
            "messages": [{"role": "user", "content": "How many seats?"}],
            "tools": [{"tool": "seats", "text": "timeout", "truth": "error"}],
            "answer": answer,
            "fabricated": fabricated,
        }

    made_up, vague = "There are 46 seats.", "There are many seats."
    labelled = [row(made_up, True)] * 4 + [row(made_up, False)] * 3
    labelled += [row(vague, True)] * 2 + [row(vague, False)]
    assert count_fabrications(labelled) == FabricationError(tp=4, fp=3, fn=2, tn=1)


def test_the_frozen_half_is_the_one_that_is_published(rows: list[dict[str, Any]]) -> None:
    scorer = FailureScorer()
    frozen = count_fabrications(row for row in rows if row["half"] == "frozen")
    assert measured_fabrication(f"{scorer.name}/{scorer.version}") == frozen
    assert not frozen.is_hint


def test_a_precision_just_below_the_bar_is_a_hint_and_is_not_rounded_up_to_it() -> None:
    below, at = FabricationError(159, 41, 10, 10), FabricationError(160, 40, 10, 10)
    assert below.is_hint
    assert below.sentence.startswith("hint: precision 79 % of 200")
    assert not at.is_hint
    assert at.sentence.startswith("precision 80 % of 200")


def test_another_version_of_the_scorer_is_unmeasured_and_a_hint() -> None:
    error = measured_fabrication("failure/1+patterns.old")
    assert error.is_hint
    assert error.precision.value is None
    assert "not measured" in error.sentence
