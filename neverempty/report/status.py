"""The status of a report, fail-closed: anything but a whole run that measured something has another name."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from neverempty.frames import SCHEMAS
from neverempty.frames.arrays import make_array
from neverempty.report.numbers import WITHHELD
from neverempty.scorers import UsageScorer
from neverempty.stats import max_unstable_cases

ReportStatus = Literal[
    "ok", "no_cases", "nothing_measured", "partial_errors", "budget_stopped", "interrupted", "incomplete"
]

# Time and money are known of repeats that say nothing about the agent.
_OF_THE_RUN: Final = tuple(spec.name for spec in UsageScorer.metrics)
_BROKEN: Final = ("agent_error", "agent_timeout", "cancelled", "replay_miss", "harness_error")
# A failed recovery is counted, and is nobody's failure.
_DESCRIPTIVE: Final = ("recovered",)

_NUMBERS: Final = (
    "value",
    "lo",
    "hi",
    "bound_lo",
    "bound_hi",
    "per_answer",
    "per_answer_lo",
    "per_answer_hi",
    "unstable_rate",
)

ERROR_BUDGET: Final = 0.10
"""Share of repeats that may break before a report is ``partial_errors``."""


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
        missing), ``nothing_measured``, ``partial_errors`` (more than a tenth of the repeats broke), ``ok``.

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
    broken = sum(int(counts.get(status, 0)) for status in _BROKEN)
    if broken > max_unstable_cases(len(traces), ERROR_BUDGET):
        return Status("partial_errors", f"{broken} of {len(traces)} repeats broke{_broken(counts)}")
    return Status("ok")


def allows_numbers(status: str) -> bool:
    """Say whether a report of that status has earned its numbers.

    Parameters
    ----------
    status : str
        As a report carries it.

    Returns
    -------
    bool
        True for ``ok`` alone: a number over the part that happened to run is no number of the suite.

    Examples
    --------
    >>> allows_numbers("ok"), allows_numbers("interrupted")
    (True, False)
    """
    return status == "ok"


def earned(metrics: pd.DataFrame, status: str) -> pd.DataFrame:
    """Take the numbers out of a metrics frame that a report has not earned.

    Parameters
    ----------
    metrics : DataFrame
        What `summarize` returned.
    status : str
        The report's.

    Returns
    -------
    DataFrame
        The same frame where the status allows numbers. Else rates, intervals, bounds and hits are missing,
        the counts of cases stay, and each row that had a number is ``withheld``.

    Examples
    --------
    >>> from neverempty.frames import build_frame
    >>> row = {"metric": "route", "direction": "higher", "n_cases": 9, "n_applicable": 9, "n_measured": 9,
    ...        "n_no_signal": 0, "hits": 9, "value": 1.0, "lo": 0.7, "hi": 1.0, "bound_lo": 1.0,
    ...        "bound_hi": 1.0, "per_answer": 1.0, "method": "wilson", "unstable_rate": 0.0, "status": "ok",
    ...        "note": None}
    >>> kept = earned(build_frame("metrics", {name: [value] for name, value in row.items()}), "interrupted")
    >>> kept[["n_measured", "value", "status"]].to_dict("records")
    [{'n_measured': 9, 'value': nan, 'status': 'withheld'}]
    """
    if allows_numbers(status):
        return metrics
    frame = metrics.copy()
    had = frame["value"].notna()
    for name in _NUMBERS:
        if name in frame.columns:
            frame[name] = np.nan
    frame["hits"] = pd.array([pd.NA] * len(frame), dtype="Int64")
    states = [WITHHELD if some else state for some, state in zip(had, frame["status"], strict=True)]
    frame["status"] = make_array(SCHEMAS["metrics"].column("status"), states)
    return frame


def ceiling(outcomes: pd.DataFrame) -> str | None:
    """Warn where every case passes everything, so that no better agent could show.

    Parameters
    ----------
    outcomes : DataFrame
        What `collapse` returned.

    Returns
    -------
    str or None
        None where any check failed, or nothing was measured.

    Examples
    --------
    >>> from neverempty.frames import build_frame
    >>> ceiling(build_frame("outcomes", {c.name: [] for c in SCHEMAS["outcomes"].columns}))
    """
    rates = ~outcomes["metric"].isin((*_OF_THE_RUN, *_DESCRIPTIVE))
    verdicts = outcomes.loc[rates, "verdict"]
    if not (verdicts == "pass").any() or (verdicts == "fail").any():
        return None
    keys = ["suite", "case_id", "arm"]
    n = len(outcomes.loc[rates & (outcomes["verdict"] == "pass"), keys].drop_duplicates())
    return f"{n:,} of {n:,}: every measured case passes every check; this suite cannot rank two agents"


def _of(n_expected: int | None) -> str:
    return "" if n_expected is None else f"of {n_expected} "


def _broken(counts: pd.Series[int]) -> str:
    found = [f"{status} {counts[status]}" for status in _BROKEN if counts.get(status, 0)]
    return f": {', '.join(found)}" if found else ""
