"""``neverempty compare``: two reports case by case, or the arms of one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neverempty._errors import UsageError
from neverempty.cli import exits

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "compare",
        help="compare two reports, or the arms of one, case by case",
        description=(
            "Compare two saved reports on the same cases: what got worse, what got better, with exact tests. "
            "With one report, compare its arms. Nothing is decided; `neverempty gate` does that."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "reports", nargs="+", metavar="FOLDER", help="baseline and candidate, or one report for its arms"
    )
    parser.add_argument("--metric", action="append", metavar="NAME", help="test this one; may be repeated")
    parser.add_argument("--arm", action="append", metavar="NAME", help="only this arm; may be repeated")
    parser.add_argument(
        "--pair", action="append", metavar="A:B", help="of one report, only these two arms; may be repeated"
    )
    parser.add_argument(
        "--allow-model",
        action="append",
        default=[],
        metavar="NAME",
        help="a model that only the candidate has",
    )
    return parser


def run(args: argparse.Namespace) -> int:
    """Load, compare, print."""
    from neverempty.cli.text import table_text
    from neverempty.gating import compare, compare_arms
    from neverempty.report import Report

    if len(args.reports) > 2:
        raise UsageError(f"compare takes a baseline and a candidate, or one report; got {len(args.reports)}")
    if args.pair and len(args.reports) == 2:
        raise UsageError("--pair is about the arms of one report; leave it out, or name one report")
    if len(args.reports) == 1 and (args.arm or args.allow_model):
        raise UsageError(
            "--arm and --allow-model are about two reports; name the arms of one with --pair A:B"
        )
    loaded = [Report.load(folder) for folder in args.reports]
    if len(loaded) == 1:
        pairs = None if args.pair is None else [_pair(text) for text in args.pair]
        tables = compare_arms(loaded[0], pairs, metrics=args.metric).tables()
    else:
        tables = compare(
            loaded[0], loaded[1], args.metric, arms=args.arm, allow_models=args.allow_model
        ).tables()
    print("\n\n".join(map(table_text, tables)))
    return exits.OK


def _pair(text: str) -> tuple[str, str]:
    first, colon, second = text.partition(":")
    if not (first and colon and second):
        raise UsageError(f"--pair {text!r} is no pair like typed:swallowed")
    return first, second
