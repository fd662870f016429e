"""A gate that hangs on `fabricated` while its precision makes it a hint."""

from __future__ import annotations

from typing import Any

import pytest

from neverempty import gate
from neverempty.reader import fabrication


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ship these counts for the scorer ``failure/9``."""

    def put(*counts: int) -> None:
        found = {"scorer_version": "failure/9", "halves": {"frozen": list(counts)}}
        monkeypatch.setattr(fabrication, "_shipped", lambda: found)

    return put


ASKED: list[dict[str, Any]] = [
    {"metrics": ["fabricated"]},
    {"floors": {"fabricated_max": 0.5}},
    {"must_pass": ["fabricated"]},
]


def _hints(decision: Any) -> list[str]:
    return [text for text in decision.warnings if "hint:" in text]


@pytest.mark.parametrize("config", ASKED)
def test_asking_for_a_hint_is_warned_of(config: dict[str, Any], outcomes: Any, shipped: Any) -> None:
    shipped(30, 20, 15, 35)
    asked = outcomes({"fabricated": "60*p", "misreport_as_empty": "60*p"}, scorer_version="failure/9")
    (text,) = _hints(gate(None, asked, config))
    assert "precision 60 % of 50" in text


@pytest.mark.parametrize("config", ASKED)
def test_a_precise_fabricated_is_gated_without_a_warning(
    config: dict[str, Any], outcomes: Any, shipped: Any
) -> None:
    shipped(45, 5, 15, 35)
    asked = outcomes({"fabricated": "60*p", "misreport_as_empty": "60*p"}, scorer_version="failure/9")
    assert _hints(gate(None, asked, config)) == []


def test_a_hint_that_nobody_asks_for_is_not_warned_of(outcomes: Any, shipped: Any) -> None:
    shipped(30, 20, 15, 35)
    asked = outcomes({"fabricated": "60*p", "misreport_as_empty": "60*p"}, scorer_version="failure/9")
    assert _hints(gate(None, asked)) == []


def test_a_scorer_of_another_version_is_unmeasured_and_warned_of(outcomes: Any, shipped: Any) -> None:
    shipped(45, 5, 15, 35)
    asked = outcomes({"fabricated": "60*p"}, scorer_version="failure/8")
    (text,) = _hints(gate(None, asked, ASKED[0]))
    assert "failure/8" in text
    assert "not measured" in text
