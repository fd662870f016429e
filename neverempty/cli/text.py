"""A report as plain text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neverempty.demo.render import text_table
from neverempty.report.escape import plain
from neverempty.report.tables import Table, honesty_rows, metrics_table

if TYPE_CHECKING:
    from neverempty.report import Report

_CELL = 80


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
    tables = (metrics_table(report.metrics), honesty_rows(report.honesty))
    return "\n\n".join([f"{report.status}{reason}", *(_table_text(table) for table in tables)])


def _table_text(table: Table) -> str:
    rows = [[plain(cell, _CELL).replace("\n", " ") for cell in row] for row in table.rows]
    return f"{table.caption}\n\n{text_table(table.header, rows)}"
