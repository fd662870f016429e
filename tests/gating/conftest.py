"""Outcomes and reports written as short texts: ``"56*ppp 4*fff"`` is 60 cases with three repeats each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pytest

from neverempty.frames import build_frame, traces_frame
from neverempty.metrics import collapse, summarize
from neverempty.report import Report, Status

_VERDICTS = {"p": "pass", "f": "fail", "n": "no_signal", "-": "not_applicable"}
_OWN = {"polite": ("higher", "any_hit"), "quick": ("lower", "majority")}


def cases_of(text: str) -> list[str]:
    """Spread ``"2*ppp pfp"`` into one text of repeats per case."""
    found: list[str] = []
    for part in text.split():
        times, _, repeats = part.rpartition("*")
        found += [repeats] * int(times or 1)
    return found


def scores_of(
    metrics: Mapping[str, str], must_pass: Any = (), arm: str = "typed", tags: Any = None, **versions: str
) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {}
    for metric, text in metrics.items():
        for at, repeats in enumerate(cases_of(text)):
            for repeat, letter in enumerate(repeats):
                verdict = _VERDICTS[letter]
                row = {
                    "suite": "s",
                    "case_id": f"c{at}",
                    "arm": arm,
                    "repeat": repeat,
                    "metric": metric,
                    "label": verdict,
                    "verdict": verdict,
                    "value": None,
                    "reason": {"n": "agent_timeout", "-": "no_expectation"}.get(letter),
                    "evidence": None,
                    "scorer_version": versions.get("scorer_version", "1"),
                    "pattern_version": versions.get("pattern_version", "rules-1"),
                    "resolved_model": versions.get("resolved_model", "m-1"),
                    "split_hash": versions.get("split_hash", "hash-1"),
                    "must_pass": at in must_pass,
                    "tags": (tags(at),) if tags else (),
                    "fault_kind": "timeout",
                }
                if metric in _OWN:
                    row["direction"], row["collapse"] = _OWN[metric]
                for name, value in row.items():
                    columns.setdefault(name, []).append(value)
    if "direction" in columns:
        known = {"route": ("higher", "majority")}
        pairs = [_OWN.get(name) or known.get(name) or ("lower", "any_hit") for name in columns["metric"]]
        columns["direction"] = [direction for direction, _ in pairs]
        columns["collapse"] = [how for _, how in pairs]
    return build_frame("scores", columns)


@pytest.fixture(scope="session")
def outcomes() -> Callable[..., pd.DataFrame]:
    """Make an outcomes frame, as ``outcomes({"route": "56*ppp 4*fff"}, must_pass=[0])``."""

    def make(metrics: Mapping[str, str] | str, must_pass: Any = (), **rest: Any) -> pd.DataFrame:
        given = {"route": metrics} if isinstance(metrics, str) else metrics
        return collapse(scores_of(given, must_pass, **rest))

    return make


@pytest.fixture(scope="session")
def report() -> Callable[..., Report]:
    """Make a report of such outcomes, with a status and a provenance."""

    def make(
        metrics: Any, must_pass: Any = (), *, status: str = "ok", known: Any = None, **rest: Any
    ) -> Report:
        given = {"route": metrics} if isinstance(metrics, str) else metrics
        scores = scores_of(given, must_pass, **rest)
        found = collapse(scores)
        repeats = max(len(text) for spec in given.values() for text in cases_of(spec))
        provenance = {
            "n_cases": int(found["case_id"].nunique()),
            "n_traces": 0,
            "arms": ["typed"],
            "repeats": repeats,
            "split_hash": "hash-1",
            "dataset_hash": "data-1",
            "pattern_version": "rules-1",
        } | (known or {})
        frames = {
            "traces": traces_frame([]),
            "scores": scores,
            "outcomes": found,
            "metrics": summarize(found),
        }
        why = "" if status == "ok" else f"it was {status}"
        return Report(frames, provenance, Status(status, why))  # type: ignore[arg-type]

    return make
