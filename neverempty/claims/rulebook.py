"""The rule files: one TOML file per language, read and checked on first use."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from neverempty.claims.patterns import PatternError
from neverempty.claims.tokens import Folding

ENGINE_VERSION = 2  # goes up when the same rules would read an answer differently
LANGUAGES = ("en", "hi", "hinglish", "es", "fr", "de", "pt", "it", "ja", "zh", "ko", "ar", "ru")
CLAIMS = ("absence", "failure", "data")
SHARED = "shared"
_FILE_KEYS = {"language", "name", "elision", "scan", "accents", "clitics", "replace", "slots", "rule"}
_RULE_KEYS = {"id", "claim", "match", "search", "shields", "yes", "no"}


class Rule(NamedTuple):
    """One rule of a file.

    Parameters
    ----------
    id
        Language and name, such as ``en.there-is-no``.
    claim
        ``absence``, ``failure``, ``data``, or empty for a rule that only shields.
    match
        Patterns, any of which makes the rule fire.
    shields
        Claims that are not made where this rule fires (a condition, a question, a quotation).
    search
        Whether the rule says how the looking ended ("I found nothing") rather than what exists ("there are
        none"). Only the former falls when a failure is the reason before a "therefore": to conclude from a
        failure that there is nothing is the very misreport.
    yes, no
        Examples and counter-examples: the rule's tests.
    """

    id: str
    claim: str
    match: tuple[str, ...]
    shields: tuple[str, ...]
    search: bool
    yes: tuple[str, ...]
    no: tuple[str, ...]


class RuleFile(NamedTuple):
    """The content of one rule file."""

    language: str
    name: str
    folding: Folding
    slots: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]


@cache
def rule_file(language: str) -> RuleFile:
    """Read and check the rule file of a language (or ``shared``).

    Parameters
    ----------
    language
        One of ``LANGUAGES`` or ``SHARED``.

    Raises
    ------
    PatternError
        Where the file has a key or a claim that does not exist, or a rule without examples.
    """
    raw = tomllib.loads(_bytes(f"{language}.toml").decode("utf-8"))
    _only(raw, _FILE_KEYS, f"{language}.toml")
    scan = bool(raw.get("scan", False))
    spellings: dict[str, str] = raw.get("replace", {})
    # Whole scripts of letters are exchanged in one pass (traditional and simplified characters).
    letters = {ord(old): new for old, new in spellings.items() if scan and len(old) == 1}
    folding = Folding(
        accents=bool(raw.get("accents", not scan)),
        replace=tuple((old, new) for old, new in spellings.items() if not scan or len(old) > 1),
        elision=bool(raw.get("elision", False)),
        scan=scan,
        letters=letters,
        clitics=tuple(sorted(raw.get("clitics", "").split(), key=len, reverse=True)),
    )
    if scan and any(len(old) != len(new) for old, new in spellings.items()):
        raise PatternError(f"{language}.toml: with scan = true, [replace] must keep the number of characters")
    slots = {slot: tuple(words.split()) for slot, words in raw.get("slots", {}).items()}
    rules = tuple(_rule(language, one) for one in raw.get("rule", ()))
    names = [rule.id for rule in rules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PatternError(f"{language}.toml: two rules are called {twice[0]!r}")
    return RuleFile(raw["language"], raw["name"], folding, slots, rules)


def _rule(language: str, raw: Mapping[str, Any]) -> Rule:
    where = f"{language}.toml: rule {raw.get('id', '(without id)')!r}"
    _only(raw, _RULE_KEYS, where)
    claim = raw.get("claim", "")
    shields = tuple(raw.get("shields", ()))
    for one in (*shields, *([claim] if claim else [])):
        if one not in CLAIMS:
            raise PatternError(f"{where}: {one!r} is no claim; there are {', '.join(CLAIMS)}")
    if not claim and not shields:
        raise PatternError(f"{where} neither claims nor shields anything")
    if not raw.get("match") or not raw.get("yes"):
        raise PatternError(f"{where} needs at least one pattern under 'match' and one example under 'yes'")
    return Rule(
        id=f"{language}.{raw['id']}",
        claim=claim,
        match=tuple(raw["match"]),
        shields=shields,
        search=bool(raw.get("search", False)),
        yes=tuple(raw["yes"]),
        no=tuple(raw.get("no", ())),
    )


def _only(raw: Mapping[str, Any], known: set[str], where: str) -> None:
    extra = sorted(set(raw) - known)
    if extra:
        raise PatternError(f"{where} has the unknown key {extra[0]!r}; known are {', '.join(sorted(known))}")


def _bytes(name: str) -> bytes:
    return resources.files("neverempty.claims").joinpath("rules", name).read_bytes()


@cache
def word_lists() -> Mapping[str, Mapping[str, str]]:
    """Read the word lists by which languages are told apart."""
    return tomllib.loads(_bytes("languages.toml").decode("utf-8"))


@cache
def patterns_version() -> str:
    """Give the version of the rules: the engine's number and a digest of every rule file.

    Returns
    -------
    str
        Such as ``1-3f2a9c04d1e7``; it changes when any rule, example or word list does.
    """
    digest = hashlib.sha256()
    for name in ("languages", SHARED, *LANGUAGES):
        content = _bytes(f"{name}.toml")
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return f"{ENGINE_VERSION}-{digest.hexdigest()[:12]}"
