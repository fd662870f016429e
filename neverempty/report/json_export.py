"""An export as JSON for other programs: strict, with a schema version, without unearned numbers."""

from __future__ import annotations

import math
from typing import Any, Final

from neverempty._io import dumps
from neverempty.report import numbers
from neverempty.report.export_content import Content
from neverempty.report.status import allows_numbers
from neverempty.report.tables import Table

SCHEMA: Final = "neverempty.export"
SCHEMA_VERSION: Final = 1

_NUMBERS: Final = (
    "value",
    "unstable_rate",
    *(f"{name}{end}" for name in ("", "bound_", "per_answer_") for end in ("lo", "hi")),
    "per_answer",
)
_COMPARED: Final = tuple(f"{side}{end}" for side in ("base", "cand", "diff") for end in ("", "_lo", "_hi"))


def export_json(content: Content) -> str:
    """Write an export as JSON.

    Parameters
    ----------
    content : Content
        What to write.

    Returns
    -------
    str
        Status, verdict, metrics, cases, what was not measured, health, provenance. Rates over fewer than ten
        cases are null beside their counts; ``indicative`` marks those over fewer than fifty.
    """
    report = content.report
    tables = {section.key: section.tables for section in content.sections}
    data = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "status": report.status,
        "status_reason": report.status_reason,
        "verdict": None if content.decision is None else content.decision.verdict,
        "exit_code": None if content.decision is None else content.decision.exit_code,
        "heading": content.heading._asdict(),
        "warnings": list(report.warnings),
        "decision": _decision(content),
        "metrics": [metric_record(row) for row in content.metrics.to_dict("records")],
        "honesty": [_record(row) for row in _honesty(content)],
        "corrected": [_corrected(row, "n_answers") for row in report.corrected.to_dict("records")],
        "judged": [_corrected(row, "n_claims") for row in report.judged.to_dict("records")],
        "cases": {
            "total": content.cases.total,
            "labels": content.cases.labels,
            "shown": [_case(case) for case in content.cases.shown],
        },
        "not_measured": [_named(table) for table in tables.get("unmeasured", ())],
        "health": [one._asdict() for one in content.health],
        "provenance": report.provenance,
    }
    return dumps(data, indent=2) + "\n"


def _corrected(row: dict[Any, Any], count: str) -> dict[str, Any]:
    record = _record(row)
    if row[count] < numbers.FEW:
        record |= dict.fromkeys(("raw", "value", "lo", "hi"))
    return record


def metric_record(row: dict[Any, Any]) -> dict[str, Any]:
    """Turn a row of metrics into a record without unearned numbers.

    Parameters
    ----------
    row : dict
        Of a metrics frame.

    Returns
    -------
    dict
        With ``indicative``, and ``shown``: the number as a reader may see it.

    Examples
    --------
    >>> row = {"metric": "route", "n_measured": 8, "hits": 7, "value": 0.875, "lo": 0.5, "status": "ok"}
    >>> record = metric_record(row)
    >>> record["value"], record["hits"], record["shown"]
    (None, 7, '7 of 8')
    """
    record = _record(row)
    n, is_rate = int(row["n_measured"]), record.get("hits") is not None
    if n < numbers.FEW:
        # counts stand alone; of a number over a few cases there is the number, but no interval
        kept = () if is_rate else ("value",)
        record |= {name: None for name in _NUMBERS if name in record and name not in kept}
    record["indicative"] = is_rate and numbers.FEW <= n < numbers.ENOUGH
    record["shown"] = shown_value(row)
    return record


def shown_value(row: dict[Any, Any]) -> str:
    """Write the value of a row of metrics as a reader may see it.

    Parameters
    ----------
    row : dict
        Of a metrics frame.

    Returns
    -------
    str
        As in the tables: ``withheld``, ``not measured``, counts, or a rate.
    """
    n, hits = int(row["n_measured"]), _plain(row["hits"])
    if str(row["status"]) == numbers.WITHHELD:
        return numbers.WITHHELD
    if hits is None:
        return numbers.quantity(str(row["metric"]), _plain(row["value"]), n)
    return numbers.rate(_plain(row["value"]), int(hits), n)


def _decision(content: Content) -> dict[str, Any] | None:
    if content.decision is None:
        return None
    found = content.decision.as_dict()
    compared = found.get("comparison")
    if compared and content.comparison is not None:
        names = set(content.comparison.metrics["metric"].astype("str"))
        names |= set(content.comparison.usage["metric"].astype("str"))
        for key, rows in compared.items():
            # a judge's numbers that the content has cut are cut here too
            kept = [row for row in rows if row["metric"] in names]
            compared[key] = [_few(row) if key in ("metrics", "instability") else row for row in kept]
    return found


def _few(row: dict[str, Any]) -> dict[str, Any]:
    if row["n_pairs"] >= numbers.FEW:
        return row
    return row | {name: None for name in _COMPARED if name in row}


def _honesty(content: Content) -> list[dict[Any, Any]]:
    if not any(section.key == "honesty" and section.tables for section in content.sections):
        return []
    table = content.report.honesty
    totals = table.groupby(["arm", "happened"], sort=False)["n"].transform("sum")
    # shares are percentages like all others: none below ten
    earned = (totals >= numbers.FEW) & allows_numbers(content.report.status)
    return table.assign(share=table["share"].where(earned)).to_dict("records")


def _case(case: Any) -> dict[str, Any]:
    record: dict[str, Any] = case._asdict()
    record["repeats"] = [
        said._asdict() | {"answer": [part._asdict() for part in said.answer]} for said in case.repeats
    ]
    return record


def _named(table: Table) -> list[dict[str, str]]:
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def _record(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(name): _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Give a cell as JSON has it: None where it is missing."""
    import pandas as pd

    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    return value.item() if hasattr(value, "item") else value
