"""Telling the language of an answer; one in a language without rules is not readable and claims nothing."""

from __future__ import annotations

import pytest

from neverempty.claims import read_answer
from neverempty.claims.detect import languages


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("There are no trams on Sunday.", "en"),
        ("रविवार को कोई ट्राम नहीं है।", "hi"),
        ("Sunday ko koi tram nahi hai.", "hinglish"),
        ("No hay tranvías el domingo.", "es"),
        ("Il n'y a pas de tramway dimanche.", "fr"),
        ("Am Sonntag gibt es keine Straßenbahn.", "de"),
        ("Não há elétricos no domingo.", "pt"),
        ("Non ci sono tram la domenica.", "it"),
        ("日曜日に路面電車はありません。", "ja"),
        ("星期天没有电车。", "zh"),
        ("星期天沒有電車。", "zh"),
        ("일요일에는 전차가 없습니다.", "ko"),
        ("لا توجد قطارات يوم الأحد.", "ar"),
        ("В воскресенье трамваев нет.", "ru"),
    ],
)
def test_the_language_of_a_sentence_is_named(text: str, language: str) -> None:
    reading = read_answer(text)
    assert reading.language == language
    assert reading.readable


@pytest.mark.parametrize(
    "text",
    [
        "Nie znaleziono żadnych tramwajów w niedzielę, spróbuj ponownie później.",
        "Er zijn geen trams op zondag, probeer het later opnieuw.",
        "Pazar günü tramvay yok, lütfen daha sonra tekrar deneyin.",
        "ไม่มีรถรางในวันอาทิตย์",
        "Không có chuyến tàu điện nào vào chủ nhật.",
        "Det finns inga spårvagnar på söndag, försök igen senare.",
        "V neděli nejezdí žádné tramvaje, zkuste to znovu později.",
        "אין חשמליות ביום ראשון.",
        "Δεν υπάρχουν τραμ την Κυριακή.",
        "У неділю трамваїв немає.",
        "Няма намерени трамваи в неделя.",
        "یکشنبه تراموا نیست، لطفا دوباره تلاش کنید.",
        "रविवारी ट्राम नाही आहे.",
        "Vasárnap nincs villamos, kérem próbálja újra később.",
        "Tidak ada trem pada hari Minggu, silakan coba lagi.",
    ],
)
def test_an_answer_in_a_language_without_rules_is_not_readable(text: str) -> None:
    reading = read_answer(text)
    assert not reading.readable
    assert reading.language is None
    assert reading.claim == "none"


def test_a_hint_does_not_make_a_foreign_answer_readable() -> None:
    assert not read_answer("Er zijn geen trams gevonden, probeer het later opnieuw.", "en").readable


def test_a_hint_makes_an_answer_without_telling_words_readable() -> None:
    text = "Zorbin Quartel Vex Mirado"
    assert not read_answer(text).readable
    assert read_answer(text, "es").readable
    assert read_answer(text, "es").language == "es"


@pytest.mark.parametrize("text", ["✅", "42", "0", "[]", "---", "…"])
def test_an_answer_without_words_is_readable_in_no_language(text: str) -> None:
    reading = read_answer(text)
    assert reading.readable
    assert reading.language is None


def test_japanese_in_chinese_characters_alone_is_told_by_their_form() -> None:
    assert read_answer("検索結果：0件").language == "ja"


def test_a_short_answer_in_chinese_characters_may_be_either() -> None:
    assert languages(["0件"], None) == (["zh", "ja"], True)


def test_a_mixed_answer_lists_its_languages_by_weight() -> None:
    text = "आपकी सूची में कोई नाव नहीं है The server timed out"
    found, readable = languages(text.split(), None)
    assert readable
    assert found == ["hi", "en"]
