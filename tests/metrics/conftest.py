"""Scores and outcomes made of verdicts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from neverempty.frames import build_frame
from neverempty.metrics import collapse

VERDICT = {"p": "pass", "f": "fail", "s": "no_signal", "n": "not_applicable"}


@pytest.fixture(scope="session")
def scores() -> Callable[..., pd.DataFrame]:
    """Make a scores frame: a word of p, f, s, n per case, one letter a repeat."""

    def make(
        cases: Mapping[str, str] | Sequence[str], metric: str = "misreport_as_empty", **columns: Any
    ) -> pd.DataFrame:
        named = cases if isinstance(cases, Mapping) else {f"c{at}": word for at, word in enumerate(cases)}
        rows = [(name, at, letter) for name, word in named.items() for at, letter in enumerate(word)]
        reasons = {"s": "agent_timeout", "n": "the tool worked"}
        made: dict[str, Any] = {
            "suite": "s",
            "case_id": [name for name, _, _ in rows],
            "arm": "typed",
            "repeat": [at for _, at, _ in rows],
            "metric": metric,
            "label": None,
            "verdict": [VERDICT[letter] for _, _, letter in rows],
            "value": None,
            "reason": [reasons.get(letter) for _, _, letter in rows],
            "evidence": None,
            "scorer_version": "1",
            "fault_kind": "timeout",
            "fault_presentation": "typed",
            "fault_layer": "tool",
            "split": "dev",
            "language": "en",
            "tags": [()] * len(rows),
            "must_pass": False,
        } | columns
        spread = {
            name: value if isinstance(value, list) else [value] * len(rows) for name, value in made.items()
        }
        return build_frame("scores", spread)

    return make


@pytest.fixture(scope="session")
def outcomes(scores: Any) -> Callable[..., pd.DataFrame]:
    """Make an outcomes frame the same way."""

    def make(*args: Any, **kwargs: Any) -> pd.DataFrame:
        return collapse(scores(*args, **kwargs))

    return make
