"""An argparse parser that exits as the rest of the command line does."""

from __future__ import annotations

import argparse
import os
from typing import Final, NoReturn

from neverempty._errors import UsageError

DEFAULT_CONFIG: Final = "neverempty.toml"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are `UsageError`, so that all of them leave by one door."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Parameters
        ----------
        message : str
            What is wrong with it.

        Raises
        ------
        UsageError
            Always, naming the way to the command's help.
        """
        raise UsageError(f"{message}; see {self.prog} --help")


def whole(text: str, least: int = 1) -> int:
    """Read a whole number from the command line.

    Parameters
    ----------
    text : str
        What was typed.
    least : int, default 1
        The smallest number that makes sense.

    Returns
    -------
    int
        The number.

    Raises
    ------
    argparse.ArgumentTypeError
        For anything else.

    Examples
    --------
    >>> whole("3")
    3
    """
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}")
    return number


def natural(text: str) -> int:
    """Read a whole number from 0, as `whole` does."""
    return whole(text, 0)


def shown(path: str | os.PathLike[str]) -> str:
    """Write a path below the working directory as it is typed from here, another as it was given.

    Examples
    --------
    >>> shown(os.path.join(os.getcwd(), "results"))
    'results'
    """
    relative = os.path.relpath(path)
    return os.fspath(path) if relative.startswith(os.pardir) else relative


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Write a count with its noun.

    Parameters
    ----------
    n : int
        The count.
    noun, nouns : str
        What is counted; the plural has an ``s`` unless it is given.

    Returns
    -------
    str
        Both.

    Examples
    --------
    >>> plural(1, "case"), plural(2000, "case"), plural(2, "branch", "branches")
    ('1 case', '2,000 cases', '2 branches')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def add_case_arguments(parser: argparse.ArgumentParser) -> None:
    """Let a command take either files of cases or a configuration.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's parser; `neverempty.cli.suites.cases_of` reads what was given.
    """
    parser.add_argument("files", nargs="*", metavar="CASES", help="JSONL files; together they form one set")
    add_config_argument(parser)


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Let a command take a configuration.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's parser; its namespace carries the path as ``config``, None where none was named.
    """
    parser.add_argument(
        "-c", "--config", metavar="TOML", help=f"the configuration (default: {DEFAULT_CONFIG})"
    )
