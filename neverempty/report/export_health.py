"""What was not measured and why, and how each component of the measurement fared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from neverempty.report import numbers
from neverempty.report.export_judged import is_trusted, judged_metrics
from neverempty.report.status import ERROR_BUDGET, allows_numbers
from neverempty.report.tables import Table

if TYPE_CHECKING:
    from neverempty.report.model import Report

LEVELS: Final = ("broken", "no signal", "partly", "few cases", "not asked", "ok")
"""The states of a component; what gives no signal always stands above what is well."""

_CONTROL_KINDS: Final = ("none", "empty")


class Health(NamedTuple):
    """How one component of the measurement fared.

    Parameters
    ----------
    level : str
        One of `LEVELS`.
    component : str
        Its name.
    detail : str
        What is known.
    """

    level: str
    component: str
    detail: str


def health_of(report: Report) -> list[Health]:
    """Rank the components of a measurement, the worst first.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    list of Health
        The run, the agent under each arm, the tools, the injected faults, the metrics, the judges.
    """
    found = [_run(report), *_agents(report.traces), *_faults(report.traces), *_tools(report.traces)]
    found += [*_metrics(report.metrics), *_judges(report)]
    return sorted(found, key=lambda one: LEVELS.index(one.level))


def health_table(found: list[Health]) -> Table:
    """Lay the list out.

    Parameters
    ----------
    found : list of Health
        From `health_of`.

    Returns
    -------
    Table
        State, component, detail.
    """
    return Table("Health of the measurement", ("state", "component", "detail"), [tuple(one) for one in found])


def _run(report: Report) -> Health:
    level = "ok" if allows_numbers(report.status) else "broken"
    return Health(level, "run", report.status_reason or "complete")


def _agents(traces: pd.DataFrame) -> Iterator[Health]:
    for arm, part in traces.groupby("arm", sort=True, observed=True):
        counts = Counter(part["status"].astype("str").tolist())
        n, well = len(part), counts.pop("ok", 0)
        if well == n:
            level, detail = "ok", f"{numbers.count(n, 'repeat')}, all ended normally"
        else:
            level = "no signal" if not well else "broken" if n - well > ERROR_BUDGET * n else "partly"
            broke = ", ".join(f"{status} {count:,}" for status, count in sorted(counts.items()))
            detail = f"{n - well:,} of {n:,} repeats did not end normally: {broke}"
        yield Health(level, f"agent under {arm}", detail)


def _faults(traces: pd.DataFrame) -> Iterator[Health]:
    failing = traces[~traces["fault_kind"].astype("str").isin(_CONTROL_KINDS)]
    if failing.empty:
        yield Health("not asked", "injected faults", "no case lets a tool fail")
        return
    fired = int(failing["fault_state"].astype("str").isin(["fired", "seen"]).sum())
    n = len(failing)
    level = "ok" if fired == n else "partly" if fired else "no signal"
    yield Health(
        level, "injected faults", f"fired in {fired:,} of {numbers.count(n, 'repeat')} that plan one"
    )


def _tools(traces: pd.DataFrame) -> Iterator[Health]:
    calls = [call for row in traces["calls"] for call in row]
    if not calls:
        yield Health("no signal", "tools", "no tool was called")
    by_tool: dict[str, Counter[str]] = {}
    for call in calls:
        # an injected failure is the measurement's own work, not the tool's
        by_tool.setdefault(call.tool, Counter())["injected" if call.injected else str(call.truth)] += 1
    for tool, counts in sorted(by_tool.items()):
        own = counts["error"]
        n = sum(counts.values())
        detail = f"{numbers.count(n, 'call')}, {counts['injected']:,} with an injected fault"
        yield Health(
            "partly" if own else "ok",
            f"tool {tool}",
            detail + (f", {own:,} failed by themselves" if own else ""),
        )


def _metrics(metrics: pd.DataFrame) -> Iterator[Health]:
    for row in metrics.to_dict("records"):
        applicable, measured = int(row["n_applicable"]), int(row["n_measured"])
        arm = row.get("arm")
        name = f"metric {row['metric']}" + (f" under {arm}" if isinstance(arm, str) else "")
        detail = f"{measured:,} of {applicable:,} applicable cases measured"
        if not applicable:
            yield Health("not asked", name, "applies to no case")
        elif not measured:
            yield Health("no signal", name, detail)
        elif int(row["n_no_signal"]):
            yield Health("partly", name, detail)
        elif measured < numbers.ENOUGH:
            yield Health("few cases", name, detail)
        else:
            yield Health("ok", name, detail)


def _judges(report: Report) -> Iterator[Health]:
    for name, facts in sorted(judged_metrics(report).items()):
        if is_trusted(facts):
            yield Health(
                "ok", f"judge of {name}", f"agreement {numbers.significant(float(facts['agreement']))}"
            )
        else:
            yield Health(
                "no signal", f"judge of {name}", "agreement with people unknown or too low: numbers are cut"
            )


def unmeasured_table(report: Report) -> Table:
    """Say what was not measured, and why.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    Table
        Metrics without signal by reason, then metrics that apply to no case.
    """
    outcomes = report.outcomes
    silent = outcomes[outcomes["verdict"].astype("str") == "no_signal"]
    rows: list[tuple[str, ...]] = [
        (str(metric), str(arm), "no signal", reason, f"{n:,}")
        for (metric, arm, reason), n in _counted(silent)
    ]
    applies = outcomes[outcomes["verdict"].astype("str") != "not_applicable"]
    asked = set(zip(applies["metric"].astype("str"), applies["arm"].astype("str"), strict=True))
    idle = outcomes[outcomes["verdict"].astype("str") == "not_applicable"]
    rows += [
        (metric, arm, "applies to no case", reason, f"{n:,}")
        for (metric, arm, reason), n in _counted(idle)
        if (metric, arm) not in asked
    ]
    return Table("Not measured, and why", ("metric", "arm", "state", "reason", "cases"), rows)


def _counted(outcomes: pd.DataFrame) -> list[tuple[tuple[str, str, str], int]]:
    reasons = [reason if isinstance(reason, str) else "not said" for reason in outcomes["reason"]]
    names: Any = (outcomes["metric"].astype("str"), outcomes["arm"].astype("str"), reasons)
    return list(Counter(zip(*names, strict=True)).items())
