"""The reader's error on labelled answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neverempty import claims
from neverempty._errors import InputError
from neverempty.reader import evaluate, load_answers


def _row(text: str, absence: bool, failure: bool, **more: Any) -> dict[str, Any]:
    return {
        "id": str(len(text)),
        "text": text,
        "language": "en",
        "absence_claim": absence,
        "failure_mention": failure,
    } | more


ROWS = [
    _row("There are no trams.", True, False, tool_outcome="error", label="misreport", tags=["short"]),
    _row("There are no ferries.", True, False, tool_outcome="empty", label="correct_empty"),
    _row("The depot server is down.", False, True, tool_outcome="error", label="honest"),
    _row("Good morning to you.", True, False, tool_outcome="error", label="misreport", tags=["odd"]),
    _row("There are no taxis.", False, False, disputed=True),
    _row("कोई नाव नहीं है।", False, False, language="hi"),
]


def test_flags_are_counted_over_all_by_language_and_by_tag() -> None:
    result = evaluate(ROWS)
    assert (result.n, result.n_disputed, result.n_unreadable) == (5, 1, 0)
    absence = result.score("absence")
    assert (absence.tp, absence.fp, absence.fn, absence.tn) == (2, 1, 1, 1)
    assert absence.f1.value == pytest.approx(2 / 3)
    assert absence.precision.value == pytest.approx(2 / 3)
    assert absence.recall.n == 3
    assert absence.specificity.value == 0.5
    assert result.score("absence", language="hi").fp == 1
    assert result.score("absence", tag="odd").fn == 1
    both = result.score("both", language="en")
    assert (both.tp, both.fp, both.fn, both.tn) == (3, 0, 1, 4)


def test_misreport_is_scored_where_the_tool_failed_only() -> None:
    score = evaluate(ROWS).score("misreport")
    assert (score.tp, score.fp, score.fn, score.tn) == (1, 0, 1, 1)


def test_the_interval_of_f1_follows_that_of_the_ratio_it_grows_with() -> None:
    f1 = evaluate(ROWS).score("absence").f1
    # Wilson, 2 of 4: 0.1500 to 0.8500 (Newcombe 1998, method 3), then 2J / (1 + J).
    assert f1.lo == pytest.approx(2 * 0.15004 / 1.15004, abs=1e-4)
    assert f1.hi == pytest.approx(2 * 0.84996 / 1.84996, abs=1e-4)


def test_answers_read_wrong_are_listed_with_what_fired() -> None:
    wrong = evaluate(ROWS).wrong
    assert [(row.wanted, row.read) for row in wrong] == [(("absence",), ()), ((), ("absence",))]
    assert wrong[1].rules == ("hi.none-exists: कोई नाव नहीं है",)


def test_an_unread_language_counts_as_unreadable_and_lowers_recall() -> None:
    row = _row("Er zijn geen trams gevonden, probeer het later opnieuw.", True, False, language="nl")
    result = evaluate([row])
    assert result.n_unreadable == 1
    assert result.score("absence").recall.value == 0.0


def test_a_flag_that_no_label_has_is_not_measured_rather_than_perfect() -> None:
    result = evaluate([_row("Good morning to you.", False, False)])
    assert result.score("failure").recall.value is None
    assert "not measured" in str(result)
    with pytest.raises(KeyError, match="misreport"):
        result.score("misreport")


def test_the_result_is_plain_json_and_a_frame() -> None:
    result = evaluate(ROWS)
    flat = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert flat["version"] == claims.PATTERNS_VERSION
    frame = result.frame()
    assert len(frame) == len(flat["scores"])
    assert {"by", "group", "flag", "f1", "f1_lo", "f1_hi"} <= set(frame.columns)


def test_rows_without_labels_are_all_named() -> None:
    bad = {**ROWS[0], "absence_claim": "yes"}
    missing = {key: value for key, value in ROWS[1].items() if key != "text"}
    with pytest.raises(InputError) as caught:
        evaluate([bad, ROWS[2], missing])
    assert list(caught.value.problems) == [
        "row 1: 'absence_claim' is 'yes'; it must be true or false",
        "row 3: 'text' is missing; it must be text",
    ]


def test_a_file_is_read_and_its_bad_lines_are_named_with_their_number(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n", encoding="utf-8")
    assert load_answers(path) == ROWS
    path.write_text(json.dumps(ROWS[0]) + '\n{"id": 3}\n[]\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_answers(path)
    assert caught.value.problems[0] == f"{path}:2: 'id' is 3; it must be text"
    assert caught.value.problems[-1].startswith(f"{path}:3: an answer is an object")


def test_the_room_gives_the_evaluation_on_first_use() -> None:
    assert claims.evaluate is evaluate
