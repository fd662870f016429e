"""What the planning panel knows: the plan's setting as the sliders have it, and the numbers that follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neverempty import stats
from neverempty.planning import PlanSetting
from neverempty.planning.advice import advice, collapse_name
from neverempty.planning.power import power_outlook
from neverempty.planning.setting import COLLAPSES, USUAL_PASS_RATE, given
from neverempty.planning.whole_gate import GateOutlook, gate_outlooks
from neverempty.report.numbers import percent
from neverempty.report.tables import Table

MOST_CASES: Final = 500
_SIZES: Final = np.arange(1, MOST_CASES + 101)
_POINTS: Final = 121
_SCENARIOS: Final = {"unchanged": "nothing changed", "worse": "worse by the drop"}


class Range(NamedTuple):
    """What a slider can be set to.

    Parameters
    ----------
    label : str
        Its name for the reader.
    least, most, step : float
        Its ends and its step; in cases, repeats, or as shares.
    """

    label: str
    least: float
    most: float
    step: float


RANGES: Final[Mapping[str, Range]] = {
    "n": Range("cases", 5, MOST_CASES, 1),
    "drop": Range("drop to catch", 0.01, 0.25, 0.005),
    "churn": Range("churn", 0.0, 0.10, 0.005),
    "flake": Range("flake rate", 0.0, 0.10, 0.0025),
    "repeats": Range("repeats", 1, 9, 1),
    "floor": Range("floor", 0.50, 0.99, 0.01),
    "must_pass": Range("must-pass cases", 0, 50, 1),
}


class Curve(NamedTuple):
    """A line of a figure.

    Parameters
    ----------
    x, y : numpy.ndarray of float
        Its points.
    """

    x: NDArray[Any]
    y: NDArray[Any]


class FloorState:
    """The state of the planning panel.

    Parameters
    ----------
    setting : PlanSetting, optional
        What it starts from; 60 cases, a floor of 0.90 and nothing that flakes by default.

    Examples
    --------
    >>> state = FloorState()
    >>> state.change("n", 134)
    >>> state.advice
    'With 134 cases you catch a 5-point drop 80 % of the time, and fewer would not do.'
    """

    def __init__(self, setting: PlanSetting | None = None) -> None:
        start = setting or PlanSetting(60, floors=(0.90,))
        self._pass_rate = float(start.pass_rate)
        self.setting = dataclasses.replace(
            start,
            n=min(start.n or 60, MOST_CASES),
            must_pass=min(start.must_pass, start.n or 60, MOST_CASES),
            floors=(max(start.floors, default=0.90),),
        )

    @property
    def n(self) -> int:
        """Cases; there always are some."""
        return self.setting.n or 1

    def value(self, name: str) -> float:
        """Tell what a slider stands at.

        Parameters
        ----------
        name : str
            One of `RANGES`.

        Returns
        -------
        float
            Its value.
        """
        if name == "floor":
            return self.setting.floors[0]
        return float(getattr(self.setting, name))

    def change(self, name: str, value: Any) -> None:
        """Set one thing, and keep the others consistent with it.

        Must-pass cases never exceed the cases, and the pass rate leaves room for the churn.

        Parameters
        ----------
        name : str
            One of `RANGES`, or ``"collapse"``.
        value : float or str
            The new value.

        Raises
        ------
        ValueError
            Where it cannot be.
        """
        changes: dict[str, Any]
        if name == "floor":
            changes = {"floors": (float(value),)}
        elif name in ("churn", "flake"):
            changes = {name: given(float(value))}
        else:
            changes = {name: value}
        if name == "churn":
            start = self._pass_rate if self._pass_rate < 1.0 else USUAL_PASS_RATE
            changes["pass_rate"] = given(min(start, round(1.0 - float(value), 12)))
        if name == "n":
            changes["must_pass"] = min(self.setting.must_pass, int(value))
        if name == "must_pass":
            changes["must_pass"] = min(int(value), self.n)
        self.setting = dataclasses.replace(self.setting, **changes)

    @property
    def advice(self) -> str:
        """One sentence: what this size catches, and what would be enough."""
        return advice(self.setting, power_outlook(self.setting))

    def power_curve(self) -> Curve:
        """Compute the power by the number of cases.

        Returns
        -------
        Curve
            Cases, and the chance to catch the drop.
        """
        flips = self.setting.flips()
        worse = max(flips.regress - flips.improve, 0.0)
        power = stats.mcnemar_power_curve(_SIZES, [worse], flips.improve, self.setting.level)
        return Curve(_SIZES, power[0])

    def power(self) -> float:
        """Compute the power at the panel's own size."""
        flips = self.setting.flips()
        return float(stats.mcnemar_power(self.n, flips.regress, flips.improve, self.setting.level))

    def floor_curve(self) -> Curve:
        """Compute the chance to breach the floor by the true pass rate.

        Returns
        -------
        Curve
            Pass rates as they are seen, and chances.
        """
        floor = self.setting.floors[0]
        lowest = max(0.0, min(2.0 * floor - 1.0, self.setting.flips().candidate - 0.02))
        rates = np.linspace(lowest, 1.0, _POINTS)
        return Curve(rates, np.asarray(stats.floor_breach_probability(self.n, floor, rates)))

    def floor_marks(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Compute the pass rates seen, unchanged and worse, each with its chance to breach the floor."""
        flips, floor = self.setting.flips(), self.setting.floors[0]
        unchanged, worse = (
            (rate, float(stats.floor_breach_probability(self.n, floor, min(max(rate, 0.0), 1.0))))
            for rate in (flips.base, flips.candidate)
        )
        return unchanged, worse

    def gates(self) -> tuple[GateOutlook, ...]:
        """Compute the whole gate's chances; slower than the rest."""
        return gate_outlooks(self.setting)

    def gate_table(self) -> Table:
        """Lay the whole gate's chances out.

        Returns
        -------
        Table
            One row per collapse and scenario.
        """
        rows: list[tuple[str, ...]] = [
            (
                f"{collapse_name(one.collapse)}, {_SCENARIOS[one.scenario]}",
                percent(one.odds.p_pass),
                percent(one.odds.p_fail),
                percent(one.odds.p_inconclusive),
            )
            for one in self.gates()
        ]
        return Table("The whole gate", ("collapse, scenario", "pass", "fail", "inconclusive"), rows)


COLLAPSE_NAMES: Final = {collapse_name(name): name for name in COLLAPSES}
