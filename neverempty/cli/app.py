"""The way in and out of the command line: which command runs, and how its errors read."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, Final

from neverempty import __version__
from neverempty._errors import InputError, NeverEmptyError, UsageError
from neverempty._suggest import did_you_mean
from neverempty.cli import exits
from neverempty.cli.commands import COMMANDS
from neverempty.cli.parser import Parser

_DEBUG: Final = "NEVEREMPTY_DEBUG"
_MOST_SHOWN: Final = 20
_AFTERWORD: Final = (
    "exit codes: 0 complete, 3 nothing was measured, 4 incomplete or invalid input, 64 usage, "
    "70 internal error, 130 interrupted"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; the process's own by default.

    Returns
    -------
    int
        The exit code. A user's mistake is one or two sentences on standard error, never a traceback.
    """
    with warnings.catch_warnings():
        # The library's own warnings are for the user; a line is enough, whatever came before.
        warnings.filterwarnings("default", category=UserWarning)
        warnings.showwarning = _warn
        return _guarded(sys.argv[1:] if argv is None else list(argv))


def _guarded(argv: list[str]) -> int:
    try:
        return _command(argv)
    except UsageError as error:
        return _refuse(str(error), exits.USAGE)
    except InputError as error:
        return _refuse(_shortened(error.problems), exits.INVALID)
    except NeverEmptyError as error:
        return _refuse(str(error), exits.INVALID)
    except KeyboardInterrupt as stop:
        return _refuse(str(stop) or "interrupted", exits.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`: nothing more can be said.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK
    except Exception as error:
        return _crash(error)


def _command(argv: list[str]) -> int:
    parser = make_parser()
    _known_command(argv)
    args, unknown = parser.parse_known_args(argv)
    if unknown:  # said by the command's own parser, which knows where its help is
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    code: int = args.run(args)
    sys.stdout.flush()
    return code


def make_parser() -> Parser:
    """Build the parser of all commands.

    Returns
    -------
    Parser
        Its namespace carries the command's function as ``run``.
    """
    parser = Parser(
        prog="neverempty",
        description="Measure how often an agent reports a failed tool as an empty result.",
        epilog=_AFTERWORD,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"neverempty {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        own = command.add_parser(commands)
        own.set_defaults(run=command.run, parser=own)
    return parser


def _known_command(argv: Sequence[str]) -> None:
    names = [command.__name__.rpartition(".")[2].rstrip("_") for command in COMMANDS]
    if argv and not argv[0].startswith("-") and argv[0] not in names:
        raise UsageError(f"there is no command {argv[0]!r}{did_you_mean(argv[0], names)}")


def _say(text: str) -> None:
    # A name or path may hold what the terminal's encoding cannot: it is escaped, not a second error.
    encoding = sys.stderr.encoding or "utf-8"
    print(f"neverempty: {text}".encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)


def _warn(message: Warning | str, *where: Any, **more: Any) -> None:
    _say(f"warning: {message}")


def _refuse(text: str, code: int) -> int:
    _say(text)
    if os.environ.get(_DEBUG):
        traceback.print_exc()
    return code


def _shortened(problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return problems[0]
    lines = [f"{len(problems)} problems", *problems[:_MOST_SHOWN]]
    more = len(problems) - _MOST_SHOWN
    return "\n".join([*lines, f"and {more} more"] if more > 0 else lines)


def _crash(error: Exception) -> int:
    if os.environ.get(_DEBUG):
        traceback.print_exc()
        return exits.INTERNAL
    detail = f"{type(error).__name__}: {error}".splitlines()[0]
    return _refuse(
        f"internal error, {detail}\nSet {_DEBUG}=1 and run it again for the traceback.", exits.INTERNAL
    )
