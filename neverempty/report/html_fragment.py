"""A report as an HTML fragment, for notebooks: no script, no style sheet, nothing from a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neverempty.report.escape import html
from neverempty.report.export_judged import shown_metrics
from neverempty.report.judged_rates import JUDGED_REMARK, judged_table
from neverempty.report.reading import REMARK, reading_table
from neverempty.report.tables import Table, honesty_tables, metrics_table, provenance_rows

if TYPE_CHECKING:
    from neverempty.report.model import Report

_CELL = 500


def render_html(report: Report) -> str:
    """Render a report as an HTML fragment: status, warnings, metrics, honesty table, provenance folded away.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        The fragment.
    """
    reason = f": {html(report.status_reason)}" if report.status_reason else ""
    return "\n".join(
        (
            '<div class="neverempty-report">',
            f"<p><strong>{html(report.status)}</strong>{reason}</p>",
            *(f"<p>Warning: {html(text)}</p>" for text in report.warnings),
            table_html(metrics_table(shown_metrics(report))),
            *map(table_html, honesty_tables(report)),
            "<details><summary>The reader's error</summary>",
            table_html(reading_table(report.corrected)),
            f"<p>{html(REMARK)}</p></details>",
            *_judged(report),
            "<details><summary>Provenance</summary>",
            table_html(provenance_rows(report.provenance)),
            "</details>",
            "</div>",
        )
    )


def _judged(report: Report) -> list[str]:
    judged = report.judged
    if judged.empty:
        return []
    table = table_html(judged_table(judged))
    return ["<details><summary>The judge's error</summary>", table, f"<p>{html(JUDGED_REMARK)}</p></details>"]


def table_html(table: Table) -> str:
    """Render one table as HTML.

    Parameters
    ----------
    table : Table
        Plain text.

    Returns
    -------
    str
        A ``table`` with caption and header cells, every cell escaped.

    Examples
    --------
    >>> table_html(Table("T", ("a",), [("<b>",)])).partition("<tbody>")[2]
    '<tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{html(cell)}</th>' for cell in table.header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html(cell, _CELL)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f"<table><caption>{html(table.caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
