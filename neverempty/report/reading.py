"""What the answer reader's own error does to the headline rates, laid out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty.metrics.correcting import SOLVED
from neverempty.report import numbers
from neverempty.report.status import allows_numbers
from neverempty.report.tables import Table

CAPTION: Final = "Per answer, corrected for the reader's error"
REMARK: Final = (
    "Correct if the reader errs on these answers as often as on the labelled ones on which it was measured. "
    "Rates per case are not corrected, and a gate judges rates as they were read."
)
_NUMBERS: Final = ("raw", "sensitivity", "specificity", "value", "lo", "hi")


def earned_correction(corrected: pd.DataFrame, status: str) -> pd.DataFrame:
    """Take the numbers out of corrected rates that a report has not earned.

    Parameters
    ----------
    corrected : DataFrame
        From `neverempty.metrics.correct_for_reading`.
    status : str
        The report's.

    Returns
    -------
    DataFrame
        The same frame where the status allows numbers, else one without them, each row ``withheld``.
    """
    if allows_numbers(status):
        return corrected
    return corrected.assign(**dict.fromkeys(_NUMBERS, np.nan), status=numbers.WITHHELD, note="")


def reading_table(corrected: pd.DataFrame) -> Table:
    """Lay corrected rates out.

    Parameters
    ----------
    corrected : DataFrame
        One row per headline metric, arm and language.

    Returns
    -------
    Table
        The rate as read, the reader's sensitivity and specificity with the labelled answers behind them, the
        corrected rate with its interval, and why there is none.
    """
    header = (
        "metric",
        "arm",
        "language",
        "as read",
        "answers",
        "sensitivity",
        "specificity",
        "corrected",
        "95 % interval",
        "note",
    )
    return Table(CAPTION, header, [_cells(row) for row in corrected.to_dict("records")])


def _cells(row: dict[Any, Any]) -> tuple[str, ...]:
    n = int(row["n_answers"])
    withheld = row["status"] == numbers.WITHHELD
    solved = not withheld and not pd.isna(row["value"]) and n >= numbers.FEW
    note = str(row["note"]) if row["status"] in SOLVED else f"{row['status']}: {row['note']}"
    return (
        row["metric"],
        row["arm"],
        row["language"],
        numbers.WITHHELD if withheld else numbers.rate(row["raw"], None, n),
        f"{n:,}",
        _share(row["sensitivity"], int(row["n_pos"])),
        _share(row["specificity"], int(row["n_neg"])),
        numbers.rate(row["value"], None, n) if solved else "",
        numbers.interval(row["lo"], row["hi"], n) if solved else "",
        "" if withheld else note.replace("_", " "),
    )


def _share(value: float, n: int) -> str:
    if pd.isna(value):
        return ""
    return f"{round(value * n)} of {n}" if n < numbers.FEW else f"{numbers.percent(value)} of {n}"
