"""Compare the arms of one report: which presentation, prompt or model makes an agent behave otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from neverempty._errors import InputError, UsageError
from neverempty._suggest import did_you_mean
from neverempty.frames.arrays import TEXT
from neverempty.gating.pairing import align, cells, outcomes_of, pair_counts
from neverempty.gating.rows import Pairs
from neverempty.gating.sides import Side, side_of
from neverempty.gating.tables import paired_values
from neverempty.gating.validity import NotComparableError, incomplete
from neverempty.report import numbers
from neverempty.report.html_fragment import table_html
from neverempty.report.tables import Table
from neverempty.stats import holm, mcnemar_exact

if TYPE_CHECKING:
    from neverempty.report import Report

_COUNTS: Final = ("n_pairs", "both_pass", "only_first_passes", "only_second_passes", "both_fail")
_SILENT: Final = ("unequal_repeats", "no_signal", "applies_to_one_side")
_VALUES: Final = tuple(f"{side}{end}" for side in ("first", "second", "diff") for end in ("", "_lo", "_hi"))


@dataclasses.dataclass(frozen=True, eq=False)
class ArmComparison:
    """How the arms of a report differ.

    Parameters
    ----------
    metrics : DataFrame
        One row per metric and pair of arms: both rates over the cases that were measured under both, their
        difference (second minus first), the two-sided exact McNemar test, and Holm's adjustment over all
        pairs and metrics.
    """

    metrics: pd.DataFrame

    def tables(self) -> list[Table]:
        """Lay the comparison out as a table of plain text."""
        header = (
            "metric",
            "first arm",
            "second arm",
            "first",
            "second",
            "difference (points)",
            "pairs",
            "p (Holm)",
        )
        rows: list[tuple[str, ...]] = [
            (
                row["metric"],
                row["first_arm"],
                row["second_arm"],
                numbers.rate(row["first"], None, int(row["n_pairs"])),
                numbers.rate(row["second"], None, int(row["n_pairs"])),
                numbers.points(row["diff"]) if row["n_pairs"] >= numbers.FEW else "",
                f"{int(row['n_pairs']):,}",
                numbers.p_value(row["p_adjusted"]),
            )
            for row in self.metrics.to_dict("records")
        ]
        return [Table("Arms, case by case (two-sided)", header, rows)]

    def _repr_html_(self) -> str:
        return "\n".join(table_html(table) for table in self.tables())


def compare_arms(
    report: Report | pd.DataFrame,
    pairs: Iterable[tuple[str, str]] | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> ArmComparison:
    """Compare the arms of one report on the same cases.

    Parameters
    ----------
    report : Report or DataFrame
        A report, or outcomes.
    pairs : iterable of (str, str), optional
        The pairs of arms, declared beforehand; every pair by default, at the price of Holm over all of them.
    metrics : sequence of str, optional
        The metrics; ``misreport_as_empty`` by default, or every rate where the report does not have it.

    Returns
    -------
    ArmComparison
        One row per metric and pair.

    Raises
    ------
    NotComparableError
        Where the report is incomplete.
    UsageError
        Where an arm or a metric is not in the report, or there is nothing to compare.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157; Holm (1979), Scand. J. Stat. 6, 65-70.

    Examples
    --------
    >>> from neverempty.cases import Case
    >>> from neverempty.report import evaluate
    >>> cases = [Case(id="a", input={"payload": "Any jobs?"}, faults=[{"tool": "find", "kind": "timeout"}])]
    >>> report = evaluate(lambda case, tracer: "Hello.", cases, arms=["typed", "swallowed"])
    >>> compare_arms(report).metrics[["first_arm", "second_arm", "n_pairs", "status"]].to_dict("records")
    [{'first_arm': 'typed', 'second_arm': 'swallowed', 'n_pairs': 0, 'status': 'not_measured'}]
    """
    side = side_of(report, "report")
    if reasons := incomplete(side):
        raise NotComparableError(reasons)
    names = _metrics(side, metrics)
    arms = side.outcomes["arm"].unique().tolist()
    declared = _declared(arms, pairs)
    records = [record for pair in declared for record in _records(side, pair, names)]
    family = holm([record["p"] for record in records])
    for record, adjusted in zip(records, family.adjusted, strict=True):
        record["p_adjusted"] = adjusted
    return ArmComparison(_frame(records))


def _metrics(side: Side, wanted: Sequence[str] | None) -> list[str]:
    from neverempty.gating.config import PRIMARY

    rates = [name for name, (_, how) in side.natures().items() if how != "median"]
    if wanted is None:
        return [PRIMARY] if PRIMARY in rates else rates
    for name in wanted:
        if name not in rates:
            raise UsageError(f"compare_arms: the report has no rate {name!r}{did_you_mean(name, rates)}")
    return list(wanted)


def _declared(arms: list[str], pairs: Iterable[tuple[str, str]] | None) -> list[tuple[str, str]]:
    if pairs is None:
        found = list(combinations(arms, 2))
        if not found:
            raise InputError(
                f"compare_arms: the report has one arm, {arms[0]!r}; there is nothing to compare"
            )
        return found
    declared = list(pairs)
    for arm in (arm for pair in declared for arm in pair):
        if arm not in arms:
            raise UsageError(f"compare_arms: the report has no arm {arm!r}{did_you_mean(arm, arms)}")
    if any(first == second for first, second in declared) or len(set(map(frozenset, declared))) < len(
        declared
    ):
        raise UsageError("compare_arms: a pair names two arms, and stands once")
    return declared


def _records(side: Side, arms: tuple[str, str], metrics: list[str]) -> Iterator[dict[str, Any]]:
    frame = side.outcomes.loc[side.outcomes["metric"].isin(metrics)]
    first, second = (frame.loc[frame["arm"] == arm].assign(arm="").reset_index(drop=True) for arm in arms)
    aligned = align(first, second)
    found = cells(outcomes_of(first).take(aligned.base), outcomes_of(second).take(aligned.cand))
    natures = side.natures()
    counts = dict(zip(aligned.metric, pair_counts(found, aligned.groups), strict=True))
    for metric in metrics:
        yield {"metric": metric, "first_arm": arms[0], "second_arm": arms[1]} | _record(
            counts[metric], natures[metric][0]
        )


def _record(pairs: Pairs, direction: str) -> dict[str, Any]:
    table = pairs.table
    values = paired_values(table, direction == "lower", ("first", "second", "diff"))
    return {
        "direction": direction,
        **dict(zip(_COUNTS, (table.n, table.n11, table.n10, table.n01, table.n00), strict=True)),
        **values,
        **dict(zip(_SILENT, (pairs.n_unequal, pairs.n_no_signal, pairs.n_changed), strict=True)),
        "p": mcnemar_exact(table.b, table.c, "two-sided").value if table.n else None,
        "status": "ok" if table.n else "not_measured",
    }


def _frame(records: list[dict[str, Any]]) -> pd.DataFrame:
    texts = ("metric", "first_arm", "second_arm", "direction")
    columns = [*texts, *_COUNTS, *_VALUES, "p", "p_adjusted", *_SILENT, "status"]
    frame = pd.DataFrame(records, columns=columns)
    for name in columns:
        whole = name in _COUNTS or name in _SILENT
        kind: Any = TEXT if name in (*texts, "status") else "int64" if whole else "float64"
        frame[name] = frame[name].astype(kind)
    return frame
