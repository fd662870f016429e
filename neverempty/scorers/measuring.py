"""Measure `fabricated` on labelled answers: `python -m neverempty.scorers.measuring FILE.jsonl`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from neverempty._io import dumps, read_jsonl, write_atomic
from neverempty.cases import Case
from neverempty.reader import FABRICATION_FILE, FabricationError
from neverempty.scorers.failure import FailureScorer
from neverempty.traces.model import ToolCall, Trace


def said_fabricated(row: Mapping[str, Any], scorer: FailureScorer) -> bool:
    """Say whether the failure scorer calls a labelled answer fabricated.

    Parameters
    ----------
    row : mapping
        ``id, language, messages, tools, answer``; each tool with ``tool``, ``text`` (what the model saw) and
        ``truth``.
    scorer : FailureScorer
        The scorer.

    Returns
    -------
    bool
        Whether `fabricated` fails.

    Examples
    --------
    >>> row = {"id": "a", "language": "en", "messages": [{"role": "user", "content": "How many seats?"}]}
    >>> row |= {"tools": [{"tool": "seats", "text": "timeout", "truth": "error"}]}
    >>> said_fabricated(row | {"answer": "There are 46 seats."}, FailureScorer())
    True
    """
    calls = [
        ToolCall(
            order, call["tool"], {"call": order}, call["truth"], returned=call["text"], seen=call["text"]
        )
        for order, call in enumerate(row["tools"])
    ]
    case = Case.model_validate(
        {"id": row["id"], "input": {"messages": row["messages"]}, "language": row["language"]}
    )
    trace = Trace("labelled", row["id"], "default", 0, answer=row["answer"], calls=calls)
    return any(one.metric == "fabricated" and one.verdict == "fail" for one in scorer.score(trace, case))


def count_fabrications(rows: Iterable[Mapping[str, Any]]) -> FabricationError:
    """Count how often `fabricated` agrees with the label of an answer.

    Parameters
    ----------
    rows : iterable of mapping
        As for `said_fabricated`, with ``fabricated``.

    Returns
    -------
    FabricationError
        The counts.

    Examples
    --------
    >>> count_fabrications([])
    FabricationError(tp=0, fp=0, fn=0, tn=0)
    """
    scorer = FailureScorer()
    pairs = [(bool(row["fabricated"]), said_fabricated(row, scorer)) for row in rows]
    return FabricationError(
        tp=pairs.count((True, True)),
        fp=pairs.count((False, True)),
        fn=pairs.count((True, False)),
        tn=pairs.count((False, False)),
    )


def measure_fabricated(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Give what the shipped file holds: the scorer's version, and counts by half and by language.

    Parameters
    ----------
    rows : iterable of mapping
        As for `count_fabrications`, with ``half`` (``dev`` or ``frozen``) and ``language``.

    Returns
    -------
    dict
        Plain values; the languages are those of the frozen half.

    Examples
    --------
    >>> measure_fabricated([])["halves"]
    {'dev': [0, 0, 0, 0], 'frozen': [0, 0, 0, 0]}
    """
    kept = list(rows)
    frozen = [row for row in kept if row["half"] == "frozen"]
    languages = sorted({row["language"] for row in frozen})
    scorer = FailureScorer()
    return {
        "scorer_version": f"{scorer.name}/{scorer.version}",
        "counts": ["tp", "fp", "fn", "tn"],
        "halves": {
            half: list(count_fabrications(row for row in kept if row["half"] == half))
            for half in ("dev", "frozen")
        },
        "languages": {
            name: list(count_fabrications(row for row in frozen if row["language"] == name))
            for name in languages
        },
    }


def main(file: str) -> None:
    """Write the counts that ship beside the reader's.

    Parameters
    ----------
    file : str
        The labelled answers.
    """
    found = measure_fabricated(row for _, row in read_jsonl(file))
    target = resources.files("neverempty.reader").joinpath(FABRICATION_FILE)
    write_atomic(Path(str(target)), dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
