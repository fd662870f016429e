"""The chances of the exact test: power, smallest size, smallest detectable drop, flips by chance."""

from __future__ import annotations

import dataclasses
from typing import Literal

from neverempty import stats
from neverempty.planning.setting import PlanSetting
from neverempty.stats import Estimate, SampleSize


@dataclasses.dataclass(frozen=True)
class PowerOutlook:
    """What the exact McNemar test can do.

    Parameters
    ----------
    power : float or None
        Chance to catch the drop with the n cases; None without a size.
    smallest : SampleSize
        Smallest size with the wanted power.
    detectable : Estimate
        Smallest drop that n cases catch with the wanted power, as a share.
    clean_flips : int
        Regressions that the level needs where nothing improves.
    cannot_reject : bool
        Whether the cases are fewer than that: such a run could never fail by the test.
    chance_flips : Estimate
        Share of cases that flip either way, each, where nothing changed: churn and flakes together. The
        interval is that of the flake rate and the churn behind it.
    """

    power: float | None
    smallest: SampleSize
    detectable: Estimate
    clean_flips: int
    cannot_reject: bool
    chance_flips: Estimate


def power_outlook(setting: PlanSetting, max_n: int = 20_000) -> PowerOutlook:
    """Work out what the exact test can do.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.
    max_n : int, default 20000
        Largest size to look at.

    Returns
    -------
    PowerOutlook
        Power, size, detectable drop.

    Examples
    --------
    >>> found = power_outlook(PlanSetting(60))
    >>> round(found.power, 2), found.smallest.n, found.clean_flips
    (0.18, 134, 5)
    """
    flips, level, n = setting.flips(), setting.level, setting.n
    clean = stats.min_clean_flips(level)
    smallest = stats.mcnemar_sample_size(flips.regress, flips.improve, setting.power, level, max_n=max_n)
    power = None if n is None else stats.mcnemar_power(n, flips.regress, flips.improve, level)
    return PowerOutlook(
        power, smallest, detectable_drop(setting), clean, n is not None and n < clean, chance_flips(setting)
    )


def detectable_drop(setting: PlanSetting) -> Estimate:
    """Find the smallest drop that the cases catch with the wanted power, flakes included.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.

    Returns
    -------
    Estimate
        The drop as a share; ``cannot_reject`` where no drop is enough, ``undefined`` without a size.

    Examples
    --------
    >>> round(detectable_drop(PlanSetting(100)).value, 3)
    0.066
    """
    n, method = setting.n, "minimum_detectable_drop"
    if n is None:
        return Estimate(None, method=method, status="undefined", reason="there is no size to ask about")

    def caught(drop: float) -> bool:
        flips = setting.flips(drop)
        return stats.mcnemar_power(n, flips.regress, flips.improve, setting.level) >= setting.power

    lo, hi = 0.0, float(setting.pass_rate) - float(setting.churn)
    if not caught(hi):
        reason = f"{n} cases catch no drop with a chance of {setting.power:g}"
        return Estimate(None, n=n, method=method, status="cannot_reject", reason=reason)
    for _ in range(30):
        mid = (lo + hi) / 2.0
        lo, hi = (lo, mid) if caught(mid) else (mid, hi)
    return Estimate(hi, n=n, method=method)


def chance_flips(setting: PlanSetting) -> Estimate:
    """Find the share of cases that improve from run to run though nothing changed; as many get worse.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.

    Returns
    -------
    Estimate
        With the interval that follows from those of flake rate and churn, where they have one.

    Examples
    --------
    >>> chance_flips(PlanSetting(60)).value
    0.0
    """

    def at(end: Literal["value", "lo", "hi"]) -> float:
        ends = {name: getattr(getattr(setting, name), end) for name in ("flake", "churn")}
        room = 1.0 - float(setting.pass_rate)
        flake = float(setting.flake) if ends["flake"] is None else ends["flake"]
        churn = float(setting.churn) if ends["churn"] is None else min(ends["churn"], room)
        # The drop plays no part in it, and must not stand in the way of a large churn.
        return (
            dataclasses.replace(setting, flake=Estimate(min(flake, 0.5)), churn=Estimate(churn), drop=1e-9)
            .flips(0.0)
            .improve
        )

    value = at("value")
    if setting.flake.lo is None and setting.churn.lo is None:
        return Estimate(value, method="chance_flips")
    # The chance is no longer rising where flakes approach coin flips: the ends stay around the value.
    lo, hi = sorted((at("lo"), at("hi")))
    return Estimate(
        value,
        min(lo, value),
        max(hi, value),
        setting.flake.n or setting.churn.n,
        conf=setting.flake.conf or setting.churn.conf,
        method="chance_flips",
    )
