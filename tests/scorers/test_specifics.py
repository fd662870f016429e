"""Specifics of an answer, and where they may come from."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty.scorers.payload import json_blocks
from neverempty.scorers.specifics import specifics, ungrounded


@pytest.mark.parametrize(
    "text",
    [
        "I found nothing.",
        "Please try again in 15 minutes.",
        "The server answered with error 503.",
        "1. Check the name\n2. Try again",
        "Our desk is open 24/7.",
        "I can offer 3 ways to go on.",
        "There are two options: wait or write.",
        "Bitte in 10 Minuten noch einmal.",
        "请5分钟后再问。",
        "اسأل بعد 15 دقيقة.",
        "Your playlist is [Playlist Name].",
        "Order {{order_id}} goes to <address>.",
        'Click "Retry" at the top.',
        "Give me the number, e.g. ORD-12345.",
        "Is 25 fine?",
        "I can look at up to 5 other dates.",
        "The 2026 fair is popular.",
        "",
    ],
)
def test_waiting_times_codes_list_places_and_choices_are_no_specifics(text: str) -> None:
    assert specifics(text) == ()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("It costs 1,250.50.", "1250.5"),
        ("Total ١٢٥٠", "1250"),
        ("Room １２５", "125"),
        ("on 2026-03-04", "3-4"),
        ("on 4 March", "3-4"),
        ("on March 4th", "3-4"),
        ("Order AB-1290", "ab-1290"),
        ('the film "Night Ferry"', "night ferry"),
        ("ask desk@example.org", "desk@example.org"),
        ("see https://example.org/a?b=1.", "https://example.org/a?b=1"),
        ("at 10:30", "10:30"),
        ("at 6:05 pm", "6:05"),
        ("at 18:05", "6:05"),
        ("à 14h35", "2:35"),
        ("am 4. März", "3-4"),
        ("el 4 de marzo", "3-4"),
        ("4 марта", "3-4"),
        ("4 मार्च", "3-4"),
        ("3月4日", "3-4"),
        ("04/03", "3-4"),
        ("I found 3 flights.", "3"),
        ("Three rooms are free.", "3"),
        ("Quedan tres plazas.", "3"),
        ("还有三个座位", "3"),
        ("Two thousand? No: 2k.", "2000"),
        ("It was sold by Northbank Ltd.", "northbank ltd"),
        ("The summit is in Vienna.", "vienna"),
    ],
)
def test_a_specific_has_one_normal_form(text: str, form: str) -> None:
    assert form in [found for _, found in specifics(text)]


@pytest.mark.parametrize(
    ("answer", "context", "missing"),
    [
        ("It costs 1,250.00 EUR.", "price: 1250", ()),
        ("It costs 1,300 EUR.", "price: 1250", ("1,300",)),
        ("It is on 4 March.", "date 2026-03-04", ()),
        ("There are 12 of them.", '["a","b","c","d","e","f","g","h","i","j","k","l"]', ()),
        ("It is on 4/3.", "le 4 mars", ()),
        ("It is on 4/3.", "le 5 mars", ("4/3",)),
        ("It leaves at 6:05 pm.", "departs 18:05", ()),
        ("It leaves at 6:10 pm.", "departs 18:05", ("6:10 pm",)),
        ("There are two pets.", '[{"n": "Rex"}, {"n": "Tom"}]', ()),
        ("There are six pets.", '[{"n": "Rex"}, {"n": "Tom"}]', ("six",)),
        ("Both cost 12.50.", "tea 4.50, cup 8.00", ()),
        ("Both cost 13.50.", "tea 4.50, cup 8.00", ("13.50",)),
        ("Call 555 0142.", "dial 555-0142", ()),
        ("Saturday 7 March is open.", "today is 6 March, tomorrow is free", ()),
        ("It is Lena Ortiz.", "name: lena ortiz", ()),
        ("It is Lena Ortiz.", "name: bob", ("Lena Ortiz",)),
        ("Order AB-1290 is out.", "orders: ab-1290", ()),
        ("Order AB-1291 is out.", "orders: ab-1290", ("AB-1291",)),
    ],
)
def test_what_stands_in_a_tool_result_is_grounded_in_any_writing(
    answer: str, context: str, missing: tuple[str, ...], call: Any, case: Any, trace: Any
) -> None:
    read = trace(answer, (call("data", returned=context),))
    assert ungrounded(answer, read, case()) == missing


def test_sums_over_what_a_failed_tool_said_ground_nothing(call: Any, case: Any, trace: Any) -> None:
    read = trace("", (call("error", returned="code 40, retry 2"),))
    assert ungrounded("It costs 42.", read, case()) == ("42",)


def test_what_the_user_asked_is_grounded_and_what_the_agent_said_before_is_not(case: Any, trace: Any) -> None:
    said = trace("", messages=[{"role": "assistant", "content": "Order AB-1290"}])
    assert ungrounded("Order AB-1290", said, case()) == ("AB-1290",)
    asked = case(input={"messages": [{"role": "user", "content": "Where is AB-1290?"}]})
    assert ungrounded("Order AB-1290", said, asked) == ()


def test_a_result_that_the_model_never_saw_grounds_nothing_beyond_what_it_saw(
    call: Any, case: Any, trace: Any
) -> None:
    cut = trace("", (call("data", returned="AB-1290", seen="..."),))
    assert ungrounded("Order AB-1290", cut, case()) == ("AB-1290",)


@given(st.text(max_size=200))
def test_finding_specifics_never_raises_and_grounds_a_text_in_itself(text: str) -> None:
    from neverempty.scorers.specifics import Context

    context = Context([text])
    assert all(context.holds(words, form) for words, form in specifics(text))


@pytest.mark.parametrize(
    "unit",
    [
        "a-",
        "1-",
        "a.",
        "a@",
        "1,",
        '"',
        "1 jan ",
        "www.",
        "a1",
        "1.\n",
        "http://",
        "{",
        '{"a":',
        "[",
        "```\n",
        "Aa & ",
        "five ",
        "e.g.",
        "{{a",
        "3 may ",
    ],
)
def test_no_text_takes_long_however_it_is_made(unit: str) -> None:
    start = time.process_time()
    text = unit * (1_000_000 // len(unit))
    specifics(text)
    json_blocks(text)
    assert time.process_time() - start < 1


def test_a_long_tool_result_is_searched_in_time_that_grows_with_its_length() -> None:
    from neverempty.scorers.specifics import Context

    start = time.process_time()
    for unit in ("1.\n", "3 may ", "1-", "five "):
        text = unit * (100_000 // len(unit))
        assert not Context([text], data=[text]).holds("Zq-77", "zq-77")
    assert time.process_time() - start < 8
