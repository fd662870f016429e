"""``neverempty plan``: what a suite can tell, worked out before it is run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from neverempty.cli import exits
from neverempty.cli.parser import natural, whole

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands

_FACTORS = (
    ("--drop", "drop", "fall of the pass rate to be caught, as 0.05 for five points (default 0.05)"),
    ("--power", "power", "wanted chance to catch it (default 0.8)"),
    ("--flake", "flake", "chance that one call departs from what its case is meant to do (default 0)"),
    ("--churn", "churn", "share of cases that improve from version to version (default 0)"),
    ("--pass-rate", "pass_rate", "share of cases meant to pass (default 0.97)"),
    ("--limit", "limit", "limit of the failure rate"),
    ("--alpha", "alpha", "level of the gate's test (default 0.05)"),
    ("--max-unstable-rate", "max_unstable_rate", "share of unstable cases allowed (default 0.1)"),
)


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "plan",
        help="say before a run what a suite can tell: power, floors, the whole gate",
        description=(
            "Say before a run what it can tell. Give a number of cases, files of cases, or nothing for the "
            f"smallest size that is enough. Exits {exits.NOTHING_MEASURED} where such a run could never fail."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "suite", nargs="*", metavar="N|CASES", help="a number of cases, or JSONL files of a suite"
    )
    for flag, name, text in _FACTORS:
        parser.add_argument(flag, dest=name, type=float, metavar="SHARE", help=text)
    parser.add_argument("--floor", type=float, action="append", metavar="SHARE", help="may be repeated")
    parser.add_argument(
        "--limit-on",
        choices=["wilson", "clopper_pearson", "clopper_pearson_upper", "rate"],
        help="what is held against the limit (default: the upper end of Wilson's 95 %% interval)",
    )
    parser.add_argument("--repeats", type=whole, metavar="N", help="of each case (default 3)")
    parser.add_argument("--must-pass", type=natural, metavar="N", help="cases that must pass")
    parser.add_argument("--collapse", choices=["any_hit", "majority"], help="default: as the metric declares")
    parser.add_argument("--metrics", type=whole, metavar="N", help="gated metrics (default 1)")
    parser.add_argument("--metric", metavar="NAME", help="default: misreport_as_empty")
    parser.add_argument(
        "--report",
        action="append",
        metavar="FOLDER",
        help="an earlier report to estimate from; two show churn",
    )
    parser.add_argument("--arm", metavar="NAME", help="the reports' arm")
    return parser


def run(args: argparse.Namespace) -> int:
    """Plan, and print it."""
    from neverempty.planning import plan

    names = [name for _, name, _ in _FACTORS]
    names += ["floor", "limit_on", "repeats", "must_pass", "collapse", "metrics", "metric", "arm"]
    options: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if args.report:
        from neverempty.report import Report

        options["report"] = [Report.load(folder) for folder in args.report]
    found = plan(_suite(args.suite), **options)
    print(found)
    return exits.NOTHING_MEASURED if found.cannot_reject else exits.OK


def _suite(words: list[str]) -> Any:
    if not words:
        return None
    if len(words) == 1 and words[0].lstrip("-").isdecimal():
        return int(words[0])
    from neverempty.cases import load_cases

    return load_cases(*words)
