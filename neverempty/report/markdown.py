"""A report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neverempty.report.escape import markdown
from neverempty.report.export_judged import shown_metrics
from neverempty.report.judged_rates import JUDGED_REMARK, judged_table
from neverempty.report.reading import REMARK, reading_table
from neverempty.report.tables import Table, honesty_tables, metrics_table, provenance_rows

if TYPE_CHECKING:
    from neverempty.report.model import Report

_CELL = 300


def render_markdown(report: Report) -> str:
    """Render a report as Markdown: status, warnings, metrics, honesty table, provenance.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        The text, with a line feed at its end.
    """
    reason = f": {markdown(report.status_reason)}" if report.status_reason else ""
    judged = report.judged
    parts = [
        "# Report",
        f"**{markdown(report.status)}**{reason}",
        *(f"Warning: {markdown(text)}" for text in report.warnings),
        table_markdown(metrics_table(shown_metrics(report))),
        *map(table_markdown, honesty_tables(report)),
        table_markdown(reading_table(report.corrected)),
        REMARK,
        *([table_markdown(judged_table(judged)), JUDGED_REMARK] if len(judged) else []),
        table_markdown(provenance_rows(report.provenance)),
    ]
    return "\n\n".join(parts) + "\n"


def table_markdown(table: Table, level: int = 2) -> str:
    r"""Render one table as Markdown, its caption as a heading.

    Parameters
    ----------
    table : Table
        Plain text.
    level : int, default 2
        Level of the heading.

    Returns
    -------
    str
        The table, every cell escaped.

    Examples
    --------
    >>> print(table_markdown(Table("T", ("a", "b"), [("1", "x|y")])))
    ## T
    <BLANKLINE>
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    lines = [
        f"{'#' * level} {markdown(table.caption)}",
        "",
        _line(table.header),
        "|---" * len(table.header) + "|",
    ]
    lines += [_line(row) for row in table.rows]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(markdown(cell, _CELL) for cell in cells) + " |"
