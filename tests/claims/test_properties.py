"""What holds for every text: no exception, spans inside, the same reading however it is encoded or framed."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty.claims import Reading, read_answer

# Answers of the kinds whose encoding varies; each makes one claim.
ANSWERS = [
    "There are no seats left on that tram.",
    "I couldn't find a café near Zoë's office.",
    "The depot's server didn't respond.",
    "Sorry, I wasn't able to load the timetable.",
    "No ferries found.",
    "उस सूची में कोई नाव नहीं है।",
    "घाट का सर्वर जवाब नहीं दे रहा है।",
    "Us list mein koi naav nahi hai.",
    "Ghat ka server jawab nahi de raha.",
]
PLAIN = [answer for answer in ANSWERS if answer.replace("é", "e").replace("ë", "e").isascii()]
NEUTRAL = ["The office opens at nine.", "Thanks for waiting.", "Tram 4 leaves from the square."]
LEXICON = """
no not there are is nothing found error server the couldn't find timed out if because so but none 0 []
? . , ( ) " ' | कोई नहीं है सर्वर koi nahi hai 没有 错误 ない エラー 없습니다 오류 لا خطأ нет ошибка
keine Fehler aucun erreur hay nenhum
"""
UNITS = [
    "no ",
    "if ",
    '"',
    "there are no ",
    "| 0 |",
    "(",
    "'",
    "没有",
    "नहीं ",
    "\u0301",
    "error: ",
    "a",
    "{",
    "\n",
]
WORDS = st.sampled_from([*LEXICON.split(), "\n", "\u200b", "\u0301", "\x00", "\ud800"])


def _flags(reading: Reading) -> tuple[bool, bool, bool]:
    return bool(reading.absence), bool(reading.failure), reading.readable


def _check_spans(text: str) -> None:
    reading = read_answer(text)
    for span in reading.absence + reading.failure + reading.data:
        assert 0 <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == span.text


@given(st.text())
def test_any_text_is_read_without_an_error_and_spans_lie_inside_it(text: str) -> None:
    _check_spans(text)


@given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Mn", "Nd", "Po", "Lo"])))
def test_surrogates_controls_and_marks_are_read_without_an_error(text: str) -> None:
    _check_spans(text)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=30), st.sampled_from([" ", "  ", "", "\n"]))
def test_words_of_rules_in_any_order_give_spans_inside_the_text(words: list[str], joint: str) -> None:
    _check_spans(joint.join(words))


@given(st.sampled_from(ANSWERS), st.sampled_from(NEUTRAL), st.booleans())
def test_an_unrelated_sentence_takes_no_claim_away(answer: str, other: str, before: bool) -> None:
    alone = _flags(read_answer(answer))
    assert any(alone[:2])
    assert _flags(read_answer(f"{other} {answer}" if before else f"{answer} {other}")) == alone


@given(st.sampled_from(ANSWERS), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_normal_forms_read_the_same(answer: str, form: str) -> None:
    assert _flags(read_answer(unicodedata.normalize(form, answer))) == _flags(read_answer(answer))


@pytest.mark.parametrize("answer", ANSWERS)
def test_upper_case_reads_the_same(answer: str) -> None:
    assert _flags(read_answer(answer.upper())) == _flags(read_answer(answer))


@pytest.mark.parametrize("answer", PLAIN)
def test_full_width_letters_read_the_same(answer: str) -> None:
    wide = "".join("\u3000" if c == " " else chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in answer)
    assert _flags(read_answer(wide)) == _flags(read_answer(answer))


@pytest.mark.parametrize("mark", ["\u2019", "\u02bc", "\u00b4", "`"])
@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if "'" in answer])
def test_typographic_apostrophes_read_the_same(answer: str, mark: str) -> None:
    assert _flags(read_answer(answer.replace("'", mark))) == _flags(read_answer(answer))


@given(
    st.sampled_from(ANSWERS), st.data(), st.sampled_from("\u200b\u200c\u200d\ufeff\u200e\u202a\u2060\u00ad")
)
def test_an_invisible_character_anywhere_reads_the_same(answer: str, data: st.DataObject, mark: str) -> None:
    at = data.draw(st.integers(0, len(answer)))
    assert _flags(read_answer(answer[:at] + mark + answer[at:])) == _flags(read_answer(answer))


@given(st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4))
def test_reading_twice_gives_the_same_reading(answers: list[str]) -> None:
    text = " ".join(answers)
    assert read_answer(text) == read_answer(text)


@pytest.mark.parametrize(
    "unit",
    [
        "no ",
        "if ",
        '"',
        "there are no ",
        "| 0 |",
        "(",
        "'",
        "没有",
        "कोई नहीं ",
        "\u0301",
        "error: ",
        "a",
        "{",
        "\n",
    ],
)
def test_time_grows_with_the_length_of_the_text_and_not_with_its_square(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        _ = read_answer(text).absence
        return time.process_time() - start

    seconds(1_000)  # load the rules
    small = min(seconds(20_000) for _ in range(3))
    # Ten times the text: a hundred times the time, were it quadratic.
    assert seconds(200_000) < 40 * small + 0.2


def test_a_text_of_a_megabyte_is_read_to_its_end() -> None:
    filler = "The tram stops at the square and then goes on to the harbour. " * 16_500
    reading = read_answer(filler + "There are no ferries today.")
    assert reading.absence[-1].start >= 1_000_000
