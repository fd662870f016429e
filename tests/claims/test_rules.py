"""Every rule's examples and counter-examples, read by the whole reader, are its tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neverempty.claims.reading import look
from neverempty.claims.rulebook import LANGUAGES, SHARED, Rule, rule_file


def _cases(kind: str) -> Iterator[object]:
    for language in (SHARED, *LANGUAGES):
        for rule in rule_file(language).rules:
            for at, text in enumerate(rule.yes if kind == "yes" else rule.no):
                yield pytest.param(rule, text, id=f"{rule.id}-{at}")


def _read(rule: Rule, text: str) -> tuple[set[str], set[str]]:
    """Give the claims that are read and the rules that fired and were kept."""
    language = rule.id.split(".")[0]
    _, _, passes = look(text, None if language == SHARED else language)
    kept = [found[2] for one in passes for found in one.findings.kept]
    shields = {found[2].id for one in passes for found in one.findings.shields}
    return {rule.claim for rule in kept}, {rule.id for rule in kept} | shields


@pytest.mark.parametrize(("rule", "text"), list(_cases("yes")))
def test_each_example_makes_its_rule_fire(rule: Rule, text: str) -> None:
    claims, fired = _read(rule, text)
    assert rule.id in fired
    assert not rule.claim or rule.claim in claims
    assert not claims & (set(rule.shields) - {rule.claim})


@pytest.mark.parametrize(("rule", "text"), list(_cases("no")))
def test_each_counter_example_is_read_otherwise(rule: Rule, text: str) -> None:
    claims, _ = _read(rule, text)
    if rule.claim:
        assert rule.claim not in claims
    else:
        assert claims & set(rule.shields)
