"""A plan as plain text and as an HTML fragment."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from neverempty.planning.advice import bound_name, collapse_name
from neverempty.planning.rules import FloorOutlook, MustPassPrice
from neverempty.report.escape import html, plain
from neverempty.report.html_fragment import table_html
from neverempty.report.numbers import count, percent, significant
from neverempty.report.tables import Table
from neverempty.stats import Estimate, RunLength

if TYPE_CHECKING:
    from neverempty.planning.model import Plan

_DASH: Final = "\u2013"
_SCENARIOS: Final = {"unchanged": "nothing changed", "worse": "worse by the drop"}


def plan_text(plan: Plan) -> str:
    """Write a plan as plain text.

    Parameters
    ----------
    plan : Plan
        The plan.

    Returns
    -------
    str
        The advice, the cautions, then the tables.
    """
    head = [plan.advice, *plan.cautions]
    return "\n\n".join(["\n".join(head), *(_table_text(table) for table in plan_tables(plan))])


def plan_html(plan: Plan) -> str:
    """Write a plan as an HTML fragment, without scripts.

    Parameters
    ----------
    plan : Plan
        The plan.

    Returns
    -------
    str
        The fragment; assumptions and must-pass prices are folded away.
    """
    first, *others = plan_tables(plan)
    cautions = "".join(f"<li>{html(text)}</li>" for text in plan.cautions)
    folded = [first, *(table for table in others if table.caption.startswith("False alarms"))]
    shown = [table for table in others if table not in folded]
    return "\n".join(
        (
            '<div class="neverempty-plan">',
            f"<p><strong>{html(plan.advice)}</strong></p>",
            f"<ul>{cautions}</ul>" if cautions else "",
            *(table_html(table) for table in shown),
            *(
                f"<details><summary>{html(table.caption)}</summary>{table_html(table)}</details>"
                for table in folded
            ),
            "</div>",
        )
    )


def plan_tables(plan: Plan) -> list[Table]:
    """Lay a plan out as tables of plain text.

    Parameters
    ----------
    plan : Plan
        The plan.

    Returns
    -------
    list of Table
        What is assumed first.
    """
    tables = [_assumed(plan), _test(plan), _gate(plan), _floor(plan), _limit(plan), _must_pass(plan)]
    return [table for table in tables if table.rows]


def _table_text(table: Table) -> str:
    lines = [table.header, *table.rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.header))]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([plain(table.caption), *(f"  {plain(line)}".rstrip() for line in body)])


def _assumed(plan: Plan) -> Table:
    setting = plan.setting
    rows: list[tuple[str, ...]] = [
        (
            "metric",
            setting.metric,
            f"{collapse_name(setting.collapse)} of {count(setting.repeats, 'repeat')}",
        ),
        ("cases it applies to", _number(setting.n), f"{setting.must_pass} must pass"),
        ("drop to be caught", percent(setting.drop), f"with a chance of {percent(setting.power)}"),
        (
            "level of the test",
            significant(setting.level, 2),
            f"{setting.alpha:g} over {count(setting.metrics, 'metric')}",
        ),
        ("flake rate of a call", *_estimate(setting.flake)),
        ("cases that improve (churn)", *_estimate(setting.churn)),
        ("pass rate before", *_estimate(setting.pass_rate)),
    ]
    return Table("Assumed", ("what", "value", "from"), rows)


def _estimate(estimate: Estimate) -> tuple[str, str]:
    if estimate.lo is None or estimate.hi is None:
        return percent(estimate.value), estimate.method or "given"
    between = f"{percent(estimate.lo)} to {percent(estimate.hi)}"
    return percent(estimate.value), f"{between}, measured on {count(estimate.n, 'case')}"


def _number(n: int | None) -> str:
    return _DASH if n is None else f"{n:,}"


def _test(plan: Plan) -> Table:
    test = plan.test
    flips = test.chance_flips
    spread = "" if flips.lo is None else f" ({percent(flips.lo)} to {percent(flips.hi)})"
    rows: list[tuple[str, ...]] = [
        ("chance to catch the drop", percent(test.power)),
        (f"cases for {percent(plan.setting.power)}", _number(test.smallest.n)),
        ("smallest drop caught that often", percent(test.detectable.value)),
        ("regressions needed, if nothing improves", f"{test.clean_flips}"),
        ("can ever reject", "no" if test.cannot_reject else "yes"),
        ("cases that flip by chance, each way", percent(flips.value) + spread),
    ]
    return Table("The exact McNemar test", ("what", "value"), rows)


def _gate(plan: Plan) -> Table:
    rows: list[tuple[str, ...]] = []
    for one in plan.gates:
        odds = one.odds
        rows.append(
            (
                f"{collapse_name(one.collapse)}, {_SCENARIOS[one.scenario]}",
                percent(odds.p_pass),
                percent(odds.p_fail),
                percent(odds.p_inconclusive),
            )
        )
    caption = "The whole gate" + (f" ({_alarms(plan.run_length)})" if plan.run_length else "")
    return Table(caption, ("collapse, scenario", "pass", "fail", "inconclusive"), rows)


def _alarms(length: RunLength) -> str:
    """Say how often the gate cries wolf."""
    if length.expected_runs is None:
        return "no false alarms"
    if length.p_alarm > 0.995:
        return "a false alarm in every run"
    ahead = f"at least one in {length.runs} runs: {percent(length.p_any_alarm)}"
    return f"a false alarm in one of {significant(length.expected_runs, 2)} runs; {ahead}"


def _floor(plan: Plan) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            percent(one.floor),
            f"{percent(one.breach_unchanged)} (seen at {percent(one.rate_unchanged)})",
            f"{percent(one.breach_worse)} (seen at {percent(one.rate_worse)})",
            good_sizes(one),
        )
        for one in plan.floors
    ]
    return Table(
        "Floors: chance of a breach", ("floor", "unchanged", "worse", "sizes that tell them apart"), rows
    )


def good_sizes(floor: FloorOutlook) -> str:
    """Write the sizes at which a floor tells a good agent from a bad one, gaps and all.

    Parameters
    ----------
    floor : FloorOutlook
        The floor.

    Returns
    -------
    str
        As ``"60-69, 80 and more"``; the first five stretches.

    Examples
    --------
    >>> from neverempty.stats import floor_plan
    >>> good_sizes(FloorOutlook(0.95, 0.98, 0.9, None, None, floor_plan(0.95, 0.98, 0.9)))
    '60–69, 80 and more'
    """
    sizes = floor.sizes
    if sizes is None or sizes.n_first is None:
        return "none"
    parts = []
    for _, run in groupby(enumerate(sizes.good_sizes), key=lambda pair: pair[1] - pair[0]):
        stretch = [size for _, size in run]
        if sizes.n_stable is not None and stretch[-1] >= sizes.n_stable:
            parts.append(f"{stretch[0]:,} and more")
        else:
            parts.append(f"{stretch[0]:,}" + (f"{_DASH}{stretch[-1]:,}" if len(stretch) > 1 else ""))
    if len(parts) > 5:
        parts = [*parts[:4], "\u2026", parts[-1]]
    return ", ".join(parts)


def _limit(plan: Plan) -> Table:
    limit = plan.limit
    if limit is None:
        return Table("Limit", ("failing cases", "cases needed"), [])
    rows: list[tuple[str, ...]] = [(f"{hits}", f"at least {cases:,}") for hits, cases in limit.cases]
    held = "the observed rate" if not rows else f"the upper end of {bound_name(limit.bound)}"
    caption = f"Limit: {held} at most {percent(limit.limit)}"
    return Table(caption, ("failing cases", "cases needed"), rows or [(_DASH, _DASH)])


def _must_pass(plan: Plan) -> Table:
    found: dict[tuple[int, float], dict[str, MustPassPrice]] = {}
    for price in plan.must_pass:
        found.setdefault((price.cases, price.flake), {})[price.collapse] = price
    rows: list[tuple[str, ...]] = [
        (
            f"{cases:,}",
            percent(flake),
            percent(prices["any_hit"].alarm),
            percent(prices["any_hit"].confirmed),
            percent(prices["majority"].alarm),
        )
        for (cases, flake), prices in found.items()
    ]
    header = ("must-pass cases", "flake rate", "any hit", "any hit, confirmed by a second run", "majority")
    return Table("False alarms of must-pass cases, by flakes alone", header, rows)
