"""The status of a report, fail-closed: anything but a whole run that measured something has another name."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import pandas as pd

from neverempty.scorers import UsageScorer

ReportStatus = Literal[
    "ok", "no_cases", "nothing_measured", "partial_errors", "budget_stopped", "interrupted", "incomplete"
]

# Time and money are known of repeats that say nothing about the agent.
_OF_THE_RUN: Final = tuple(spec.name for spec in UsageScorer.metrics)
_BROKEN: Final = ("agent_error", "agent_timeout", "cancelled", "replay_miss", "harness_error")


class Status(NamedTuple):
    """A report's status and the sentence that explains it.

    Parameters
    ----------
    status : str
        One of the statuses.
    reason : str
        One sentence; empty for ``ok``.
    """

    status: ReportStatus
    reason: str = ""


def status_of(
    traces: pd.DataFrame, metrics: pd.DataFrame, *, n_cases: int, n_expected: int | None, interrupted: bool
) -> Status:
    """Tell a report's status; of several that hold, the first of the list counts.

    Parameters
    ----------
    traces, metrics : DataFrame
        The report's frames.
    n_cases : int
        Cases in the suite.
    n_expected : int or None
        Repeats that the run should have; None where nobody knows.
    interrupted : bool
        Whether the run was interrupted.

    Returns
    -------
    Status
        In this order: ``no_cases``, ``interrupted``, ``budget_stopped``, ``incomplete`` (repeats are
        missing), ``nothing_measured``, ``partial_errors`` (some repeats broke), ``ok``.

    Examples
    --------
    >>> from neverempty.frames import build_frame, traces_frame
    >>> from neverempty.frames.schema import SCHEMAS
    >>> metrics = build_frame("metrics", {c.name: [] for c in SCHEMAS["metrics"].columns})
    >>> status_of(traces_frame([]), metrics, n_cases=0, n_expected=0, interrupted=False).status
    'no_cases'
    """
    if n_cases == 0:
        return Status("no_cases", "the suite has no case")
    counts = traces["status"].value_counts()
    if interrupted:
        return Status("interrupted", f"the run was interrupted after {len(traces)} {_of(n_expected)}repeats")
    stopped = int(counts.get("budget_stopped", 0))
    if stopped:
        return Status(
            "budget_stopped", f"the budget was reached: {stopped} of {len(traces)} repeats never ran"
        )
    if n_expected is not None and len(traces) < n_expected:
        return Status("incomplete", f"{n_expected - len(traces)} of {n_expected} repeats are missing")
    if not (metrics["n_measured"] > 0)[~metrics["metric"].isin(_OF_THE_RUN)].any():
        return Status("nothing_measured", f"none of {len(traces)} repeats could be scored{_broken(counts)}")
    if any(counts.get(status, 0) for status in _BROKEN):
        return Status("partial_errors", f"some of {len(traces)} repeats broke{_broken(counts)}")
    return Status("ok")


def _of(n_expected: int | None) -> str:
    return "" if n_expected is None else f"of {n_expected} "


def _broken(counts: pd.Series[int]) -> str:
    found = [f"{status} {counts[status]}" for status in _BROKEN if counts.get(status, 0)]
    return f": {', '.join(found)}" if found else ""
