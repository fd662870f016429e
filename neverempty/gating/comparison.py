"""Compare two reports case by case: what got worse, what got better, what could not be compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neverempty.gating.config import PRIMARY
from neverempty.gating.pairing import (
    Outcomes,
    align,
    alone_counts,
    cells,
    make_rows,
    outcomes_of,
    pair_counts,
)
from neverempty.gating.render import comparison_tables
from neverempty.gating.rows import STABILITY, Row, with_p_values
from neverempty.gating.sides import Side, side_of
from neverempty.gating.tables import metric_frame, pair_frames, usage_frame
from neverempty.gating.validity import (
    NotComparableError,
    Reason,
    differences,
    incomplete,
    unknown_arms,
    unknown_metrics,
)
from neverempty.report.html_fragment import table_html

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.report import Report
    from neverempty.report.tables import Table


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """What is different between a baseline and a candidate.

    Parameters
    ----------
    metrics : DataFrame
        One row per metric and arm: both rates over the tested pairs, their difference (candidate minus
        baseline), the four counts, the exact one-sided test of a regression.
    instability : DataFrame
        The same for the stability of each metric's repeats: ``regressed`` are cases whose repeats agreed and
        now disagree.
    flips : DataFrame
        The cases whose outcome changed.
    left_out : DataFrame
        The pairs that are in no test, with the reason.
    usage : DataFrame
        Paired differences of latency, cost and other numbers; described, never tested.
    alpha : float
        Level of the family of gated metrics.
    rows : tuple of Row
        The counts behind ``metrics`` and ``instability``.
    """

    metrics: pd.DataFrame
    instability: pd.DataFrame
    flips: pd.DataFrame
    left_out: pd.DataFrame
    usage: pd.DataFrame
    alpha: float
    rows: tuple[Row, ...]

    def tables(self) -> list[Table]:
        """Lay the comparison out as tables of plain text."""
        return comparison_tables(self)

    def _repr_html_(self) -> str:
        tables = "\n".join(table_html(table) for table in self.tables())
        return f'<div class="neverempty-comparison">\n{tables}\n</div>'

    def __repr__(self) -> str:
        changes = self.flips["change"].value_counts()
        return (
            f"<Comparison: {len(self.metrics)} metrics, {int(changes.get('regressed', 0))} regressed, "
            f"{int(changes.get('improved', 0))} improved, {len(self.left_out)} left out>"
        )


def compare(
    base: Report | pd.DataFrame,
    candidate: Report | pd.DataFrame,
    metrics: Sequence[str] | None = None,
    *,
    arms: Sequence[str] | None = None,
    alpha: float = 0.05,
    allow_models: Sequence[str] = (),
) -> Comparison:
    """Compare two reports on the same cases, in pairs of suite, case and arm.

    Parameters
    ----------
    base, candidate : Report or DataFrame
        Reports, or frames of outcomes.
    metrics : sequence of str, optional
        The family of tests that Holm's adjustment is over; ``misreport_as_empty`` by default, or every rate
        where the reports do not have it. Other metrics are described with an unadjusted p.
    arms : sequence of str, optional
        Compare only these. Arms are never pooled: each is a row of its own.
    alpha : float, default 0.05
        Level of the family.
    allow_models : sequence of str
        Resolved models that the candidate may have though the baseline has not.

    Returns
    -------
    Comparison
        Frames; pairs with unequal measured repeats are in no test, and are listed.

    Raises
    ------
    NotComparableError
        Lists everything that keeps the two from being compared.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157; Newcombe (1998), Stat. Med. 17, 2635-2650, method 10; Holm
    (1979), Scand. J. Stat. 6, 65-70.

    Examples
    --------
    >>> from neverempty.frames import build_frame
    >>> def outcomes(verdicts):
    ...     n = len(verdicts)
    ...     return build_frame("outcomes", {
    ...         "suite": ["s"] * n, "case_id": [f"c{i}" for i in range(n)], "arm": ["typed"] * n,
    ...         "metric": ["route"] * n, "verdict": verdicts, "value": [None] * n, "n_repeats": [1] * n,
    ...         "n_measured": [1] * n, "hits": [int(v == "pass") for v in verdicts], "unstable": [False] * n,
    ...         "reason": [None] * n, "fault_kind": ["none"] * n, "fault_presentation": [None] * n,
    ...         "fault_layer": [None] * n, "split": ["dev"] * n, "language": ["en"] * n, "tags": [()] * n,
    ...         "must_pass": [False] * n})
    >>> compared = compare(outcomes(["pass"] * 60), outcomes(["fail"] * 4 + ["pass"] * 56))
    >>> compared.metrics[["metric", "n_pairs", "regressed", "p"]].to_dict("records")
    [{'metric': 'route', 'n_pairs': 60, 'regressed': 4, 'p': 0.0625}]
    """
    wanted = None if arms is None else tuple(arms)
    sides = side_of(base, "baseline"), side_of(candidate, "candidate")
    gated = _family(sides, metrics)
    if reasons := refusals(*sides, gated, arms=wanted, allow_models=allow_models):
        raise NotComparableError(reasons)
    return compare_sides(sides[0].only(wanted), sides[1].only(wanted), gated, alpha)


def _family(sides: tuple[Side, Side], metrics: Sequence[str] | None) -> tuple[str, ...]:
    if metrics is not None:
        return tuple(metrics)
    if all(PRIMARY in side.distinct("metric") for side in sides):
        return (PRIMARY,)
    there = sides[0].distinct("metric")
    return tuple(name for name, (_, how) in sides[1].natures().items() if how != "median" and name in there)


def refusals(
    base: Side,
    cand: Side,
    metrics: Sequence[str],
    *,
    arms: tuple[str, ...] | None = None,
    allow_models: Sequence[str] = (),
) -> list[Reason]:
    """List everything that keeps two sides from being compared.

    Parameters
    ----------
    base, cand : Side
        With all their arms.
    metrics : sequence of str
        The gated metrics.
    arms : tuple of str, optional
        The arms to compare.
    allow_models : sequence of str
        As in `compare`.

    Returns
    -------
    list of Reason
        Empty where nothing does.
    """
    reasons = [*incomplete(base), *incomplete(cand)]
    if reasons:
        return reasons
    plain = [name.removeprefix(STABILITY) for name in metrics]
    for side in (base, cand):
        reasons += unknown_arms(side, arms or ())
        reasons += unknown_metrics(side, plain)
        reasons += numbers_are_not_tested(side, plain)
    kept = [side.only(arms) for side in (base, cand)]
    if any(side.outcomes.empty for side in kept):
        return reasons
    return reasons + differences(kept[0], kept[1], plain, allow_models)


def numbers_are_not_tested(side: Side, metrics: Sequence[str]) -> list[Reason]:
    """Say which of the metrics are numbers, which no exact test of pairs is about.

    Parameters
    ----------
    side : Side
        Baseline or candidate.
    metrics : sequence of str
        The wanted ones.

    Returns
    -------
    list of Reason
        One per metric.
    """
    natures = side.natures()
    return [
        Reason("metric", f"{name!r} is a number in the {side.name}, not a rate; numbers are only described")
        for name in metrics
        if natures.get(name, ("", ""))[1] == "median"
    ]


def compare_sides(base: Side, cand: Side, gated: Sequence[str], alpha: float) -> Comparison:
    """Compare two sides that may be compared.

    Parameters
    ----------
    base, cand : Side
        The sides.
    gated : sequence of str
        The family.
    alpha : float
        Its level.

    Returns
    -------
    Comparison
        All frames.
    """
    natures = cand.natures()
    rates = {name for name, (_, how) in natures.items() if how != "median"} & base.distinct("metric")
    there, here = (
        side.outcomes.loc[side.outcomes["metric"].isin(rates)].reset_index(drop=True) for side in (base, cand)
    )
    aligned = align(there, here)
    pairs = outcomes_of(there).take(aligned.base), outcomes_of(here).take(aligned.cand)
    found = cells(*pairs)
    context: dict[str, Any] = {"natures": natures, "gated": frozenset(gated)}
    rows = with_p_values(
        [
            *_rows(aligned, pairs, context, stability=False),
            *_rows(aligned, (pairs[0].stability, pairs[1].stability), context, stability=True),
        ]
    )
    flips, left_out = pair_frames(there, here, aligned, found)
    return Comparison(
        metrics=metric_frame([row for row in rows if not row.is_stability], alpha),
        instability=metric_frame([row for row in rows if row.is_stability], alpha),
        flips=flips,
        left_out=left_out,
        usage=usage_frame(base.outcomes, cand.outcomes, natures),
        alpha=alpha,
        rows=rows,
    )


def _rows(
    aligned: Any, pairs: tuple[Outcomes, Outcomes], context: dict[str, Any], *, stability: bool
) -> list[Row]:
    groups = aligned.groups
    return make_rows(
        aligned.metric,
        aligned.arm,
        context["natures"],
        alone_counts(pairs[1], groups),
        pair_counts(cells(*pairs), groups),
        context["gated"],
        stability=stability,
    )
