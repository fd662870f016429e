"""Comparisons and decisions as tables of plain text: what a shell, a notebook and a page only dress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from neverempty.report import numbers
from neverempty.report.tables import Table

if TYPE_CHECKING:
    from neverempty.gating.comparison import Comparison

MOST_LISTED: Final = 50
"""Most rows of a table of cases; the frames have all of them."""


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Lay a comparison out.

    Parameters
    ----------
    comparison : Comparison
        The comparison.

    Returns
    -------
    list of Table
        Metrics, then what there is of: stability, flipped cases, pairs that left the test, usage.
    """
    tables = [
        _metrics_table("Candidate against baseline", comparison.metrics),
        _metrics_table("Stability of the repeats", _moved(comparison.instability)),
        _flips_table(comparison.flips),
        _left_table(comparison.left_out),
        _usage_table(comparison.usage),
    ]
    return [table for at, table in enumerate(tables) if table.rows or not at]


def _moved(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that say more than that all repeats agree."""
    return frame.loc[frame["gated"] | (frame[["regressed", "improved", "both_fail"]].sum(axis=1) > 0)]


def _metrics_table(caption: str, frame: pd.DataFrame) -> Table:
    header = (
        "metric", "arm", "baseline", "candidate", "difference (points)", "95 % interval", "worse", "better",
        "pairs", "p", "p (Holm)",
    )  # fmt: skip
    shown = frame.loc[(frame["n_pairs"] > 0) | frame["gated"]]
    return Table(caption, header, [_metric_cells(row) for row in shown.to_dict("records")])


def _metric_cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    n = int(row["n_pairs"])
    enough = n >= numbers.FEW
    ends = (numbers.points(row["diff_lo"]), numbers.points(row["diff_hi"]))
    return (
        row["metric"],
        row["arm"],
        numbers.rate(row["base"], None, n),
        numbers.rate(row["cand"], None, n),
        numbers.points(row["diff"]) if enough else "",
        " to ".join(ends) if enough else "",
        f"{int(row['regressed']):,}",
        f"{int(row['improved']):,}",
        f"{n:,}",
        numbers.p_value(row["p"]) + (" (cannot reject)" if row["cannot_reject"] else ""),
        numbers.p_value(row["p_adjusted"]) if row["gated"] else "not gated",
    )


def _flips_table(flips: pd.DataFrame) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            row["metric"],
            _case(row),
            row["change"],
            f"{row['hits_base']} of {row['n_measured_base']}",
            f"{row['hits_cand']} of {row['n_measured_cand']}",
        )
        for row in _first(flips.sort_values("change", ascending=False, kind="stable"))
    ]
    header = ("metric", "case", "change", "baseline hits", "candidate hits")
    return Table(f"Flipped cases{_of(len(flips))}", header, rows)


def _left_table(left: pd.DataFrame) -> Table:
    rows: list[tuple[str, ...]] = [
        (row["metric"], _case(row), row["reason"], _seen(row, "base"), _seen(row, "cand"))
        for row in _first(left)
    ]
    header = ("metric", "case", "reason", "baseline", "candidate")
    return Table(f"Pairs that left the test{_of(len(left))}", header, rows)


def _usage_table(usage: pd.DataFrame) -> Table:
    rows: list[tuple[str, ...]] = []
    for row in usage.to_dict("records"):
        name, n = str(row["metric"]), int(row["n_pairs"])
        ends = [numbers.signed_quantity(name, row[end], n) for end in ("diff_lo", "diff_hi")]
        rows.append(
            (
                name,
                str(row["arm"]),
                numbers.quantity(name, row["base"], n),
                numbers.quantity(name, row["cand"], n),
                numbers.signed_quantity(name, row["diff"], n),
                " to ".join(ends) if n >= numbers.FEW and not pd.isna(row["diff_lo"]) else "",
                f"{n:,}",
            )
        )
    header = ("number", "arm", "baseline", "candidate", "paired difference", "95 % interval", "pairs")
    return Table("Latency, cost and other numbers (they only warn)", header, rows)


def _first(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    return frame.head(MOST_LISTED).to_dict("records")


def _of(count: int) -> str:
    return f" ({MOST_LISTED} of {count:,})" if count > MOST_LISTED else ""


def _case(row: Mapping[Any, Any]) -> str:
    return f"{row['suite']}/{row['case_id']} ({row['arm']})"


def _seen(row: Mapping[Any, Any], side: str) -> str:
    why = row[f"unobserved_{side}"]
    return f"{row[f'n_measured_{side}']} repeats" + (f": {why}" if isinstance(why, str) else "")
