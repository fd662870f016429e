"""``neverempty init``: write a small set-up that runs at once and is made to be changed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from neverempty.cli import exits
from neverempty.cli.parser import shown

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands

FILES: Final = ("neverempty.toml", "target.py", "cases/orders.jsonl")


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "init",
        help="write a working set-up: configuration, cases, an agent to replace",
        description="Write a configuration, cases and an agent to replace; `neverempty run` runs at once.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", nargs="?", default=".", help="where to (default: here)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the files, or none of them where one is there already."""
    from importlib.resources import files
    from pathlib import Path

    from neverempty._errors import InputError, UsageError
    from neverempty._io import write_atomic

    folder = Path(args.folder)
    there = [shown(folder / name) for name in FILES if (folder / name).exists()]
    if there:
        raise UsageError(f"{', '.join(there)} exists already; nothing was written, name another folder")
    templates = files("neverempty.cli") / "templates"
    for name in FILES:
        try:
            write_atomic(folder / name, templates.joinpath(name).read_bytes())
        except OSError as error:
            raise InputError(
                f"{shown(folder / name)}: cannot be written: {error.strerror or error}"
            ) from None
        print(f"wrote {shown(folder / name)}")
    here = "" if folder.resolve() == Path.cwd() else f"cd {shown(folder)} && "
    print(f"now: {here}neverempty run")
    return exits.OK
