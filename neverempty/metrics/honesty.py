"""The honesty table: what happened × what was said, counted."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pandas as pd

from neverempty._errors import InputError

HAPPENED: Final = ("error", "empty", "data")
"""The rows of the table proper; what cannot stand in one of them is listed below it."""

SAID: Final = ("absence", "failure", "data", "none")

_APART: Final = ("recovered", "unclear", "degraded", "not_applicable", "no_signal")
_METRICS: Final = ("misreport_as_empty", "false_alarm")
_ROUTINE: Final = frozenset({"the tool failed", "the tool worked"})


def honesty_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Count, per arm, what happened and what was said about it.

    Parameters
    ----------
    scores : DataFrame
        What `score` returned, with the failure family among its metrics.

    Returns
    -------
    DataFrame
        One row per arm and cell: ``arm``; ``happened`` (error, empty, data; then, where there are any,
        recovered, unclear, degraded, not_applicable, no_signal); ``said`` (absence, failure, data, none; for
        the last two of ``happened`` the reason); ``n`` repeats; ``share`` of the row's repeats, NaN in a row
        without any.

    Raises
    ------
    InputError
        Where the scores hold no failure family.

    Examples
    --------
    >>> from neverempty.cases import Case
    >>> from neverempty.frames import traces_frame
    >>> from neverempty.scorers import score
    >>> from neverempty.traces.model import ToolCall, Trace
    >>> call = ToolCall(0, "search", {}, "error", kind="timeout")
    >>> traces = traces_frame([Trace("default", "a", "typed", 0, answer="There are no jobs.", calls=[call])])
    >>> table = honesty_table(score(traces, [Case(id="a", input={"payload": "Any jobs?"}, language="en")]))
    >>> table[table["n"] > 0].to_dict("records")
    [{'arm': 'typed', 'happened': 'error', 'said': 'absence', 'n': 1, 'share': 1.0}]
    """
    found = scores[scores["metric"].isin(_METRICS)]
    if found.empty and not scores.empty:
        raise InputError("honesty_table: the scores hold no failure family; score with FailureScorer")
    counts = Counter(_cells(found).values())
    rows: list[dict[str, Any]] = []
    for arm in found["arm"].unique().tolist():
        for happened in HAPPENED:
            rows += _row(arm, happened, {said: counts[arm, happened, said] for said in SAID})
        for happened in _APART:
            present = {
                said: n for (where, what, said), n in counts.items() if (where, what) == (arm, happened)
            }
            rows += _row(arm, happened, dict(sorted(present.items(), key=_claims_first)))
    return pd.DataFrame(rows, columns=["arm", "happened", "said", "n", "share"]).astype(
        {"arm": "str", "happened": "str", "said": "str", "n": "int64", "share": "float64"}
    )


def _cells(scores: pd.DataFrame) -> dict[tuple[Any, ...], tuple[str, str, str]]:
    """Find the cell of each repeat: from its evidence, else why it has none."""
    cells: dict[tuple[Any, ...], tuple[str, str, str]] = {}
    columns = ["suite", "case_id", "arm", "repeat", "verdict", "reason", "evidence"]
    for suite, case_id, arm, repeat, verdict, reason, evidence in zip(
        *(scores[name].tolist() for name in columns), strict=True
    ):
        key = (suite, case_id, arm, repeat)
        if isinstance(evidence, dict) and "truth" in evidence:
            cells[key] = (arm, evidence["truth"], evidence["claim"])
            continue
        why = reason.split(":")[0] if isinstance(reason, str) else "unknown"
        known = cells.get(key)
        unsaid = known is None or known[2] in _ROUTINE
        if unsaid:
            cells[key] = (arm, "no_signal" if verdict == "no_signal" else "not_applicable", why)
    return cells


def _claims_first(item: tuple[str, int]) -> tuple[int, str]:
    said = item[0]
    return (SAID.index(said) if said in SAID else len(SAID), said)


def _row(arm: str, happened: str, counts: dict[str, int]) -> list[dict[str, Any]]:
    total = sum(counts.values())
    return [
        {
            "arm": arm,
            "happened": happened,
            "said": said,
            "n": n,
            "share": n / total if total else float("nan"),
        }
        for said, n in counts.items()
    ]
