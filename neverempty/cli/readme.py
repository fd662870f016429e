"""``neverempty readme``: the numbers of a README, generated from committed reports."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neverempty._errors import InputError
from neverempty.cli import exits
from neverempty.cli.parser import shown

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands
    from neverempty.report.readme_numbers import Source

_RECORDING: Final = "recording.jsonl"


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "readme",
        help="generate the numbers of a README from committed reports",
        description=(
            "Print the numbers that stand between <!-- numbers:start --> and <!-- numbers:end --> of a "
            "README. A report is a folder of Report.save, or one with the recording of `neverempty demo "
            "--model local`, which is replayed."
        ),
        epilog="exit codes: 0 up to date, 4 stale or invalid, 64 usage",
        allow_abbrev=False,
    )
    parser.add_argument("reports", nargs="+", metavar="FOLDER", help="a committed report")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", metavar="FILE", help="fail where this file's numbers are not those")
    what.add_argument("--write", metavar="FILE", help="put them into this file")
    return parser


def run(args: argparse.Namespace) -> int:
    """Read the reports; print, check or write."""
    from neverempty._io import write_atomic
    from neverempty.report.readme_numbers import region, replaced

    text = region([_source(Path(folder)) for folder in args.reports])
    file = args.check or args.write
    if file is None:
        print(text, end="")
        return exits.OK
    try:
        old = Path(file).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{shown(file)}: cannot be read ({type(error).__name__})") from None
    new = replaced(old, text, shown(file))
    if args.write:
        write_atomic(file, new)
        print(f"wrote {shown(file)}")
    elif new != old:
        command = shlex.join(["neverempty", "readme", *args.reports, "--write", file])
        raise InputError(f"{shown(file)}: its numbers are not those of the reports; run: {command}")
    else:
        print(f"{shown(file)}: up to date")
    return exits.OK


def _source(folder: Path) -> Source:
    from neverempty.report import Report
    from neverempty.report.files import INDEX
    from neverempty.report.readme_numbers import source_of

    if not (folder / INDEX).exists() and (folder / _RECORDING).is_file():
        return _replayed(folder)
    return source_of(Report.load(folder), folder.as_posix())


def _replayed(folder: Path) -> Source:
    """Score a recording of the local model anew: its failed tools under every presentation and prompt."""
    from neverempty.demo.local import replay_local
    from neverempty.demo.local_plan import parts
    from neverempty.report.readme_numbers import Source

    (part,) = (part for part in parts() if part.name == "errors")
    result = replay_local(folder / _RECORDING, names=[part.name])
    (rules,) = result.scores["pattern_version"].dropna().unique().tolist()
    arms = tuple(
        {"name": arm.name, "presentation": arm.presentation, "prompt": arm.prompt} for arm in part.arms
    )
    cases = len(result.traces[["suite", "case_id"]].drop_duplicates())
    return Source(folder.as_posix(), result.metrics, arms, cases, part.repeats, (result.model,), rules)
