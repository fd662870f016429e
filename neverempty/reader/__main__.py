"""Measure the reader on labelled answers and write what ships: ``python -m neverempty.reader FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from neverempty._io import dumps, write_atomic
from neverempty.reader.evaluation import load_answers
from neverempty.reader.measured import FILE, as_json


def main(folder: str) -> None:
    """Write the measured error beside the code that reads it.

    Parameters
    ----------
    folder : str
        Where the frozen answers lie, one JSONL file a language.
    """
    rows = [row for path in sorted(Path(folder).glob("*.jsonl")) for row in load_answers(path)]
    write_atomic(Path(__file__).with_name(FILE), dumps(as_json(rows), indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
