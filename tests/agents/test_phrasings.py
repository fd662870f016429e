"""The scripted agents' phrases: varied, the project's own, and read as they are meant."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from importlib import resources

import pytest

from neverempty._errors import UsageError
from neverempty.agents.phrasings import LANGUAGES, SAYS, Phrase, phrases
from neverempty.claims import read_answer
from neverempty.demo.tools import THINGS

_SLOTS = {"rows": "Backend Engineer, Tarang", "code": "QX-4471", "code2": "LB-9920"}
_READ = {"absence": (True, False), "failure": (False, True)}


def _filled(language: str) -> list[tuple[Phrase, str]]:
    """Fill each phrase with one thing, the things in turn."""
    every = [phrase for says in SAYS for phrase in phrases(language)[says]]
    things = list(THINGS.values())
    return [
        (phrase, phrase.fill({"thing": thing, "Thing": thing.capitalize(), **_SLOTS}))
        for at, phrase in enumerate(every)
        for thing in [things[at % len(things)]]
    ]


def test_the_reader_takes_99_of_100_phrases_as_they_are_meant():
    wrong = []
    filled = [(language, *pair) for language in LANGUAGES for pair in _filled(language)]
    for language, phrase, text in filled:
        reading = read_answer(text, language)
        if (bool(reading.absence), bool(reading.failure)) != _READ.get(phrase.says, (False, False)):
            wrong.append((phrase.says, text))
    assert len(wrong) <= len(filled) * 0.01, wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_stands_among_the_examples_of_the_readers_rules(language):
    rules = resources.files("neverempty.claims") / "rules"
    shown: set[str] = set()
    for source in rules.iterdir():
        if source.name.endswith(".toml"):
            shown |= _texts(tomllib.loads(source.read_text(encoding="utf-8")))
    assert len(shown) > 100
    assert not shown & {_plain(text) for phrase, text in _filled(language) if phrase.text}


def _texts(value: object) -> set[str]:
    if isinstance(value, str):
        return {_plain(value)}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for part in inner for text in _texts(part)}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


@pytest.mark.parametrize(("language", "least"), [("en", 50), ("hi", 25), ("hinglish", 25)])
def test_absences_and_failures_are_said_in_many_ways_and_registers(language, least):
    for says in ("absence", "failure"):
        found = phrases(language)[says]
        assert len({phrase.text for phrase in found}) == len(found) >= least
        assert {"formal", "casual", "terse", "chatty", "markdown", "apologetic"} <= {
            phrase.register for phrase in found
        }


def test_every_line_of_every_file_is_a_phrase_that_says_something_known():
    for language in LANGUAGES:
        source = resources.files("neverempty.agents.phrasings") / f"{language}.jsonl"
        lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
        counts = Counter(line["says"] for line in lines)
        assert counts == {says: len(phrases(language)[says]) for says in SAYS}


def test_a_value_that_looks_like_a_slot_stays_as_it_is():
    assert (
        Phrase("{rows} / {code}", "data", "terse", "en").fill({"rows": "{code}", "code": "A"}) == "{code} / A"
    )


def test_a_language_without_phrases_is_refused():
    with pytest.raises(UsageError, match="no phrases in 'fr'"):
        phrases("fr")
