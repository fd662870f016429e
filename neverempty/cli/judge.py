"""``neverempty judge``: how far a model judge agrees with people."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from neverempty.cli import exits

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands
    from neverempty.judge import Calibration

_NAMED: Final = 10


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "judge",
        help="measure how far a model judge agrees with people",
        description="Measure how far a model judge agrees with people, and say what may be published of it.",
        allow_abbrev=False,
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="PART")
    own = parts.add_parser(
        "calibrate",
        help="agreement, kappa and trust, from labels",
        description=(
            "Compare human labels of claims with a judge's verdicts: both in one file, or the verdicts in "
            "one of their own."
        ),
        epilog="exit codes: 0 trusted or provisional, 3 cut or not measured, 4 invalid labels, 64 usage",
        allow_abbrev=False,
    )
    own.add_argument("labels", metavar="LABELS", help="JSONL with id, label, claim, evidence, language, tags")
    own.add_argument("--replay", metavar="JUDGED", help="JSONL with id, outcome, judge_id: what a judge said")
    own.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Calibrate, and print."""
    from neverempty._io import dumps
    from neverempty.judge import calibrate

    found = calibrate(args.labels, args.replay)
    print(dumps(found.as_dict(), indent=2) if args.json else _text(found))
    shown = found.facts()["trust"] in ("trusted", "provisional")
    return exits.OK if shown else exits.NOTHING_MEASURED


def _text(found: Calibration) -> str:
    from neverempty.cli.text import table_text
    from neverempty.report.tables import Table

    facts = found.facts()
    budget = found.labels_for_trust() if facts["trust"] in ("provisional", "not_measured") else None
    head = [
        f"{facts['trust']}: {facts['reason']}",
        f"judge {found.judge_id or 'not named'}; {found.n_judged} of {found.n_labels} claims judged, "
        f"on {found.n_cant_tell} more the annotator could not tell",
        f"agreement {_number(found.agreement)}, kappa {_number(found.kappa)}, AC1 {_number(found.ac1)}",
        f"planted orders: {_number(found.injections)} of {found.injections.n} held",
        *(f"{what} ({len(ids)}): {_named(ids)}" for what, ids in _silent(found) if ids),
        *([f"a judge of this kappa is trusted after about {budget.n} labels"] if budget else []),
    ]
    labels = found.matrix.labels
    matrix = Table(
        "People (down) and judge (across)",
        ("", *labels, "no verdict"),
        [
            (label, *map(str, row), str(found.matrix.judge_abstained.get(label, 0)))
            for label, row in zip(labels, found.matrix.counts, strict=True)
        ],
    )
    classes = Table(
        "By label",
        ("label", "precision", "recall"),
        [(one.label, _number(one.precision), _number(one.recall)) for one in found.classes],
    )
    slices = Table(
        "By language",
        ("language", "judged", "agreement", "kappa", "trust"),
        [
            (
                one.language,
                f"{one.n} of {one.n_labels}",
                _number(one.agreement),
                _number(one.kappa),
                _trust(one.trust.level),
            )
            for one in found.slices
        ],
    )
    return "\n\n".join(["\n".join(head), *map(table_text, (matrix, classes, slices))])


def _silent(found: Calibration) -> list[tuple[str, tuple[str, ...]]]:
    return [
        ("no usable reply", found.unparsed),
        ("not sure enough", found.abstained),
        ("not in what the judge said", found.unasked),
    ]


def _named(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")


def _trust(level: str) -> str:
    return "too few to say" if level == "not_measured" else level


def _number(estimate: object) -> str:
    value, lo, hi = (getattr(estimate, name) for name in ("value", "lo", "hi"))
    if value is None:
        return f"not measured ({getattr(estimate, 'reason', '')})"
    return f"{value:.3f}" + ("" if lo is None or hi is None else f" ({lo:.3f} to {hi:.3f})")
