"""What a reader of one metric's row must know, in words."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np
import pandas as pd

from neverempty.metrics.groups import Groups
from neverempty.reader import measured_fabrication

# Reasons that say no more than that a metric is about other cases.
_ROUTINE: Final = frozenset(
    {"the tool failed", "the tool worked", "no_expectation", "other_mode", "no_usage", "no_structured_output"}
)


def reason_notes(outcomes: pd.DataFrame, groups: Groups) -> list[list[str]]:
    """Count the reasons of the cases that were not measured.

    Parameters
    ----------
    outcomes : DataFrame
        Columns verdict and reason.
    groups : Groups
        Their groups.

    Returns
    -------
    list of list of str
        Per group, e.g. ``["without signal: agent_timeout 2", "apart: recovered 1"]``.
    """
    notes: list[list[str]] = [[] for _ in range(groups.count)]
    for verdict, words, skipped in (
        ("no_signal", "without signal", frozenset[str]()),
        ("not_applicable", "apart", _ROUTINE),
    ):
        chosen = (outcomes["verdict"] == verdict).to_numpy()
        reasons = outcomes["reason"].to_numpy(dtype=object)[chosen]
        counts: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for group, reason in zip(groups.ids[chosen].tolist(), reasons.tolist(), strict=True):
            text = reason.split(":")[0] if isinstance(reason, str) else "unknown"
            if text not in skipped:
                counts[group][text] += 1
        for group, found in counts.items():
            listed = sorted(found.items(), key=lambda item: (-item[1], item[0]))
            notes[group].append(f"{words}: " + ", ".join(f"{text} {count}" for text, count in listed))
    return notes


def repeat_notes(measured: pd.Series[int], groups: Groups, collapse: list[str]) -> list[str | None]:
    """Say how many repeats stand behind an any-hit rate: it grows with their number.

    Parameters
    ----------
    measured : Series of int
        Measured repeats of each case.
    groups : Groups
        Their groups.
    collapse : list of str
        How each group's metric is collapsed.

    Returns
    -------
    list of str or None
        None where there is one repeat, or nothing to explain.
    """
    counts = measured.to_numpy()
    most = np.zeros(groups.count, dtype=np.int64)
    np.maximum.at(most, groups.ids, counts)
    least = np.full(groups.count, np.iinfo(np.int64).max)
    seen = counts > 0
    np.minimum.at(least, groups.ids[seen], counts[seen])
    return [
        _repeats(int(lo), int(hi)) if how == "any_hit" and hi > 1 else None
        for how, lo, hi in zip(collapse, least.tolist(), most.tolist(), strict=True)
    ]


def _repeats(least: int, most: int) -> str:
    k = f"{most}" if least == most else f"{least} to {most}"
    return f"any-hit over {k} repeats"


def fabrication_notes(head: pd.DataFrame) -> list[str | None]:
    """Say how often `fabricated` was right on labelled answers.

    Parameters
    ----------
    head : DataFrame
        A row of each group of outcomes, with metric and scorer_version.

    Returns
    -------
    list of str or None
        A sentence beside each row of `fabricated` of the failure scorer; it begins with ``hint:`` where the
        precision is below 0.8 or unknown.
    """
    if "scorer_version" not in head.columns:
        return [None] * len(head)
    return [
        measured_fabrication(version).sentence
        if metric == "fabricated" and isinstance(version, str) and version.startswith("failure/")
        else None
        for metric, version in zip(head["metric"].tolist(), head["scorer_version"].tolist(), strict=True)
    ]
