"""What a gate decided: the verdict, every rule that fired, and what stands behind them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from neverempty.frames.arrays import plain_values
from neverempty.frames.schema import Column
from neverempty.gating.config import GateConfig
from neverempty.gating.must_pass import Confirmation
from neverempty.gating.rules import EXIT_CODES, Rule, Verdict, verdict_of
from neverempty.report.escape import html
from neverempty.report.html_fragment import table_html
from neverempty.report.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.gating.comparison import Comparison
    from neverempty.report import Report

SCHEMA: Final = "neverempty.decision"
SCHEMA_VERSION: Final = 1


@dataclasses.dataclass(frozen=True, eq=False)
class Decision:
    """What a gate decided.

    Parameters
    ----------
    rules : tuple of Rule
        All that fired, in the order of the gate: the first gives the verdict.
    warnings : tuple of str
        What never fails a build: what got worse without being gated, what the tests leave out.
    notes : tuple of str
        What the tests could have found, or that they could not reject.
    config : GateConfig
        What was asked.
    comparison : Comparison, optional
        With a baseline that can be compared, and numbers that both reports have earned.
    confirmations : tuple of Confirmation
        Both runs of must-pass cases that were run once more.
    report, baseline : Report, optional
        What was gated, where it was handed in as reports.

    Examples
    --------
    >>> Decision((), (), (), GateConfig()).exit_code
    0
    """

    rules: tuple[Rule, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    config: GateConfig
    comparison: Comparison | None = None
    confirmations: tuple[Confirmation, ...] = ()
    report: Report | None = None
    baseline: Report | None = None

    @property
    def verdict(self) -> Verdict:
        """``pass``, ``regression``, ``must_pass``, ``inconclusive`` or ``invalid``."""
        return verdict_of(self.rules)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 2 must-pass case failed, 3 inconclusive, 4 invalid input."""
        return EXIT_CODES[self.verdict]

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as strict JSON: None where there is no number."""
        frames = {} if self.comparison is None else _frames(self.comparison)
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "rules": [{**dataclasses.asdict(rule), "verdict": rule.verdict} for rule in self.rules],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "confirmations": [dataclasses.asdict(one) for one in self.confirmations],
            "config": self.config.model_dump(mode="json"),
            "comparison": frames or None,
        }

    def tables(self) -> list[Table]:
        """Lay the decision out as tables of plain text, the rules first."""
        rules: list[tuple[str, ...]] = [(rule.name, rule.verdict, rule.message) for rule in self.rules]
        again: list[tuple[str, ...]] = [
            (
                "/".join(one.case),
                one.metric,
                one.first,
                one.second,
                "stands" if one.believed else "not confirmed",
            )
            for one in self.confirmations
        ]
        remarks: list[tuple[str, ...]] = [("warning", text) for text in self.warnings]
        remarks += [("note", text) for text in self.notes]
        tables = [
            Table("Rules that fired", ("rule", "verdict", "what was found"), rules),
            Table("Run once more", ("case", "metric", "first run", "second run", "the failure"), again),
            Table("What never fails a build", ("kind", "text"), remarks),
        ]
        shown = [table for table in tables if table.rows]
        return shown + (self.comparison.tables() if self.comparison else [])

    def lines(self) -> list[str]:
        """Say all but the comparison, a fact a line: rules, second runs, warnings, notes."""
        found = [f"{rule.verdict}: {rule.name}: {rule.message}" for rule in self.rules]
        found += [
            f"run again: {'/'.join(one.case)}, {one.metric}: first {one.first}, then {one.second}; the "
            + ("failure stands" if one.believed else "failure is not confirmed")
            for one in self.confirmations
        ]
        return [
            *found,
            *(f"warning: {text}" for text in self.warnings),
            *(f"note: {text}" for text in self.notes),
        ]

    def _repr_html_(self) -> str:
        parts = [f"<p><strong>{html(self.verdict)}</strong> (exit code {self.exit_code})</p>"]
        parts += [table_html(table) for table in self.tables()]
        return '<div class="neverempty-decision">\n' + "\n".join(parts) + "\n</div>"

    def __repr__(self) -> str:
        fired = ", ".join(dict.fromkeys(rule.name for rule in self.rules)) or "no rule fired"
        return f"<Decision: {self.verdict}, exit code {self.exit_code}, {fired}>"


def _frames(comparison: Comparison) -> dict[str, list[dict[str, Any]]]:
    names = ("metrics", "instability", "flips", "left_out", "usage")
    return {name: _records(getattr(comparison, name)) for name in names}


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    columns = {str(name): plain_values(Column(str(name), "float", ""), frame[name]) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
