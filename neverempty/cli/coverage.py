"""``neverempty coverage``: cases per branch against what a number needs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neverempty.cli import exits
from neverempty.cli.parser import add_case_arguments, plural

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "coverage",
        help="count the cases in every branch against what a number needs",
        description=(
            "Count the cases per suite, fault kind and language against what a number needs: below 10 no "
            f"rate is shown, below 50 it is only indicative. Exits {exits.INVALID} where a branch is short."
        ),
        allow_abbrev=False,
    )
    add_case_arguments(parser)
    parser.add_argument(
        "--need",
        type=float,
        default=50,
        metavar="N",
        help="cases per branch; a limit, as 0.02, stands for the cases that it takes to show it (default 50)",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="FIELD",
        help="what makes a branch; may be repeated (default: suite, fault_kind and language)",
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Print one line per branch."""
    from neverempty.cases.coverage import coverage
    from neverempty.cli.suites import cases_of

    branches = {"by": args.by} if args.by else {}
    rows = coverage(cases_of(args), need=args.need, **branches)
    print(rows.to_string(index=False))
    short = int((rows["status"] == "short").sum())
    if short:
        missing = plural(int(rows["missing"].sum()), "case")
        print(f"{plural(short, 'branch', 'branches')} of {len(rows)} short, by {missing} together")
        return exits.INVALID
    print(f"every branch has its {int(rows['need'].iloc[0])} cases")
    return exits.OK
