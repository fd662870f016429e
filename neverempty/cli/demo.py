"""``neverempty demo``: agents of known rates, or a small local model, measured the whole way through."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neverempty.cli import exits
from neverempty.cli.parser import natural

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands


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
    parser.add_argument("--weights", metavar="FILE", help="GGUF file of the local model")
    parser.add_argument("--seed", type=natural, metavar="N", help="seed of all chance")
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure, and print the table."""
    from neverempty._errors import UsageError

    if args.weights and args.model != "local":
        raise UsageError("--weights goes with --model local")
    seed = {} if args.seed is None else {"seed": args.seed}
    from neverempty.demo.scripted import run_demo

    print(run_demo(**seed))
    return exits.OK
