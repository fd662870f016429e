"""``neverempty validate``: every bad line of cases and configuration, and the frozen split's hash."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neverempty.cli import exits
from neverempty.cli.parser import add_case_arguments

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "validate",
        help="check cases, or the whole configuration, and name every bad line",
        description="Check files of cases; without files, the configuration and all that it names.",
        allow_abbrev=False,
    )
    add_case_arguments(parser)
    parser.add_argument(
        "--expect-split-hash", metavar="HASH", help="fail unless the test split has this hash"
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Check, and say what was found."""
    from neverempty._errors import InputError
    from neverempty.cli.suites import cases_of, check_split_hash

    cases = cases_of(args)
    print(f"sound: {cases!r}")
    print(f"test split hash: {cases.split_hash()}")
    if args.expect_split_hash is not None and (wrong := check_split_hash(cases, args.expect_split_hash)):
        raise InputError(wrong)
    return exits.OK
