"""Markdown of an export, made to fit: a comment, a job summary. What is left out is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from neverempty.report.escape import markdown
from neverempty.report.export_content import Content, Section
from neverempty.report.markdown import table_markdown
from neverempty.report.numbers import count
from neverempty.report.tables import Table

_CAPS: Final = (20, 12, 8, 6)
_MOST_SENTENCE: Final = 500
# What goes first where short tables are still too much; the verdict is never left out.
_SPARED: Final = ("details", "provenance", "health", "cases", "unmeasured", "changes", "honesty", "metrics")
_MARKS: Final = {"good": "\u2705", "bad": "\u274c", "unsure": "\u26a0\ufe0f", "plain": "\U0001f4cf"}


def fitted(content: Content, fits: Callable[[str], bool], caps: tuple[int, ...], head: str = "") -> str:
    """Write an export as Markdown, with fewer rows and fewer sections until it fits.

    Parameters
    ----------
    content : Content
        What to write.
    fits : callable
        Says whether a text is small enough.
    caps : tuple of int
        Most rows of a table, tried in this order before another section goes.
    head : str
        Put before everything.

    Returns
    -------
    str
        The first text that fits, or the shortest.
    """
    text = ""
    for rows, left_out in _tries(caps):
        text = head + _write(content, rows, left_out)
        if fits(text):
            break
    return text


def _tries(caps: tuple[int, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for gone in range(len(_SPARED) + 1):
        for rows in caps:
            yield rows, _SPARED[:gone]
    for rows in range(caps[-1] - 1, -1, -1):
        yield rows, _SPARED


def _write(content: Content, rows: int, left_out: tuple[str, ...]) -> str:
    heading = content.heading
    parts = [f"# {_MARKS[heading.tone]} {heading.word}", markdown(heading.sentence, _MOST_SENTENCE)]
    kept = [section for section in content.sections if section.key not in left_out]
    parts += [_section(section, rows) for section in kept]
    gone = [section.title for section in content.sections if section.key in left_out]
    if gone:
        parts.append(f"_Trimmed for size. Left out: {', '.join(gone)}. The HTML report has them._")
    parts.append(_origin(content))
    return "\n\n".join(parts) + "\n"


def _origin(content: Content) -> str:
    """Say in one line where the numbers come from, whatever else is left out."""
    known = content.report.provenance
    git = known.get("git") or {}
    facts = [
        f"{known.get('n_cases')} cases \u00d7 {known.get('repeats')} repeats",
        f"models: {', '.join(known.get('resolved_models') or ()) or 'not known'}",
        f"reading rules {known.get('pattern_version')}",
        f"commit {str(git.get('sha') or 'not known')[:12]}",
        f"neverempty {known.get('package_version')}",
    ]
    return f"<sub>{markdown('; '.join(facts), _MOST_SENTENCE)}</sub>"


def _section(section: Section, rows: int) -> str:
    parts = [f"_{markdown(section.remark)}_"] if section.remark else []
    parts += [_capped(table, rows) for table in section.tables]
    if not section.tables:
        parts.insert(0, f"## {section.title}")
    return "\n\n".join(parts)


def _capped(table: Table, rows: int) -> str:
    more = len(table.rows) - rows
    text = table_markdown(table._replace(rows=table.rows[:rows]))
    return f"{text}\n\n_{count(more, 'more row')} in the HTML report._" if more > 0 else text


def comment(content: Content) -> str:
    """Write a comment for a pull request: below 100 lines, with a marker by which it is replaced.

    Parameters
    ----------
    content : Content
        What to write.

    Returns
    -------
    str
        Markdown that begins with `MARKER`.
    """
    return fitted(content, _is_comment, _CAPS, f"{MARKER}\n")


MARKER: Final = "<!-- neverempty:report -->"
"""Hidden first line of a comment: whoever posts it looks for it and replaces the old comment."""

MOST_LINES: Final = 99
_MOST_CHARACTERS: Final = 60_000  # a comment may have 65,536


def _is_comment(text: str) -> bool:
    return text.count("\n") <= MOST_LINES and len(text) <= _MOST_CHARACTERS
