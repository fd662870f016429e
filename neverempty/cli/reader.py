"""``neverempty reader``: what the answer reader reads, and how often it is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neverempty.cli import exits

if TYPE_CHECKING:
    from neverempty.claims.reading import Pass
    from neverempty.cli.commands import Commands


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "reader",
        help="see what is read in an answer, and by which rule",
        description="The answer reader: where an answer claims absence or discloses a failure, by rules.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    explain = actions.add_parser("explain", help="say what is read where in one answer", allow_abbrev=False)
    explain.add_argument("text", help="the answer")
    explain.add_argument("--language", metavar="CODE", help="read it in this language too, as 'en' or 'hi'")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print what was read."""
    from neverempty._errors import UsageError
    from neverempty.claims import read_answer
    from neverempty.claims.reading import look

    try:
        reading = read_answer(args.text, args.language)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not reading.readable:
        print("not readable: there are no rules for the language of this answer, so nothing is guessed")
        return exits.OK
    for claim in ("absence", "failure", "data"):
        for span in getattr(reading, claim):
            print(f"{claim:8} {span.text!r}, characters {span.start} to {span.end}, by {span.rule}")
    for one in look(args.text, args.language, True)[2]:
        for line in _undone(args.text, one):
            print(line)
    if not (reading.absence or reading.failure or reading.data):
        print("no claim")
    print(f"language {reading.language or 'unknown'}, rules {reading.version}")
    return exits.OK


def _undone(text: str, one: Pass) -> Iterator[str]:
    for found, why in one.findings.dropped:
        first, last, rule = found
        start, end = one.places(text).span(first, last)
        where = f"{text[start:end]!r}, characters {start} to {end}"
        yield f"not {rule.claim}: {where}, by {rule.id}, undone by {why}"
