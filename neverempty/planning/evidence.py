"""What a suite and earlier reports say about the assumptions of a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from neverempty import stats
from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.scorers.happened import planned_truth
from neverempty.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.cases import Case

# The truths that a case must make for a metric to apply to it.
_APPLIES: Final = {
    "misreport_as_empty": ("error",),
    "undisclosed": ("error",),
    "false_alarm": ("empty", "data"),
    "false_absence": ("data",),
    "fabricated": ("error", "empty"),
}
# Metrics that a case is scored on where it expects something of this name.
_EXPECTS: Final[dict[str, Callable[[Any], bool]]] = {
    "route": lambda expect: expect.route is not None,
    "tool_calls": lambda expect: expect.tool_calls is not None,
    "forbidden_tools": lambda expect: bool(expect.forbidden_tools),
    "facts": lambda expect: bool(expect.facts),
    "forbidden_claims": lambda expect: bool(expect.forbidden_claims),
}


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What reports say about a metric.

    Parameters
    ----------
    n, must_pass : int
        Cases with a measured outcome, and those among them that must pass.
    repeats : int
        Most measured repeats of a case.
    flake, churn, pass_rate : Estimate
        With intervals; churn is ``not_measured`` from one report.
    """

    n: int
    must_pass: int
    repeats: int
    flake: Estimate
    churn: Estimate
    pass_rate: Estimate


def count_cases(cases: Sequence[Case], metric: str) -> tuple[int, int]:
    """Count the cases of a suite to which a metric applies.

    Parameters
    ----------
    cases : sequence of Case
        The suite.
    metric : str
        The metric.

    Returns
    -------
    tuple of (int, int)
        Such cases, and those among them that must pass.

    Raises
    ------
    UsageError
        Where the suite alone does not tell, or none applies.

    Examples
    --------
    >>> from neverempty.cases import Case
    >>> fault = {"tool": "search", "kind": "timeout"}
    >>> failing = Case(id="a", input={"payload": 1}, faults=[fault], must_pass=True)
    >>> count_cases([failing, Case(id="b", input={"payload": 1})], "misreport_as_empty")
    (1, 1)
    """
    if metric in _APPLIES:
        chosen = [case for case in cases if _made_for(case) in _APPLIES[metric]]
    elif metric in _EXPECTS:
        chosen = [case for case in cases if _EXPECTS[metric](case.expect)]
    else:
        raise UsageError(
            f"a suite alone does not tell to which cases {metric!r} applies"
            f"{did_you_mean(metric, [*_APPLIES, *_EXPECTS])}; give their number or a report"
        )
    if not chosen:
        raise UsageError(f"none of the {len(cases)} cases is one to which {metric!r} applies")
    return len(chosen), sum(case.must_pass for case in chosen)


def _made_for(case: Case) -> str:
    truth = planned_truth(case.fault_kind)
    return "error" if truth == "degraded" and case.expect.lost_part_holds_answer else truth


def read_outcomes(runs: Sequence[pd.DataFrame], metric: str, arm: str | None = None) -> Evidence:
    """Estimate flake rate, churn and pass rate from earlier runs of the same suite.

    The flake rate comes from the disagreement of repeats. Its interval is Wilson's of the share of unstable
    cases, carried over to one call, so that it does not shrink to nothing where no case was unstable. What a
    case is meant to do is taken from the majority of its repeats. Churn needs two runs: it is the share of
    cases that failed in the first and pass in the last.

    Parameters
    ----------
    runs : sequence of DataFrame
        Outcomes of one run, or of several in the order in which they were made.
    metric : str
        The metric.
    arm : str, optional
        The arm; needed where the runs hold several.

    Returns
    -------
    Evidence
        The estimates.

    Raises
    ------
    UsageError
        Where the metric was not measured, or the arm is not named.
    """
    matrices = [repeats_by_case(outcomes, metric, arm) for outcomes in runs]
    rows = [row for matrix in matrices for row in matrix.values()]
    last = matrices[-1]
    if not last:
        raise UsageError(f"{metric!r} was measured in no case, so there is nothing to plan from")
    meant = [{key: stats.collapse(row) for key, row in matrix.items()} for matrix in matrices]
    chosen = _chosen(runs[-1], metric, arm)
    return Evidence(
        n=len(last),
        must_pass=int(chosen.loc[chosen["n_measured"] > 0, "must_pass"].sum()),
        repeats=max(len(row) for row in last.values()),
        flake=_flake(rows),
        churn=_churn(meant[0], meant[-1]) if len(meant) > 1 else _one_report(),
        pass_rate=stats.rate(list(meant[-1].values())),
    )


def repeats_by_case(
    outcomes: pd.DataFrame, metric: str, arm: str | None = None
) -> dict[tuple[str, str], list[int]]:
    """Give each measured case its repeats.

    Parameters
    ----------
    outcomes : DataFrame
        What `neverempty.collapse` returned.
    metric : str
        The metric.
    arm : str, optional
        The arm; needed where there are several.

    Returns
    -------
    dict
        By suite and case id, its measured repeats as 1 (pass) and 0; their order is not kept.

    Raises
    ------
    UsageError
        Where the metric or the arm is not there, or the arm is not named.
    """
    repeats = {}
    columns = ["suite", "case_id", "n_measured", "hits", "direction"]
    for suite, case, k, hits, direction in _chosen(outcomes, metric, arm)[columns].itertuples(index=False):
        failed = hits if direction == "lower" else k - hits
        if k:
            repeats[str(suite), str(case)] = [0] * int(failed) + [1] * int(k - failed)
    return repeats


def _chosen(outcomes: pd.DataFrame, metric: str, arm: str | None) -> pd.DataFrame:
    names = outcomes["metric"].astype(str)
    if metric not in set(names):
        raise UsageError(f"there is no metric {metric!r}{did_you_mean(metric, sorted(set(names)))}")
    chosen = outcomes[names == metric]
    arms = chosen["arm"].astype(str)
    present = sorted(set(arms))
    if arm is None and len(present) > 1:
        raise UsageError(f"there are the arms {', '.join(present)}: say which with arm=")
    if arm is not None and arm not in present:
        raise UsageError(f"there is no arm {arm!r}{did_you_mean(arm, present)}")
    return chosen[arms == (arm or present[0])]


def _flake(rows: Sequence[Sequence[int]]) -> Estimate:
    value, unstable = stats.call_flake_rate(rows), stats.instability(rows)
    if value.value is None or unstable.lo is None or unstable.hi is None:
        return value
    most = max(len(row) for row in rows)
    ends = [_call_rate(share, most) for share in (unstable.lo, unstable.hi)]
    return dataclasses.replace(
        value,
        lo=min(ends[0], value.value),
        hi=max(ends[1], value.value),
        conf=unstable.conf,
        method="call_flake_rate, Wilson over cases",
    )


def _call_rate(unstable: float, k: int) -> float:
    """Flake rate at which that share of cases is unstable, by bisection; 0.5 where none is enough."""
    if unstable <= 0.0:
        return 0.0
    return float(stats.nondeterminism_threshold(min(unstable, 1.0), k).value or 0.5)


def _churn(base: dict[tuple[str, str], Any], cand: dict[tuple[str, str], Any]) -> Estimate:
    table = stats.paired_table(base, cand, unmatched="list")
    if not table.n:
        raise UsageError("the reports share no case, so nothing tells how cases improve between them")
    return dataclasses.replace(stats.wilson_interval(table.c, table.n), method="improved, Wilson")


def _one_report() -> Estimate:
    return Estimate(
        None,
        method="churn",
        status="not_measured",
        reason="one report shows flakes, but not what changes from version to version: give two",
    )
