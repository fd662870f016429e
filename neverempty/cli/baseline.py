"""``neverempty baseline``: what candidates are held against."""

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
        "baseline",
        help="make a reviewed report the baseline",
        description="Keep the report that candidates are held against.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    promote = actions.add_parser(
        "promote",
        help="put a reviewed report in the baseline's place",
        description=(
            "Put a reviewed report in the baseline's place, in one step, and note who did it and when. Only "
            "a whole report with the status ok can be a baseline."
        ),
        allow_abbrev=False,
    )
    promote.add_argument("report", metavar="FOLDER", help="the report that was reviewed")
    promote.add_argument(
        "--to", default="baseline", metavar="FOLDER", help="the baseline's folder (default: baseline)"
    )
    promote.add_argument("--by", metavar="NAME", help="who reviewed it (default: the user's login name)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Promote, and say what was noted."""
    import getpass

    from neverempty.gating import promote

    noted = promote(args.report, args.to, by=args.by or getpass.getuser())
    before = "" if noted.previous_sha256 is None else f", in the place of {noted.previous_sha256[:12]}"
    print(
        f"{shown(args.to)}: report {noted.report_sha256[:12]}, promoted by {noted.by} at {noted.at}{before}"
    )
    return exits.OK
