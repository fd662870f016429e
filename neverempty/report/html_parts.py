"""Parts of the page that are more than a table: intervals as strips, answers with their words marked."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from neverempty.frames import SCHEMAS
from neverempty.report import numbers
from neverempty.report.escape import html
from neverempty.report.export_cases import CaseList, Said, Shown
from neverempty.report.json_export import shown_value
from neverempty.report.tables import Table

_GROUPS: Final = frozenset(column.name for column in SCHEMAS["metrics"].columns)
_CELL: Final = 500
_SHORT: Final = 32
_CLAIMS: Final = {"absence": "claims absence", "failure": "discloses the failure", "data": "reports data"}
_KEY: Final = (
    "Rates over cases. Mark and line: the rate and its 95 % interval, hollow below 50 cases, none below 10. "
    "Pale bar: where the rate would be had the unmeasured cases all gone one way."
)
_BAD: Final = ("misreport", "fabricated", "false_absence", "false_alarm", "ignored")
_UNMARKED: Final = ("no signal",)


def tone_of(label: str) -> str:
    """Name the looks of a label.

    Parameters
    ----------
    label : str
        As ``"misreport"``.

    Returns
    -------
    str
        A class of the style sheet.

    Examples
    --------
    >>> tone_of("misreport"), tone_of("no signal"), tone_of("reported")
    ('bad', 'unsure', 'good')
    """
    return "bad" if label in _BAD else "unsure" if label in _UNMARKED else "good"


def table_block(table: Table, kinds: dict[str, str] | None = None) -> str:
    """Write a table that scrolls by itself where the screen is narrow.

    Parameters
    ----------
    table : Table
        Plain text.
    kinds : dict of str to str, optional
        Looks of the first cell, by its text.

    Returns
    -------
    str
        HTML, every cell escaped.
    """
    head = "".join(f'<th scope="col">{html(name)}</th>' for name in table.header)
    body = "".join(f"<tr>{_row(row, kinds)}</tr>" for row in table.rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{html(table.caption)}"><table>'
        f"<caption>{html(table.caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: tuple[str, ...], kinds: dict[str, str] | None) -> str:
    first = html(row[0], _CELL)
    if kinds is not None:
        first = f'<span class="tag {kinds.get(row[0], "plain")}">{first}</span>'
    return f'<th scope="row">{first}</th>' + "".join(map(_cell, row[1:]))


def _cell(text: str) -> str:
    # short cells stay on one line, long ones keep enough width to be read
    kind = ' class="long"' if len(text) > _SHORT else ""
    return f"<td{kind}>{html(text, _CELL)}</td>"


def forest(metrics: pd.DataFrame) -> str:
    """Draw each rate with its interval and bounds, one strip a row.

    Parameters
    ----------
    metrics : DataFrame
        Metrics as far as they may be shown.

    Returns
    -------
    str
        HTML with inline SVG; empty where there is no rate.
    """
    rows = [row for row in metrics.to_dict("records") if not pd.isna(row["hits"]) and row["n_applicable"] > 0]
    if not rows:
        return ""
    groups = [str(name) for name in metrics.columns if name not in _GROUPS]
    strips = "".join(_strip(row, groups) for row in rows)
    scale = "".join(f"<span>{at} %</span>" for at in (0, 25, 50, 75, 100))
    return (
        f'<figure class="forest"><figcaption>{_KEY}</figcaption><ul>{strips}</ul>'
        f'<div class="scale" aria-hidden="true">{scale}</div></figure>'
    )


def _strip(row: dict[Any, Any], groups: list[str]) -> str:
    n, shown = int(row["n_measured"]), shown_value(row)
    between = numbers.interval(row["lo"], row["hi"], n)
    label = f"{shown} ({between})" if between else shown
    named = ", ".join(str(row[name]) for name in groups)
    name = html(str(row["metric"])) + (f" <small>{html(named)}</small>" if named else "")
    arrow = "lower is better" if str(row["direction"]) == "lower" else "higher is better"
    return (
        f'<li><span class="name">{name}</span>{_svg(row, n)}'
        f'<span class="rate">{html(label)}<small>n = {n:,}, {arrow}</small></span></li>'
    )


def _svg(row: dict[Any, Any], n: int) -> str:
    marks = [f'<line class="grid" x1="{at}%" x2="{at}%" y1="0" y2="22"/>' for at in (0, 25, 50, 75, 100)]
    if n >= numbers.FEW and not pd.isna(row["value"]):
        if row["n_no_signal"] and not pd.isna(row["bound_lo"]):
            lo, hi = row["bound_lo"], row["bound_hi"]
            marks.append(f'<rect class="bounds" x="{_at(lo)}" width="{_at(hi - lo)}" y="6" height="10"/>')
        if not pd.isna(row["lo"]):
            marks.append(f'<line class="range" x1="{_at(row["lo"])}" x2="{_at(row["hi"])}" y1="11" y2="11"/>')
        kind = "dot" if n >= numbers.ENOUGH else "dot hollow"
        marks.append(f'<circle class="{kind}" cx="{_at(row["value"])}" cy="11" r="5"/>')
    return f'<svg height="22" width="100%" aria-hidden="true" focusable="false">{"".join(marks)}</svg>'


def _at(share: float) -> str:
    return f"{share * 100:.2f}%"


def case_blocks(cases: CaseList) -> str:
    """Write the cases with the words of their answers marked.

    Parameters
    ----------
    cases : CaseList
        The cases.

    Returns
    -------
    str
        HTML, one folded block a case, the first ones open.
    """
    counts = "".join(
        f'<li><span class="tag {tone_of(label)}">{html(label)}</span> {n:,}</li>'
        for label, n in cases.labels.items()
    )
    key = ", ".join(f'<mark class="{name}">{text}</mark>' for name, text in _CLAIMS.items())
    more = ""
    if cases.total > len(cases.shown):
        more = f"<p>The {len(cases.shown)} worst of {cases.total:,} cases; the report's frames have all.</p>"
    blocks = "".join(_case(case, at < 3) for at, case in enumerate(cases.shown))
    return f'<ul class="counts">{counts}</ul><p class="key">In the answers: {key}.</p>{more}{blocks}'


def _case(case: Shown, is_open: bool) -> str:
    asked = (
        f'<dt>The user asked</dt><dd><p class="text">{html(case.question)}</p></dd>' if case.question else ""
    )
    tools = list(dict.fromkeys(said.tool for said in case.repeats))
    once = _tool(tools[0], "") if len(tools) == 1 else ""
    repeats = "".join(_said(said, len(case.repeats) > 1, len(tools) > 1) for said in case.repeats)
    name = f"<b>{html(case.case_id, _CELL)}</b>"
    where = f"{case.arm}, {case.kind}" if case.kind else case.arm
    return (
        f'<details class="case"{" open" if is_open else ""}><summary><span class="tag {tone_of(case.label)}">'
        f"{html(case.label)}</span> {name} <small>{html(where, _CELL)}</small></summary>"
        f"<dl>{asked}{once}{repeats}</dl></details>"
    )


def _tool(text: str, number: str) -> str:
    if not text:
        return ""
    return f'<dt>The tool said{number}</dt><dd><p class="text mono">{html(text)}</p></dd>'


def _said(said: Said, is_numbered: bool, has_tool: bool) -> str:
    number = f" <small>repeat {said.repeat}: {html(said.label)}</small>" if is_numbered else ""
    tool = _tool(said.tool, number) if has_tool else ""
    answer = "".join(_part(part.text, part.claim) for part in said.answer) or "<i>no answer</i>"
    reason = f'<p class="reason">No signal: {html(said.reason)}</p>' if said.reason else ""
    return f'{tool}<dt>The agent said{number}</dt><dd><p class="text">{answer}</p>{reason}</dd>'


def _part(text: str, claim: str) -> str:
    if not claim:
        return html(text)
    return f'<mark class="{claim}" title="{_CLAIMS[claim]}">{html(text)}</mark>'
