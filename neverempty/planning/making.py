"""From a suite or a wish to a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neverempty._errors import UsageError
from neverempty.planning.model import Plan
from neverempty.planning.power import power_outlook
from neverempty.planning.rules import floor_outlooks, limit_outlook, must_pass_prices
from neverempty.planning.setting import USUAL_PASS_RATE, Collapse, LimitOn, PlanSetting, given
from neverempty.planning.whole_gate import gate_outlooks, run_length
from neverempty.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.cases import Case
    from neverempty.planning.evidence import Evidence
    from neverempty.report import Report


def plan(
    suite_or_n: int | Sequence[Case] | None = None,
    *,
    drop: float = 0.05,
    power: float = 0.8,
    repeats: int | None = None,
    flake: float | None = None,
    churn: float | None = None,
    pass_rate: float | None = None,
    floor: float | Sequence[float] | None = None,
    limit: float | None = None,
    limit_on: LimitOn = "wilson",
    must_pass: int | None = None,
    collapse: Collapse | None = None,
    alpha: float = 0.05,
    metrics: int = 1,
    max_unstable_rate: float = 0.10,
    metric: str = "misreport_as_empty",
    report: Report | pd.DataFrame | Sequence[Report | pd.DataFrame] | None = None,
    arm: str | None = None,
) -> Plan:
    """Say before a run what it can tell: power, sizes, floors, and the whole gate's chances.

    Everything is exact for the model: a case is meant to pass or to fail, each call departs from that with
    the flake rate, the repeats are collapsed, and two runs are compared by the exact McNemar test.

    Parameters
    ----------
    suite_or_n : Cases or int, optional
        The suite, of which the cases that the metric applies to are counted, or their number. Without it,
        the number in the report, or else the smallest that is enough.
    drop : float, default 0.05
        Fall of the pass rate that is to be caught, as a share: 0.05 is five points.
    power : float, default 0.8
        Wanted chance to catch it.
    repeats : int, optional
        Repeats of each case; the report's, else 3.
    flake : float, optional
        Chance that one call departs from what its case is meant to do; the report's, else 0.
    churn : float, optional
        Share of cases that improve from version to version; as many get worse beyond the drop. From two
        reports, else 0, which is the best case.
    pass_rate : float, optional
        Share of cases that are meant to pass before the change; the report's, else 0.97 or less where churn
        leaves no room for it.
    floor : float or sequence of float, optional
        Floors of the pass rate; the gate is planned with the highest.
    limit : float, optional
        Limit of the failure rate.
    limit_on : {"wilson", "clopper_pearson", "clopper_pearson_upper", "rate"}
        What is held against it: the upper end of a 95 % interval, or the rate itself.
    must_pass : int, optional
        Cases that must pass, among the n; the suite's or report's, else 0.
    collapse : {"any_hit", "majority"}, optional
        How the metric collapses repeats; by default as the metric declares.
    alpha : float, default 0.05
        Level of the gate's test.
    metrics : int, default 1
        Gated metrics, among which the level is shared.
    max_unstable_rate : float, default 0.10
        Share of unstable cases above which a majority metric is inconclusive.
    metric : str, default "misreport_as_empty"
        Which metric the suite and the report are asked about.
    report : Report, DataFrame or sequence of them, optional
        Earlier runs, as reports or frames of outcomes: the flake rate and the pass rate are estimated from
        them; from two or more, churn too.
    arm : str, optional
        Their arm, where they hold several.

    Returns
    -------
    Plan
        All of it, with one sentence of advice.

    Raises
    ------
    ValueError
        Where a number is none, or numbers contradict each other (`UsageError` says how).

    References
    ----------
    Duffy (1984), Stat. Med. 3, 371-379, for the power of the exact test.

    Examples
    --------
    >>> print(plan(60).advice)
    With 60 cases you catch a 5-point drop 18 % of the time; 134 cases give 80 %.
    >>> plan(churn=0.01).smallest_n
    189
    """
    evidence = _evidence(report, metric, arm)
    n, in_suite = _size(suite_or_n, metric, evidence)
    flake_rate = _known(flake, evidence.flake if evidence else None, 0.0)
    churn_rate = _known(churn, evidence.churn if evidence else None, 0.0)
    setting = PlanSetting(
        n=n,
        drop=drop,
        power=power,
        repeats=(evidence.repeats if evidence else 3) if repeats is None else repeats,
        flake=flake_rate,
        churn=churn_rate,
        pass_rate=_pass_rate(pass_rate, evidence, float(churn_rate)),
        floors=_floors(floor),
        limit=limit,
        limit_on=limit_on,
        must_pass=in_suite if must_pass is None else must_pass,
        collapse=_declared(metric) if collapse is None else collapse,
        alpha=alpha,
        metrics=metrics,
        max_unstable_rate=max_unstable_rate,
        metric=metric,
    )
    return plan_for(setting)


def plan_for(setting: PlanSetting) -> Plan:
    """Work out the plan of a setting.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed; without a size, the smallest that is enough is taken.

    Returns
    -------
    Plan
        The plan.

    Examples
    --------
    >>> plan_for(PlanSetting(None)).setting.n
    134
    """
    test = power_outlook(setting)
    if setting.n is None and test.smallest.n is not None:
        setting = dataclasses.replace(setting, n=max(test.smallest.n, setting.must_pass))
        test = power_outlook(setting)
    gates = gate_outlooks(setting)
    return Plan(
        setting=setting,
        test=test,
        floors=floor_outlooks(setting),
        gates=gates,
        must_pass=must_pass_prices(setting),
        limit=limit_outlook(setting),
        run_length=run_length(gates),
    )


def _evidence(report: Any, metric: str, arm: str | None) -> Evidence | None:
    if report is None:
        return None
    from neverempty.planning.evidence import read_outcomes

    runs = list(report) if isinstance(report, Sequence) else [report]
    if not runs:
        raise UsageError("report is an empty list; leave it out or give a report")
    return read_outcomes([getattr(run, "outcomes", run) for run in runs], metric, arm)


def _size(suite: Any, metric: str, evidence: Evidence | None) -> tuple[int | None, int]:
    """Find the number of cases and those of them that must pass."""
    if suite is None:
        return (evidence.n, evidence.must_pass) if evidence else (None, 0)
    if isinstance(suite, Sequence) and not isinstance(suite, str):
        from neverempty.planning.evidence import count_cases

        return count_cases(suite, metric)
    if isinstance(suite, bool) or not hasattr(suite, "__index__"):
        raise UsageError(f"{suite!r} is neither a suite of cases nor their number")
    n = int(suite.__index__())
    if n < 1:
        raise UsageError(f"{n} cases cannot be planned: give at least 1")
    return n, 0


def _known(value: float | None, estimate: Estimate | None, otherwise: float) -> Estimate:
    """Take what the user gave, else what was measured, else a default that says so."""
    if value is not None:
        return given(value)
    if estimate is not None and estimate.defined:
        return estimate
    return dataclasses.replace(given(otherwise), method="assumed")


def _pass_rate(value: float | None, evidence: Evidence | None, churn: float) -> Estimate:
    known = _known(value, evidence.pass_rate if evidence else None, min(USUAL_PASS_RATE, 1.0 - churn))
    room = 1.0 - churn
    if value is None and evidence and float(known) > room:
        # Every case passed, yet some improve from version to version: both cannot hold at once.
        return dataclasses.replace(
            known, value=room, status="clipped", reason=f"lowered to leave churn {churn:g}"
        )
    return known


def _floors(floor: float | Sequence[float] | None) -> tuple[float, ...]:
    if floor is None:
        return ()
    return tuple(floor) if isinstance(floor, Sequence) else (floor,)


def _declared(metric: str) -> Collapse:
    from neverempty.scorers import builtin_metrics

    spec = builtin_metrics().get(metric)
    if spec is not None and spec.collapse == "median":
        raise UsageError(f"{metric!r} is a number per case, no pass or fail: there is no rate to plan for")
    return "majority" if spec is not None and spec.collapse == "majority" else "any_hit"
