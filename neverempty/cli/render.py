"""``neverempty render``: a saved report, to read."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neverempty.cli import exits
from neverempty.cli.parser import shown

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "render",
        help="show a saved report",
        description="Show a saved report as Markdown, or as a fragment of HTML without scripts.",
        allow_abbrev=False,
    )
    parser.add_argument("report", metavar="FOLDER", help="where `neverempty run` or Report.save wrote it")
    parser.add_argument("--to", choices=["markdown", "html"], default="markdown", help="default: markdown")
    parser.add_argument("-o", "--out", metavar="FILE", help="write there instead of here")
    return parser


def run(args: argparse.Namespace) -> int:
    """Load, render, and print or write."""
    from neverempty._io import write_atomic
    from neverempty.report import Report

    report = Report.load(args.report)
    text = report.render(args.to)
    if args.out:
        write_atomic(args.out, text)
        print(f"wrote {shown(args.out)}")
    else:
        print(text, end="")
    return exits.of_report(report.status)
