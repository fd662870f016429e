"""The chances of the whole gate: to pass, to fail, to stay inconclusive, and to cry wolf."""

from __future__ import annotations

import dataclasses
from typing import Final, Literal

from neverempty import stats
from neverempty.planning.setting import COLLAPSES, Collapse, PlanSetting
from neverempty.stats import GateOdds, RunLength

Scenario = Literal["unchanged", "worse"]
# Beyond this size the exact enumeration takes minutes, and the test alone decides anyway.
MOST_FOR_GATE: Final = 2000


@dataclasses.dataclass(frozen=True)
class GateOutlook:
    """Chances of the whole gate's verdicts.

    Parameters
    ----------
    collapse : {"any_hit", "majority"}
        How the metric collapses repeats.
    scenario : {"unchanged", "worse"}
        Whether the candidate is as good as the baseline, or worse by the drop.
    odds : GateOdds
        The chances.
    """

    collapse: Collapse
    scenario: Scenario
    odds: GateOdds


def gate_outlooks(setting: PlanSetting) -> tuple[GateOutlook, ...]:
    """Work out the whole gate's chances, for both collapses, unchanged and worse.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.

    Returns
    -------
    tuple of GateOutlook
        The setting's own collapse first; empty without a size, or above 2,000 cases.

    Examples
    --------
    >>> [(one.collapse, one.scenario) for one in gate_outlooks(PlanSetting(60))][:2]
    [('any_hit', 'unchanged'), ('any_hit', 'worse')]
    """
    if setting.n is None or setting.n > MOST_FOR_GATE:
        return ()
    scenarios: tuple[tuple[Scenario, float], ...] = (("unchanged", 0.0), ("worse", setting.drop))
    return tuple(
        GateOutlook(
            collapse,
            scenario,
            stats.gate_operating_characteristics(setting.design(setting.n, drop=drop, collapse=collapse)),
        )
        for collapse in sorted(COLLAPSES, key=lambda name: name != setting.collapse)
        for scenario, drop in scenarios
    )


def run_length(gates: tuple[GateOutlook, ...], runs: int = 20) -> RunLength | None:
    """Work out how often a gate cries wolf, from the chances where nothing changed.

    Parameters
    ----------
    gates : tuple of GateOutlook
        What `gate_outlooks` returned.
    runs : int, default 20
        Runs to look ahead.

    Returns
    -------
    RunLength or None
        For the first collapse; None without chances.

    Examples
    --------
    >>> run_length(()) is None
    True
    """
    for one in gates:
        if one.scenario == "unchanged":
            alarm = min(max(1.0 - one.odds.p_pass, 0.0), 1.0)
            return stats.false_alarm_run_length(0.0 if alarm < 1e-12 else alarm, runs)
    return None
