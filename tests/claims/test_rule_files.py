"""The language of the rules: what its signs match, and what a rule file may not say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neverempty.claims import rulebook
from neverempty.claims.engine import Engine
from neverempty.claims.lexicon import Lexicon
from neverempty.claims.patterns import EDGE, Alphabet, PatternError, literals, translate
from neverempty.claims.tokens import Folding

SLOTS = {
    "no": ["no", "not_any"],
    "thing": ["tram", "tram_stop", "ferr*", "*boat"],
    "stop": ["."],
    "comma": [","],
    "but": ["but"],
    "newline": ["⏎"],
}


def _matches(pattern: str, text: str) -> list[str]:
    """Match a pattern on a small lexicon and give the stretches of words that it takes."""
    lexicon = Lexicon(SLOTS, literals(pattern), ["the"], Folding())
    alphabet = Alphabet(
        lexicon.slot,
        clause=EDGE + lexicon.chars("stop", "comma", "but"),
        sentence=EDGE + lexicon.chars("stop"),
        cell="",
        line=EDGE + lexicon.chars("newline"),
        but=lexicon.chars("but"),
    )
    tokens = text.split()
    kept = [token for token in tokens if lexicon.codes[token]]
    line = f"{EDGE}{''.join(lexicon.codes[token] for token in kept)}{EDGE}"
    one = translate(pattern, alphabet)
    exact = re.compile(one.exact)
    found = [
        " ".join(kept[m.start(exact.groups) - 1 : m.end(exact.groups) - 1]) for m in exact.finditer(line)
    ]
    # The filter must never miss what the exact expression finds.
    assert not found or re.search(one.wide, line)
    return found


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("{no} {thing}", "there is no the tram here", ["no tram"]),
        ("{no} {thing}", "not any tram stop", ["not any tram stop"]),
        ("{no} {thing}", "no ferries and no rowboat", ["no ferries", "no rowboat"]),
        ("{no} {thing|=bus}", "no bus", ["no bus"]),
        ("{no} {!thing}", "no tram no luck", ["no luck"]),
        ("{no} {!thing}", "no . luck", []),
        ("{^no} tram", "a tram no tram", ["tram"]),
        ("no red? tram", "no red tram no tram", ["no red tram", "no tram"]),
        ("no red+ tram", "no tram no red red tram", ["no red red tram"]),
        ("no (red | very blue) tram", "no very blue tram", ["no very blue tram"]),
        ("no ~2 tram", "no x y tram no x y z tram", ["no x y tram"]),
        ("no ~ tram", "no x , tram", []),
        ("no ~~ tram", "no x , y . tram", ["no x , y . tram"]),
        ("no >", "no x y , z", ["no x y"]),
        ("no >>", "no x , y but z", ["no x , y"]),
        ("^ no", "no x no y , no z", ["no", "no"]),
        ("^^ no", "no x , no y . no z", ["no", "no"]),
        ("tram $", "tram x tram , tram", ["tram", "tram"]),
        ("tram $$", "tram , tram . tram", ["tram", "tram"]),
        ("no [ {thing} ]", "no tram", ["tram"]),
    ],
)
def test_signs_match_what_the_syntax_says(pattern: str, text: str, found: list[str]) -> None:
    assert _matches(pattern, text) == found


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("no > tram", "may only end a pattern"),
        ("{nowhere} tram", "no slot is called 'nowhere'"),
        ("no {thing", "cannot read"),
    ],
)
def test_a_pattern_that_cannot_be_read_says_why(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        _matches(pattern, "no tram")


def test_a_word_read_over_may_stand_nowhere_else() -> None:
    with pytest.raises(PatternError, match=r"'skip' are used elsewhere: no \(no\)"):
        Lexicon(SLOTS, [], ["no"], Folding())


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Read rule files of the test's own instead of the package's."""
    shipped = rulebook._bytes

    def read(name: str) -> bytes:
        own = tmp_path / name
        return own.read_bytes() if own.exists() else shipped(name)

    def put(rules: str, language: str = "en") -> None:
        head = f'language = "{language}"\nname = "Test"\n'
        (tmp_path / f"{language}.toml").write_text(head + rules, encoding="utf-8")

    monkeypatch.setattr(rulebook, "_bytes", read)
    rulebook.rule_file.cache_clear()
    rulebook.patterns_version.cache_clear()
    yield put
    rulebook.rule_file.cache_clear()
    rulebook.patterns_version.cache_clear()


RULE = '[[rule]]\nid = "r"\nclaim = "absence"\nmatch = ["no trams"]\nyes = ["no trams"]\n'


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (RULE + "colour = 1\n", "rule 'r' has the unknown key 'colour'"),
        ("colour = 1\n" + RULE, "en.toml has the unknown key 'colour'"),
        (RULE.replace("absence", "presence"), "'presence' is no claim; there are absence, failure, data"),
        (RULE.replace('claim = "absence"\n', ""), "neither claims nor shields"),
        (
            RULE.replace('yes = ["no trams"]\n', ""),
            "needs at least one pattern under 'match' and one example",
        ),
        (RULE + RULE, "two rules are called 'en.r'"),
        ('scan = true\n[replace]\n"ae" = "e"\n' + RULE, "must keep the number of characters"),
    ],
)
def test_a_rule_file_that_cannot_be_used_says_where_and_why(write, rules: str, message: str) -> None:  # type: ignore[no-untyped-def]
    write(rules)
    with pytest.raises(PatternError, match=message):
        rulebook.rule_file("en")


def test_a_pattern_with_an_unknown_slot_names_file_rule_and_pattern(write) -> None:  # type: ignore[no-untyped-def]
    write(RULE.replace("no trams", "no {trolley}", 1))
    with pytest.raises(
        PatternError, match=r"rule 'en.r': no slot is called 'trolley' \(pattern 'no \{trolley\}'\)"
    ):
        Engine("en")


def test_the_version_changes_with_any_rule_or_example(write) -> None:  # type: ignore[no-untyped-def]
    shipped = rulebook.patterns_version()
    write(RULE)
    rulebook.patterns_version.cache_clear()
    one = rulebook.patterns_version()
    write(RULE.replace('yes = ["no trams"]', 'yes = ["no trams "]'))
    rulebook.patterns_version.cache_clear()
    assert len({shipped, one, rulebook.patterns_version()}) == 3
