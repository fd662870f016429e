"""A report as plain text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from neverempty.report.escape import plain
from neverempty.report.export_judged import shown_metrics
from neverempty.report.tables import Table, honesty_tables, metrics_table
from neverempty.report.text import text_table

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.cases import Case
    from neverempty.report import Report

_CELL = 110
_MOST_BROKEN = 5


def report_text(report: Report) -> str:
    """Write what a report found: its status, its metrics, what happened × what was said.

    Parameters
    ----------
    report : Report
        The report; where it comes from is in the other renderings.

    Returns
    -------
    str
        Text without control characters.
    """
    reason = f": {plain(report.status_reason)}" if report.status_reason else ""
    tables = [metrics_table(shown_metrics(report)), *honesty_tables(report)]
    if broken := _broken(report.traces):
        tables.append(Table("What broke", ("repeats", "status", "why"), broken))
    head = "\n".join([f"{report.status}{reason}", *(f"warning: {plain(text)}" for text in report.warnings)])
    return "\n\n".join([head, *(table_text(table) for table in tables)])


def unfired(traces: pd.DataFrame, cases: Iterable[Case]) -> str | None:
    """Say why no fault reached the agent, where none did.

    Parameters
    ----------
    traces : DataFrame
        The traces.
    cases : iterable of Case
        The cases that were run.

    Returns
    -------
    str or None
        The tools that the cases name and those that were called; None where a fault fired or none was to.
    """
    planned = {fault.tool for case in cases for fault in case.faults if fault.kind not in ("none", "empty")}
    failing = traces[~traces["fault_kind"].isin(["none", "empty"])]
    if not planned or not len(failing) or failing["fault_state"].isin(["fired", "seen"]).any():
        return None
    called = {call.tool for calls in traces["calls"] for call in calls}
    return (
        f"no fault fired, so nothing is known about failures: the cases let {_names(planned)} fail, the "
        f"agent called {_names(called) or 'no tool'}"
    )


def _names(tools: Iterable[str]) -> str:
    return ", ".join(repr(plain(tool)) for tool in sorted(tools))


def _broken(traces: pd.DataFrame) -> list[tuple[str, ...]]:
    """List the most frequent ways in which repeats broke."""
    broken = traces[traces["status"] != "ok"]
    why = broken["error_message"].fillna(broken["terminal_reason"])
    counts = Counter(zip(broken["status"].tolist(), why.tolist(), strict=True))
    return [(f"{n:,}", status, text) for (status, text), n in counts.most_common(_MOST_BROKEN)]


def table_text(table: Table) -> str:
    """Write a table of a report for a terminal.

    Parameters
    ----------
    table : Table
        Plain text.

    Returns
    -------
    str
        Its caption and its columns, without control characters.

    Examples
    --------
    >>> print(table_text(Table("Flips", ("case", "change"), [("a", "regressed")])).splitlines()[0])
    Flips
    """
    rows = [[plain(cell, _CELL).replace("\n", " ") for cell in row] for row in table.rows]
    return f"{table.caption}\n\n{text_table(table.header, rows)}"
