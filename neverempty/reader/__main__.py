"""Measure the reader on labelled answers, and write its error down: `python -m neverempty.reader FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from neverempty._io import dumps, write_atomic
from neverempty.reader.evaluation import evaluate, load_answers
from neverempty.reader.measured import FILE, as_json, error_page


def main(folder: str) -> None:
    """Write the counts that ship beside the code, and the page beside the folder.

    Parameters
    ----------
    folder : str
        Where the frozen answers lie, one JSONL file a language.
    """
    rows = [row for path in sorted(Path(folder).glob("*.jsonl")) for row in load_answers(path)]
    write_atomic(Path(__file__).with_name(FILE), dumps(as_json(rows), indent=1) + "\n")
    write_atomic(Path(folder).parent / "error.md", error_page(evaluate(rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])
