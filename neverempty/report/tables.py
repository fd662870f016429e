"""The tables of a report as rows of plain text: what Markdown and HTML only dress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from neverempty._errors import InputError
from neverempty.frames import SCHEMAS
from neverempty.metrics import SAID
from neverempty.report import numbers
from neverempty.scorers import HEADLINES, builtin_metrics

if TYPE_CHECKING:
    from neverempty.report.model import Report

_KNOWN: Final = frozenset(column.name for column in SCHEMAS["metrics"].columns)
_HAPPENED: Final = {
    "error": "the tool failed",
    "empty": "nothing matched",
    "data": "the tool worked",
    "recovered": "failed, then recovered",
    "unclear": "the error may mean absence",
    "degraded": "a part was missing",
    "not_applicable": "not applicable",
    "no_signal": "no signal",
}


class Table(NamedTuple):
    """A table of plain text.

    Parameters
    ----------
    caption : str
        What it shows.
    header : tuple of str
        Names of the columns.
    rows : list of tuple of str
        Cells, not escaped.
    """

    caption: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def metrics_table(metrics: pd.DataFrame) -> Table:
    """Lay out a metrics frame, the three headlines first, without rows that apply to nothing.

    Parameters
    ----------
    metrics : DataFrame
        What `summarize` returned.

    Returns
    -------
    Table
        Metric and groups, rate, interval, measured of applicable, bounds, per answer, note.
    """
    groups = [str(name) for name in metrics.columns if name not in _KNOWN]
    rows = [row for row in metrics.to_dict("records") if row["status"] != "not_applicable"]
    order = {name: at for at, name in enumerate((*HEADLINES, *builtin_metrics()))}
    rows.sort(key=lambda row: order.get(row["metric"], len(order)))
    header = ("metric", *groups, "value", "95 % interval", "measured", "bounds", "per answer", "note")
    return Table("Metrics", header, [_metric_cells(row, groups) for row in rows])


def _metric_cells(row: dict[Any, Any], groups: Sequence[str]) -> tuple[str, ...]:
    n, hits = int(row["n_measured"]), row["hits"]
    is_rate = not pd.isna(hits)
    if row["status"] == numbers.WITHHELD:
        value, interval = numbers.WITHHELD, ""
    elif is_rate:
        value = numbers.rate(row["value"], int(hits), n)
        interval = numbers.interval(row["lo"], row["hi"], n)
    else:
        value = numbers.quantity(row["metric"], row["value"], n)
        interval = _range(row) if n >= numbers.FEW else ""
    bounds = numbers.interval(row["bound_lo"], row["bound_hi"], n) if is_rate and row["n_no_signal"] else ""
    per_answer = _per_answer(row, n) if is_rate else ""
    note = row["note"] if isinstance(row["note"], str) else ""
    named = [str(row[name]) for name in groups]
    return (
        row["metric"],
        *named,
        value,
        interval,
        f"{n:,} of {int(row['n_applicable']):,}",
        bounds,
        per_answer,
        note,
    )


def _per_answer(row: dict[Any, Any], n: int) -> str:
    """Write the rate per answer, where repeats make it another number than the rate per case."""
    spread = numbers.interval(row.get("per_answer_lo"), row.get("per_answer_hi"), n)
    same = (row["per_answer"], spread) == (row["value"], numbers.interval(row["lo"], row["hi"], n))
    return "" if n < numbers.FEW or same else f"{numbers.percent(row['per_answer'])} ({spread})"


def _range(row: dict[Any, Any]) -> str:
    if pd.isna(row["lo"]) or pd.isna(row["hi"]):
        return ""
    return f"{numbers.significant(row['lo'])} to {numbers.significant(row['hi'])}"


def honesty_rows(table: pd.DataFrame) -> Table:
    """Lay out a honesty table, one row per arm and what happened.

    Parameters
    ----------
    table : DataFrame
        What `honesty_table` returned.

    Returns
    -------
    Table
        Counts by what was said; from fifty repeats on, the shares stand beside them.
    """
    rows: list[tuple[str, ...]] = []
    for (arm, happened), cells in table.groupby(["arm", "happened"], sort=False):
        counts = dict(zip(cells["said"], cells["n"].astype(int), strict=True))
        total = sum(counts.values())
        # A row of crashes alone said nothing: it has no shares, and above all no 0 %.
        observed = sum(counts.get(said, 0) for said in SAID)
        earned = bool(cells["share"].notna().any())
        shown = [_cell(counts.get(said, 0), observed, earned) for said in SAID]
        others = ", ".join(f"{said} {n}" for said, n in counts.items() if said not in SAID)
        rows.append((str(arm), _HAPPENED.get(str(happened), str(happened)), *shown, f"{total:,}", others))
    header: tuple[str, ...] = (
        "arm",
        "what happened",
        "said: absence",
        "failure",
        "data",
        "nothing",
        "repeats",
        "reasons",
    )
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return Table("What happened × what was said", header, rows)


def honesty_tables(report: Report) -> list[Table]:
    """Lay out what happened × what was said, where the failure family was scored.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    list of Table
        One, or none.
    """
    try:
        return [honesty_rows(report.honesty)]
    except InputError:
        return []


def _cell(n: int, total: int, earned: bool) -> str:
    if total == 0:
        return "\u2013"
    return f"{n:,}" if total < numbers.ENOUGH or not earned else f"{n:,} ({numbers.percent(n / total)})"


def provenance_rows(provenance: dict[str, Any]) -> Table:
    """Lay out where a report comes from.

    Parameters
    ----------
    provenance : dict
        As in the report.

    Returns
    -------
    Table
        Two columns; what is not known is said to be so.
    """
    git = provenance.get("git") or {}
    commit = (
        f"{git['sha']}{', changed since' if git['dirty'] else ''}" if git.get("sha") else git.get("reason")
    )
    facts: list[tuple[str, Any]] = [
        ("commit", commit),
        ("models", _listed(provenance.get("resolved_models"))),
        ("arms", _listed(provenance.get("arms"))),
        ("repeats", provenance.get("repeats")),
        ("seed", provenance.get("seed")),
        ("cases", provenance.get("n_cases")),
        ("dataset", provenance.get("dataset_hash")),
        ("test split", provenance.get("split_hash")),
        ("neverempty", provenance.get("package_version")),
        ("reading rules", provenance.get("pattern_version")),
        *([("tool contract", provenance["contract"])] if "contract" in provenance else []),
        ("scorers", _listed(provenance.get("scorer_versions"))),
        ("prices", provenance.get("price_version")),
        ("started", provenance.get("started_at")),
        ("finished", provenance.get("finished_at")),
        ("Python", provenance.get("python")),
        ("libraries", _listed(f"{name} {version}" for name, version in _libraries(provenance))),
    ]
    rows: list[tuple[str, ...]] = [
        (name, "not known" if value in (None, "") else str(value)) for name, value in facts
    ]
    return Table("Provenance", ("what", "value"), rows)


def _libraries(provenance: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((provenance.get("libraries") or {}).items())


def _listed(values: Any) -> str:
    return ", ".join(map(str, values or ()))
