"""Export without a head: a report or a gate's decision as files for people and for other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from neverempty._errors import UsageError
from neverempty._io import write_atomic
from neverempty._suggest import did_you_mean
from neverempty.report.badge import badge_json
from neverempty.report.csv_export import csv_files
from neverempty.report.export_content import Content, Gated, content_of
from neverempty.report.html_page import page
from neverempty.report.job_summary import job_summary
from neverempty.report.json_export import export_json
from neverempty.report.junit import junit
from neverempty.report.markdown_fit import comment
from neverempty.report.model import Report

_WRITERS: Final[dict[str, tuple[str, Callable[[Content], str]]]] = {
    "html": ("report.html", page),
    "markdown": ("comment.md", comment),
    "summary": ("job_summary.md", job_summary),
    "junit": ("junit.xml", junit),
    "json": ("export.json", export_json),
}
FORMATS: Final = (*_WRITERS, "csv")
"""What can be chosen; the badge is always written."""

BADGE: Final = "badge.json"
_FOLDER: Final = "csv"
_FRAMES: Final = ("traces", "calls", "scores", "outcomes", "metrics", "flips", "left_out")


def export(
    subject: Report | Gated,
    out: str | os.PathLike[str],
    formats: Iterable[str] = FORMATS,
) -> dict[str, Path]:
    """Write a report, or a gate's decision about one, into a folder.

    Parameters
    ----------
    subject : Report or Decision
        What to export; a decision made from reports.
    out : path-like
        The folder; made where it does not exist. Each file is replaced in one step.
    formats : iterable of str
        Of ``html`` (one self-contained page), ``markdown`` (a comment below 100 lines), ``summary`` (a job
        summary under 1 MiB), ``junit``, ``json``, ``csv`` (a file per frame); all by default.

    Returns
    -------
    dict of str to pathlib.Path
        What was written. The ``badge`` always is: it says ``n/a`` while the rest is being written, and where
        no number was earned.

    Raises
    ------
    UsageError
        For an unknown format, or a decision about frames.

    Examples
    --------
    >>> import tempfile
    >>> from neverempty.cases import Case
    >>> from neverempty.report import evaluate
    >>> report = evaluate(lambda case, tracer: "Hello.", [Case(id="a", input={"payload": "Any jobs?"})])
    >>> written = export(report, tempfile.mkdtemp(), ["json"])
    >>> [path.name for path in written.values()]
    ['badge.json', 'export.json']
    """
    folder = Path(out)
    chosen = _known([formats] if isinstance(formats, str) else formats)
    withdraw_badge(folder)
    content = content_of(subject)
    written = {"badge": folder / BADGE}
    for name in chosen:
        if name == "csv":
            written |= _write_csv(content, folder / _FOLDER)
            continue
        file, writer = _WRITERS[name]
        write_atomic(folder / file, writer(content))
        written[name] = folder / file
    write_atomic(folder / BADGE, badge_json(content))
    return written


def withdraw_badge(out: str | os.PathLike[str]) -> None:
    """Make the badge say ``n/a``: an old number is worse than none.

    Parameters
    ----------
    out : path-like
        The folder of the export.
    """
    write_atomic(Path(out) / BADGE, badge_json(None))


def _known(formats: Iterable[str]) -> list[str]:
    chosen = list(dict.fromkeys(formats))
    for name in chosen:
        if name not in FORMATS:
            raise UsageError(f"export: there is no format {name!r}{did_you_mean(name, FORMATS)}")
    return chosen


def _write_csv(content: Content, folder: Path) -> dict[str, Path]:
    written = {}
    for name, text in csv_files(content):
        path = folder / f"{name}.csv"
        write_atomic(path, text)
        written[f"csv/{name}"] = path
    for name in _FRAMES:  # what an earlier export left and this one does not have
        if f"csv/{name}" not in written:
            (folder / f"{name}.csv").unlink(missing_ok=True)
    return written
