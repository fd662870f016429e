"""``neverempty demo``: agents of known rates, or a small local model, measured the whole way through."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from neverempty._errors import UsageError
from neverempty.cli import exits
from neverempty.cli.parser import natural, whole

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands

_SCRIPTED: Final = ("seed",)
_LOCAL: Final = ("weights", "threads", "out", "replay")


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "demo",
        help="measure scripted agents whose true rates are known, or a small local model",
        description=(
            "Measure scripted agents whose true rates are known: no network, no key, under a minute. With "
            "--model local, measure a small language model on this machine."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--model", choices=["scripted", "local"], default="scripted", help="default: scripted"
    )
    parser.add_argument("--seed", type=natural, metavar="N", help="scripted: seed of all chance")
    parser.add_argument(
        "--weights", metavar="FILE", help="local: a GGUF file to use instead of the package's"
    )
    parser.add_argument("--threads", type=whole, metavar="N", help="local: threads of the model")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        help="local: keep replies and traces there; a stopped run goes on from them",
    )
    parser.add_argument("--replay", action="store_true", help="local: answer from the committed recording")
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure, and print the tables."""
    own, other = (_LOCAL, _SCRIPTED) if args.model == "local" else (_SCRIPTED, _LOCAL)
    given = {name: getattr(args, name) for name in (*own, *other) if getattr(args, name) not in (None, False)}
    if foreign := [name for name in other if name in given]:
        raise UsageError(f"--{foreign[0]} does not go with --model {args.model}")
    if args.model == "scripted":
        from neverempty.demo.scripted import run_demo

        print(run_demo(**given))
        return exits.OK
    from neverempty.demo.local import replay_local, run_local

    if given.pop("replay", False):
        if given:
            raise UsageError(f"--{next(iter(given))} does not go with --replay, which asks no model")
        print(replay_local())
        return exits.OK
    if "out" in given:
        given["folder"] = given.pop("out")
    print(run_local(**given))
    return exits.OK
