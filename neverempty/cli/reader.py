"""``neverempty reader``: what the answer reader reads, and how often it is wrong."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from neverempty.cli import exits

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands
    from neverempty.reader import WrongRow


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "reader",
        help="see what is read in an answer and by which rule, and how often that is wrong",
        description="The answer reader: where an answer claims absence or discloses a failure, by rules.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    explain = actions.add_parser("explain", help="say what is read where in one answer", allow_abbrev=False)
    explain.add_argument("text", help="the answer")
    explain.add_argument("--language", metavar="CODE", help="read it in this language too, as 'en' or 'hi'")
    explain.set_defaults(act=_explain)
    score = actions.add_parser("score", help="hold the reader against labelled answers", allow_abbrev=False)
    score.add_argument("file", metavar="ANSWERS", help="JSONL, one labelled answer a line")
    score.add_argument("--json", action="store_true", help="print everything as JSON")
    score.set_defaults(act=_score)
    return parser


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    code: int = args.act(args)
    return code


def _explain(args: argparse.Namespace) -> int:
    from neverempty._errors import UsageError
    from neverempty.claims import explain

    try:
        print(explain(args.text, args.language))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return exits.OK


def _score(args: argparse.Namespace) -> int:
    from neverempty._io import dumps
    from neverempty.reader import evaluate, load_answers

    evaluation = evaluate(load_answers(args.file))
    if args.json:
        print(dumps(evaluation.as_dict(), indent=2))
        return exits.OK
    for row in evaluation.wrong:
        print(_wrong(row))
    print(f"\n{evaluation}" if evaluation.wrong else evaluation)
    return exits.OK if evaluation.n else exits.NOTHING_MEASURED


def _wrong(row: WrongRow) -> str:
    from neverempty.report.escape import plain

    fired = "; ".join(row.rules) or "no rule"
    wanted, read = ("+".join(flags) or "neither" for flags in (row.wanted, row.read))
    return plain(f"{row.id}: labelled {wanted}, read {read} ({fired}): {row.text!r}")
