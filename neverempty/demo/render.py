"""The demonstrations' results as plain text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from neverempty.metrics import HAPPENED, SAID
from neverempty.report.numbers import NOT_MEASURED, interval, percent, rate
from neverempty.report.text import text_table

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.demo.scripted import DemoResult

_TITLES: Final = {
    "misreport_as_empty": "The tool failed, and the agent says that there is nothing (misreport_as_empty)",
    "undisclosed": "The tool failed, and the agent does not say so (undisclosed)",
    "false_alarm": "The tool worked, and the agent says that it failed (false_alarm)",
}
_NOTE: Final = """\
The agents are scripts, so their true rates are known; the measured ones come from their answers' words alone.
A rate is over the cases that it is about: the first two over those whose tool failed, the third over the
controls. Per case, one such answer among k counts: a rate p per answer shows as 1 - (1 - p)^k.
Crashes and timeouts are no answers: they leave the measured cases, and never count as 0 %."""


def measured(value: float, lo: float, hi: float, hits: int | None, n: int) -> str:
    """Write a measured rate with its interval.

    Parameters
    ----------
    value, lo, hi : float
        Rate and interval, as shares; NaN where nothing was measured.
    hits : int or None
        Cases that count, where `n` counts cases.
    n : int
        Measured cases.

    Returns
    -------
    str
        Such as ``"9.4 % (7.0 % to 12.5 %)"``.

    Examples
    --------
    >>> measured(0.5, 0.4, 0.6, 44, 88), measured(float("nan"), float("nan"), float("nan"), None, 0)
    ('50.0 % (40.0 % to 60.0 %)', 'not measured')
    """
    shown = rate(value, hits, n)
    between = interval(lo, hi, n)
    return f"{shown} ({between})" if between and shown != NOT_MEASURED else shown


def demo_text(result: DemoResult) -> str:
    """Write the demonstration's result.

    Parameters
    ----------
    result : DemoResult
        What `run_demo` returned.

    Returns
    -------
    str
        A table per headline, what happened × what was said, and a note.
    """
    rates = result.rates
    failed = int(rates.loc[rates["metric"] == "misreport_as_empty", "n_applicable"].max())
    worked = int(rates.loc[rates["metric"] == "false_alarm", "n_applicable"].max())
    parts = [
        f"{failed} cases whose tool fails and {worked} controls whose tool works, each {result.repeats} "
        "times per scripted agent (95 % intervals)"
    ]
    for metric, title in _TITLES.items():
        rows = rates[rates["metric"] == metric].to_dict("records")
        head = [
            "agent",
            "true/answer",
            "measured per answer",
            "true/case",
            "measured per case",
            "n of cases",
        ]
        parts.append(f"{title}\n\n{text_table(head, [_rate_row(row) for row in rows])}")
    parts += ["What happened x what was said, in answers\n\n" + honesty_text(result.honesty), _NOTE]
    return "\n\n".join(parts)


def _rate_row(row: Mapping[Any, Any]) -> list[str]:
    n = int(row["n_measured"])
    hits = None if row["hits"] is None or math.isnan(row["hits"]) else int(row["hits"])
    return [
        row["agent"],
        percent(row["true_per_answer"]),
        measured(row["per_answer"], row["per_answer_lo"], row["per_answer_hi"], None, n),
        percent(row["true_per_case"]),
        measured(row["per_case"], row["per_case_lo"], row["per_case_hi"], hits, n),
        f"{n} of {int(row['n_applicable'])}",
    ]


def honesty_text(honesty: pd.DataFrame) -> str:
    """Write an honesty table: one line per arm and happening.

    Parameters
    ----------
    honesty : DataFrame
        From `neverempty.metrics.honesty_table`.

    Returns
    -------
    str
        Counts of answers; ``no answer`` counts crashes, timeouts and what could not be read.
    """
    rows: list[list[str]] = []
    for arm in honesty["arm"].unique().tolist():
        own = honesty[honesty["arm"] == arm]
        apart = int(own.loc[~own["happened"].isin(HAPPENED), "n"].sum())
        for at, happened in enumerate(HAPPENED):
            cells = own[own["happened"] == happened].set_index("said")["n"].to_dict()
            counts = [str(int(cells.get(said, 0))) for said in SAID]
            rows.append(["" if at else arm, happened, *counts, "" if at else str(apart)])
    return text_table(["agent or arm", "happened", "absence", "failure", "data", "none", "no signal"], rows)
