"""What single rules of a gate cost and need: floors, must-pass cases, a limit."""

from __future__ import annotations

import dataclasses
from typing import Final

from neverempty import stats
from neverempty.planning.setting import COLLAPSES, Collapse, PlanSetting
from neverempty.stats import FloorPlan

_EXAMPLE_FLAKES: Final = (0.005, 0.01, 0.02)
_EXAMPLE_CASES: Final = (1, 5, 10, 20)


@dataclasses.dataclass(frozen=True)
class FloorOutlook:
    """What a floor does to a sound agent and to a worse one.

    Parameters
    ----------
    floor : float
        The floor of the observed pass rate.
    rate_unchanged, rate_worse : float
        Pass rates that are seen, flakes included.
    breach_unchanged, breach_worse : float or None
        Chance of a breach with n cases; None without a size.
    sizes : FloorPlan or None
        The sizes that tell both apart; None where flakes leave nothing to tell apart.
    """

    floor: float
    rate_unchanged: float
    rate_worse: float
    breach_unchanged: float | None
    breach_worse: float | None
    sizes: FloorPlan | None


@dataclasses.dataclass(frozen=True)
class MustPassPrice:
    """Price of must-pass cases: false alarms by flakes alone.

    Parameters
    ----------
    collapse : {"any_hit", "majority"}
        How their repeats collapse.
    flake : float
        Flake rate of a call.
    cases : int
        Must-pass cases.
    alarm : float
        Chance that flakes fail at least one of them.
    confirmed : float
        The same where a failed case is run again and counts only if it fails again.
    """

    collapse: Collapse
    flake: float
    cases: int
    alarm: float
    confirmed: float


@dataclasses.dataclass(frozen=True)
class LimitOutlook:
    """Cases that a limit on the failure rate needs.

    Parameters
    ----------
    limit : float
        The limit.
    bound : str
        The interval whose upper end is held against it, ``"rate"`` where it is the rate itself.
    cases : tuple of (int, int)
        Failing cases to allow for, and cases needed then; empty for ``"rate"``.
    """

    limit: float
    bound: str
    cases: tuple[tuple[int, int], ...]


def floor_outlooks(setting: PlanSetting) -> tuple[FloorOutlook, ...]:
    """Work out what each floor does.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.

    Returns
    -------
    tuple of FloorOutlook
        One per floor, in order.

    Examples
    --------
    >>> found = floor_outlooks(PlanSetting(60, drop=0.08, pass_rate=stats.Estimate(0.98), floors=(0.95,)))
    >>> found[0].sizes.n_first, found[0].sizes.n_stable
    (60, 80)
    """
    flips, n = setting.flips(), setting.n
    good, bad = flips.base, flips.candidate
    # Without a change the candidate's rate is the baseline's: churn goes both ways.
    tells = bad < good and bad < 1.0

    def breach(floor: float, rate: float) -> float | None:
        return None if n is None else float(stats.floor_breach_probability(n, floor, min(rate, 1.0)))

    return tuple(
        FloorOutlook(
            floor,
            good,
            bad,
            breach(floor, good),
            breach(floor, bad),
            stats.floor_plan(floor, min(good, 1.0), bad, power=setting.power) if tells else None,
        )
        for floor in setting.floors
    )


def must_pass_prices(setting: PlanSetting) -> tuple[MustPassPrice, ...]:
    """List what must-pass cases cost in false alarms.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.

    Returns
    -------
    tuple of MustPassPrice
        For 1, 5, 10 and 20 cases and the setting's own number, at its flake rate; where that is 0, at flake
        rates of 0.5, 1 and 2 % as examples.

    Examples
    --------
    >>> round(must_pass_prices(PlanSetting(60, flake=stats.Estimate(0.01)))[2].alarm, 2)
    0.26
    """
    flake, own = float(setting.flake), setting.must_pass
    counts = sorted({*_EXAMPLE_CASES, own} - {0})
    return tuple(
        MustPassPrice(
            collapse,
            rate,
            cases,
            stats.must_pass_false_alarm(cases, setting.repeats, rate, collapse),
            stats.must_pass_false_alarm(cases, setting.repeats, rate, collapse, confirm=True),
        )
        for rate in ((flake,) if flake > 0 else _EXAMPLE_FLAKES)
        for collapse in sorted(COLLAPSES, key=lambda name: name != setting.collapse)
        for cases in counts
    )


def limit_outlook(setting: PlanSetting) -> LimitOutlook | None:
    """Work out how many cases the limit needs.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.

    Returns
    -------
    LimitOutlook or None
        None without a limit.

    Examples
    --------
    >>> limit_outlook(PlanSetting(60, limit=0.02)).cases[0]
    (0, 189)
    """
    if setting.limit is None:
        return None
    bound = setting.limit_on
    cases = (
        tuple(
            (hits, stats.clean_cases_for_limit(setting.limit, method=bound, hits=hits)) for hits in (0, 1, 2)
        )
        if bound != "rate" and 0.0 < setting.limit < 1.0
        else ()
    )
    return LimitOutlook(setting.limit, bound, cases)
