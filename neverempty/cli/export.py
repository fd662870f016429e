"""``neverempty export``: a saved report as files for people and for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from neverempty.cli import exits
from neverempty.cli.parser import shown

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands
    from neverempty.report import Report
    from neverempty.report.export_content import Gated

FORMATS: Final = ("html", "markdown", "summary", "junit", "json", "csv")


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "export",
        help="write a saved report as HTML, Markdown, JUnit, JSON, CSV and a badge",
        description=(
            "Write a saved report into a folder: report.html (one self-contained page), comment.md (for a "
            "pull request), job_summary.md, junit.xml, export.json, csv/ and badge.json. The badge is "
            "written anew every time, and reads n/a where no number was earned."
        ),
        epilog="exit codes: 0 complete, 3 nothing measured, 4 not whole, 64 usage, 70 internal error",
        allow_abbrev=False,
    )
    parser.add_argument("report", metavar="FOLDER", help="where `neverempty run` or Report.save wrote it")
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write")
    parser.add_argument(
        "--format", action="append", choices=FORMATS, help="only this one; may be repeated; default: all"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Withdraw the old badge, load, write."""
    from neverempty.report import Report
    from neverempty.report.export import withdraw_badge

    withdraw_badge(args.out)  # before anything can go wrong: an old number is worse than none
    report = Report.load(args.report)
    write(report, args.out, args.format or FORMATS)
    return exits.of_report(report.status)


def write(subject: Report | Gated, out: str, formats: Iterable[str] = FORMATS) -> None:
    """Export, and print where to.

    Parameters
    ----------
    subject : Report or Decision
        What to export.
    out : str
        The folder.
    formats : iterable of str
        As in `neverempty.report.export.export`.
    """
    from neverempty.report.export import export

    written = export(subject, out, formats)
    print(f"wrote {len(written)} files to {shown(out)}")
