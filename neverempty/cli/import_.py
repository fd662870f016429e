"""``neverempty import``: traces that an agent in another language wrote, checked and scored."""

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
        "import",
        help="check and score traces that another program wrote",
        description=(
            "Check traces in the project's own format against their cases, score them, save a report. "
            "They are refused where they cannot support a number."
        ),
        epilog="exit codes: 0 complete, 3 nothing measured, 4 refused or not whole, 64 usage, 70 internal",
        allow_abbrev=False,
    )
    parser.add_argument("traces", metavar="TRACES", help="a JSONL file, one trace a line")
    parser.add_argument(
        "--cases", nargs="+", required=True, metavar="CASES", help="JSONL files of the cases that were run"
    )
    parser.add_argument(
        "--error-ceiling",
        type=float,
        default=0.10,
        metavar="SHARE",
        help="largest share of traces that may not have ended well (default: 0.10)",
    )
    parser.add_argument(
        "--trust-text",
        action="store_true",
        help="take a tool result whose text alone tells of a failure for a failure",
    )
    parser.add_argument("--out", metavar="DIR", default="results", help="where to save (default: results)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Read, check, score, save and print."""
    from neverempty.cases import load_cases
    from neverempty.cli.text import report_text
    from neverempty.importers import import_traces

    report = import_traces(
        args.traces,
        load_cases(*args.cases),
        error_ceiling=args.error_ceiling,
        trust_text=args.trust_text,
    )
    report.save(args.out)
    print(report_text(report))
    for note, n in report.provenance["imported"]["notes"].items():
        print(f"note: {note}: {n}")
    print(f"\nreport: {shown(args.out)}")
    # more errors than the ceiling allows were refused above
    return exits.OK if report.status == "partial_errors" else exits.of_report(report.status)
