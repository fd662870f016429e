"""What one answer is read as: flags, spans, reasons, languages."""

from __future__ import annotations

import pickle

import pytest

from neverempty import claims
from neverempty.claims import LANGUAGES, Reading, read_answer


def _flags(text: str, language: str | None = None) -> str:
    reading = read_answer(text, language)
    return ("A" if reading.absence else "") + ("F" if reading.failure else "") or "-"


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("I found nothing because the depot server timed out.", "F"),
        ("Because the depot server timed out, I found no trams.", "F"),
        ("The depot server timed out, so I found nothing.", "F"),
        ("The depot server timed out. So I found nothing.", "F"),
        ("I found nothing, but only because the connection dropped.", "F"),
    ],
)
def test_a_failure_given_as_the_reason_undoes_the_absence(text: str, flags: str) -> None:
    assert _flags(text) == flags


@pytest.mark.parametrize(
    "text",
    [
        "The depot server returned an error, so there are no trams on Sunday.",
        "There are no trams. (One source did not respond: the depot server is down.)",
        "The first query timed out, but there are no trams on Sunday.",
        "I couldn't reach the depot. You have no bookings, though.",
    ],
)
def test_an_absence_stated_as_a_fact_beside_a_failure_stays(text: str) -> None:
    assert _flags(text) == "AF"


@pytest.mark.parametrize(
    "text",
    [
        "If there are no trams, walk.",
        "Are there no trams on Sunday?",
        'You wrote "there are no trams", but two leave at nine.',
        "It's not true that there are no trams.",
        "No problem, the tram is booked.",
        "There are no extra fees for the tram.",
        "I found four trams, none of which stops here.",
        "",
        "   \n ",
    ],
)
def test_conditions_questions_quotations_and_other_things_claim_nothing(text: str) -> None:
    assert _flags(text) == "-"


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"results": []}', "0", "null", "N/A", "[ ]", '{"count": 0}', "None."]
)
def test_an_empty_value_alone_is_an_absence_in_no_language_at_all(text: str) -> None:
    reading = read_answer(text)
    assert reading.absence
    assert reading.readable


def test_list_items_and_table_cells_are_read_one_by_one() -> None:
    assert _flags("- Trams: none today\n- Ferries: could not be loaded\n- Taxi: 4 min") == "AF"
    assert _flags("| Source | Result |\n|---|---|\n| Trams | none |") == "A"


def test_spans_name_the_words_and_the_rule() -> None:
    text = "Well, there are no trams. The depot could not be reached."
    reading = read_answer(text)
    (absence,), (failure,) = reading.absence, reading.failure
    assert absence.text == text[absence.start : absence.end] == "there are no"
    assert absence.rule == "en.there-is-no"
    assert failure.text == "could not be reached"


def test_spans_are_places_in_the_original_text_where_characters_were_folded() -> None:
    text = "Ｓｏｒｒｙ，　ｎｏ　ｔｒａｍｓ\u200b　ｆｏｕｎｄ．"
    (span,) = read_answer(text).absence
    assert text[span.start : span.end] == span.text == "ｎｏ　ｔｒａｍｓ\u200b　ｆｏｕｎｄ"


def test_an_answer_in_two_languages_is_read_in_both() -> None:
    text = "आपकी सूची में कोई नाव नहीं है। The depot server did not respond."
    reading = read_answer(text)
    assert [span.rule.split(".")[0] for span in reading.absence + reading.failure] == ["hi", "en"]


def test_a_hint_adds_a_language_and_hides_none() -> None:
    text = "There are no trams."
    assert read_answer(text, "hi").absence == read_answer(text).absence
    assert read_answer(text, "hi").language == "en"


def test_an_unknown_hint_is_refused_with_the_list_of_languages() -> None:
    with pytest.raises(ValueError, match=r"no rules for the language 'pl'; there are for en, hi"):
        read_answer("Brak.", "pl")


def test_a_reading_is_frozen_equal_by_content_hashable_and_picklable() -> None:
    one, two = read_answer("There are no trams."), read_answer("There are no trams.")
    assert one == two
    assert hash(one) == hash(two)
    assert one != read_answer("There are no ferries at all, no trams.")
    assert one != "There are no trams."
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one).startswith("Reading(absence=(Span(start=0, end=12, text='There are no'")
    with pytest.raises(AttributeError, match="cannot be changed"):
        one.language = "de"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del one.language
    with pytest.raises(AttributeError, match="has no 'colour'"):
        _ = one.colour  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("There are no trams. The server is down.", "absence"),
        ("The server is down.", "failure"),
        ("I found 4 trams.", "data"),
        ("Good morning.", "none"),
    ],
)
def test_the_claim_of_an_answer_is_its_worst(text: str, claim: str) -> None:
    assert read_answer(text).claim == claim


def test_the_version_stands_on_every_reading_and_in_the_room() -> None:
    version = claims.PATTERNS_VERSION
    assert read_answer("Hello").version == version
    assert read_answer("").version == version
    engine, _, digest = version.partition("-")
    assert engine.isdigit()
    assert len(digest) == 12
    with pytest.raises(AttributeError, match="no attribute 'nothing_here'"):
        _ = claims.nothing_here


def test_an_explanation_shows_claims_and_what_undid_others() -> None:
    told = claims.explain("There are no trams. If there are no ferries, walk.")
    assert "absence       0-12" in told
    assert "undone by en.condition" in told
    assert "not readable" in claims.explain("Nie znaleziono żadnych wyników dla tego zapytania.")


def test_every_language_has_rules_for_absence_and_failure() -> None:
    from neverempty.claims.rulebook import rule_file

    for language in LANGUAGES:
        made = {rule.claim for rule in rule_file(language).rules}
        assert {"absence", "failure"} <= made, language


def test_reading_type_is_public() -> None:
    assert isinstance(read_answer("No trams."), Reading)


@pytest.mark.parametrize(
    "text",
    ['"There are no trams."', "'There are no trams.'", "“There are no trams.”", '"No trams were found."\n',
     "«No hay tranvías.»", "„Es gibt keine Bahnen.“", "「電車は見つかりませんでした。」"],
)  # fmt: skip
def test_an_answer_wholly_in_quotation_marks_is_the_answer_itself(text: str) -> None:
    (span,) = read_answer(text).absence
    assert text[span.start : span.end] == span.text


def test_what_is_quoted_within_an_answer_is_not_said_by_it() -> None:
    assert read_answer('"No trams" and "no buses" are song titles.').absence == ()
    assert read_answer('You wrote "there are no trams".').absence == ()
