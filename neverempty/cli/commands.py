"""The commands, in the order in which ``neverempty --help`` lists them.

A command is a module with two functions: ``add_parser(commands)`` adds its parser to argparse's sub-parsers
and returns it, ``run(args)`` does the work and returns an exit code. Its module level imports nothing heavy,
since every module here is loaded for ``--help``.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final, Protocol

from neverempty.cli import (
    baseline,
    compare,
    coverage,
    demo,
    export,
    gate,
    import_,
    init,
    judge,
    plan,
    reader,
    readme,
    render,
    run,
    validate,
)

if TYPE_CHECKING:
    from neverempty.cli.parser import Parser

    Commands = argparse._SubParsersAction[Parser]


class Command(Protocol):
    """What a module of a command offers; its own name is the command's."""

    __name__: str

    def add_parser(self, commands: Commands) -> argparse.ArgumentParser:
        """Add the command's parser and return it."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work and return the exit code."""


COMMANDS: Final[tuple[Command, ...]] = (
    demo,
    init,
    validate,
    coverage,
    plan,
    run,
    import_,
    compare,
    gate,
    baseline,
    render,
    export,
    readme,
    reader,
    judge,
)
