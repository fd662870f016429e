"""One self-contained HTML file: nothing from a network, no script, to read on screen and on paper."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Final

from neverempty.report.escape import html
from neverempty.report.export_content import Content, Section
from neverempty.report.html_parts import case_blocks, forest, table_block
from neverempty.report.tables import Table

_STATES: Final = {
    "broken": "bad",
    "no signal": "unsure",
    "partly": "unsure",
    "few cases": "unsure",
    "not asked": "plain",
    "ok": "good",
}
_FOLDED: Final = ("provenance",)
_MOST_OPEN: Final = 25
_LEAD: Final = 600


def page(content: Content) -> str:
    """Write an export as one HTML file.

    Parameters
    ----------
    content : Content
        What to write.

    Returns
    -------
    str
        The file. Its own policy forbids scripts, requests and any style but the one inside.
    """
    style = resources.files("neverempty.report").joinpath("export.css").read_text(encoding="utf-8")
    heading = content.heading
    links = "".join(f'<li><a href="#{one.key}">{html(one.title)}</a></li>' for one in content.sections)
    body = "\n".join(_section(content, one) for one in content.sections)
    code = "" if content.decision is None else f'<p class="code">exit code {content.decision.exit_code}</p>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html(heading.word)}: {html(heading.sentence, 120)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header class="{heading.tone}"><div>
<h1>{html(heading.word)}</h1>
<p class="lead">{html(heading.sentence, _LEAD)}</p>
{code}
</div></header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="main" tabindex="-1">
{body}
</main>
<footer><p>neverempty {html(content.report.provenance.get("package_version"))}</p></footer>
</body>
</html>
"""


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _table(table: Table, kinds: dict[str, str] | None) -> str:
    block = table_block(table, kinds)
    if len(table.rows) <= _MOST_OPEN or kinds:
        return block
    return f"<details><summary>{html(table.caption)}: {len(table.rows)} rows</summary>{block}</details>"


def _section(content: Content, section: Section) -> str:
    parts = [f"<p>{html(section.remark)}</p>"] if section.remark else []
    if section.key == "metrics":
        parts.append(forest(content.metrics))
    if section.key == "cases":
        parts.append(case_blocks(content.cases))
    else:
        kinds = _STATES if section.key == "health" else None
        parts += [_table(table, kinds) for table in section.tables]
    inner = "\n".join(part for part in parts if part)
    if section.key in _FOLDED:
        inner = f"<details><summary>Where these numbers come from</summary>\n{inner}\n</details>"
    title = f'<h2 id="h-{section.key}">{html(section.title)}</h2>'
    return f'<section id="{section.key}" aria-labelledby="h-{section.key}">\n{title}\n{inner}\n</section>'
