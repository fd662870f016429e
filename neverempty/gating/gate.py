"""The gate: whether a candidate may take the place of a baseline."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neverempty._errors import InputError
from neverempty.gating.comparison import Comparison, compare_sides, refusals
from neverempty.gating.config import GateConfig, gate_config
from neverempty.gating.decision import Decision
from neverempty.gating.floors import Floor, read_floors
from neverempty.gating.must_pass import Confirmation, Rerun, confirmed, must_pass_metrics, must_pass_rules
from neverempty.gating.notes import (
    comparison_warnings,
    family_warnings,
    hint_warnings,
    power_notes,
    reading_notes,
)
from neverempty.gating.pairing import alone_counts, make_rows, outcomes_of
from neverempty.gating.rows import STABILITY, Row
from neverempty.gating.rules import Rule, judge
from neverempty.gating.sides import Side, side_of
from neverempty.gating.validity import Reason, incomplete, unknown_arms, unknown_metrics
from neverempty.metrics.groups import group_rows
from neverempty.report import Report
from neverempty.report.export_judged import untrusted
from neverempty.report.status import allows_numbers, ceiling

if TYPE_CHECKING:
    import pandas as pd


def gate(
    baseline: Report | pd.DataFrame | None,
    report: Report | pd.DataFrame,
    config: GateConfig | Mapping[str, Any] | None = None,
    *,
    confirm: Rerun | None = None,
) -> Decision:
    """Decide whether a report may take the place of a baseline.

    Asked in this order, and the first rule that fires gives the verdict: invalid input (4); a must-pass case
    failed, by its metric's own collapse (2), or was not measured (3); a safety metric got significantly worse
    or is over its limit (1); too many unstable cases of a capability metric, or too many without signal (3);
    a capability floor is breached or a capability got significantly worse (1); otherwise pass (0).

    Parameters
    ----------
    baseline : Report, DataFrame or None
        The reviewed report, or its outcomes. Without one, floors, limits and must-pass cases are still asked.
    report : Report or DataFrame
        The candidate.
    config : GateConfig or mapping, optional
        A ``[gate]`` table.
    confirm : callable, optional
        Runs cases once more: takes their (suite, id, arm), returns their outcomes. Asked only for must-pass
        cases that failed a capability metric; it never excuses a failed safety metric.

    Returns
    -------
    Decision
        Verdict, exit code, all rules that fired, warnings, the comparison.

    Raises
    ------
    InputError
        Where the configuration or a frame is wrong.

    Examples
    --------
    >>> from neverempty.cases import Case
    >>> from neverempty.report import evaluate
    >>> report = evaluate(lambda case, tracer: "Hello.", [Case(id="a", input={"payload": "Any jobs?"})])
    >>> gate(None, report).verdict
    'inconclusive'
    """
    asked = gate_config(config)
    base = None if baseline is None else side_of(baseline, "baseline")
    cand = side_of(report, "candidate")
    reasons, floors, must_pass = _validity(base, cand, asked)
    base = None if base is None else base.only(asked.arms)
    cand = cand.only(asked.arms)
    if incomplete(cand):
        return _decision(reasons, asked, baseline, report)
    comparable = base is not None and not reasons
    comparison = compare_sides(base, cand, asked.metrics, asked.alpha) if comparable and base else None
    rows = comparison.rows if comparison else _alone(cand, asked)
    cut = untrusted(report) if isinstance(report, Report) else set()
    trusted = tuple(name for name in must_pass if name not in cut)
    rules, shown = _must_pass(cand, trusted, confirm if not reasons else None)
    rules += judge(rows, floors, asked)
    rules += _judged(asked, floors, cut)
    if not reasons:
        rules += _partial(base, cand)
    earned = all(allows_numbers(side.status) for side in (base, cand) if side)
    return dataclasses.replace(
        _decision(reasons, asked, baseline, report, rules),
        warnings=tuple(_warnings(base, cand, rows, comparison if earned else None, asked)),
        notes=tuple(_notes(base, rows, asked)),
        comparison=comparison if earned else None,
        confirmations=tuple(shown),
    )


def _validity(
    base: Side | None, cand: Side, config: GateConfig
) -> tuple[list[Reason], tuple[Floor, ...], tuple[str, ...]]:
    """Collect everything that is invalid, with the floors and must-pass metrics that can be asked."""
    natures = cand.natures()
    must_pass = must_pass_metrics(natures, config.must_pass)
    if base is not None:
        reasons = refusals(base, cand, config.metrics, arms=config.arms, allow_models=config.allow_models)
    else:
        plain = [name.removeprefix(STABILITY) for name in config.metrics]
        reasons = incomplete(cand) or unknown_arms(cand, config.arms or ()) + unknown_metrics(cand, plain)
    if incomplete(cand):
        return reasons, (), ()
    reasons = reasons + unknown_metrics(cand, config.must_pass or ())
    try:
        floors = read_floors(config.floors, natures, on_bound=config.floors_on == "bound")
    except InputError as error:
        return reasons + [Reason("metric", problem) for problem in error.problems], (), must_pass
    return reasons, floors, must_pass


def _alone(cand: Side, config: GateConfig) -> tuple[Row, ...]:
    """Count the candidate by itself."""
    natures = cand.natures()
    rates = [name for name, (_, how) in natures.items() if how != "median"]
    frame = cand.outcomes.loc[cand.outcomes["metric"].isin(rates)]
    groups = group_rows([frame["metric"].array, frame["arm"].array])
    firsts = frame.iloc[groups.first]
    names = firsts["metric"].tolist(), firsts["arm"].tolist()
    outcomes = outcomes_of(frame)
    gated = frozenset(config.metrics)
    plain = make_rows(*names, natures, alone_counts(outcomes, groups), None, gated)
    stability = make_rows(
        *names, natures, alone_counts(outcomes.stability, groups), None, gated, stability=True
    )
    return (*plain, *stability)


def _must_pass(
    cand: Side, metrics: tuple[str, ...], confirm: Rerun | None
) -> tuple[list[Rule], list[Confirmation]]:
    rules = must_pass_rules(cand, metrics)
    if confirm is None:
        return rules, []
    return confirmed(rules, metrics, cand.natures(), cand, confirm)


def _judged(config: GateConfig, floors: Sequence[Floor], cut: set[str]) -> list[Rule]:
    """Name what is gated on a judge of whose agreement with people nobody knows, or which has too little."""
    gated = {name.removeprefix(STABILITY) for name in config.metrics} | {floor.metric for floor in floors}
    return [
        Rule(
            "judge_cut",
            f"{name} is scored by a judge whose agreement with people is unknown or too low; calibrate it, "
            "and attach the calibration to the report",
            metric=name,
        )
        for name in sorted(gated & cut)
    ]


def _partial(base: Side | None, cand: Side) -> list[Rule]:
    return [
        Rule("partial_errors", f"the {side.name} is partial_errors: {side.status_reason}")
        for side in (base, cand)
        if side is not None and side.status == "partial_errors"
    ]


def _warnings(
    base: Side | None, cand: Side, rows: Sequence[Row], comparison: Comparison | None, config: GateConfig
) -> list[str]:
    found = [] if comparison is None else comparison_warnings(comparison)
    found += family_warnings(cand.outcomes, rows)
    found += hint_warnings(cand.outcomes, _asked(config))
    text = ceiling(cand.outcomes)
    found += [text] if text else []
    allowed = sorted(cand.distinct("resolved_model") & set(config.allow_models))
    if base is not None and allowed and not set(allowed) <= base.distinct("resolved_model"):
        found.append(f"another model answered, allowed by name: {', '.join(allowed)}")
    return found


def _asked(config: GateConfig) -> set[str]:
    """Name the metrics on which the verdict hangs."""
    floors = {name.removesuffix("_max") for name in config.floors}
    return {*(name.removeprefix(STABILITY) for name in config.metrics), *floors, *(config.must_pass or ())}


def _notes(base: Side | None, rows: Sequence[Row], config: GateConfig) -> list[str]:
    if base is None:
        return ["there is no baseline: floors, limits and must-pass cases were asked, worsening was not"]
    return power_notes(rows, config.alpha) + reading_notes(rows)


def _decision(
    reasons: Sequence[Reason], config: GateConfig, baseline: Any, report: Any, rules: Sequence[Rule] = ()
) -> Decision:
    invalid = [Rule("invalid", reason.text, reason=reason.name) for reason in reasons]
    return Decision(
        rules=tuple(sorted([*invalid, *rules], key=lambda rule: rule.place)),
        warnings=(),
        notes=(),
        config=config,
        report=report if isinstance(report, Report) else None,
        baseline=baseline if isinstance(baseline, Report) else None,
    )
