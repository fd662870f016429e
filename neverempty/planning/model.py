"""The plan: what is assumed, what follows, and one sentence of advice."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from neverempty.planning.power import PowerOutlook
from neverempty.planning.rules import FloorOutlook, LimitOutlook, MustPassPrice
from neverempty.planning.setting import PlanSetting
from neverempty.planning.whole_gate import GateOutlook
from neverempty.stats import RunLength

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a suite can and cannot tell, worked out before it is run.

    Made by `neverempty.plan`. Print it, show it in a notebook, or take its numbers.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.
    test : PowerOutlook
        Power, smallest size, smallest detectable drop.
    floors : tuple of FloorOutlook
        One per floor.
    gates : tuple of GateOutlook
        The whole gate's chances: both collapses, unchanged and worse.
    must_pass : tuple of MustPassPrice
        False alarms of must-pass cases.
    limit : LimitOutlook or None
        Cases that the limit needs.
    run_length : RunLength or None
        How often the gate cries wolf where nothing changed.
    """

    setting: PlanSetting
    test: PowerOutlook
    floors: tuple[FloorOutlook, ...]
    gates: tuple[GateOutlook, ...]
    must_pass: tuple[MustPassPrice, ...]
    limit: LimitOutlook | None
    run_length: RunLength | None

    @property
    def cannot_reject(self) -> bool:
        """Whether a run of that size could never fail by the test."""
        return self.test.cannot_reject

    @property
    def power(self) -> float | None:
        """Chance to catch the drop; None without a size."""
        return self.test.power

    @property
    def smallest_n(self) -> int | None:
        """Smallest size with the wanted power; None where none is enough."""
        return self.test.smallest.n

    @property
    def minimum_detectable_drop(self) -> float | None:
        """Smallest drop that is caught with the wanted power, as a share; None where there is none."""
        return self.test.detectable.value

    @property
    def advice(self) -> str:
        """One sentence: what this size catches, and what would be enough."""
        from neverempty.planning.advice import advice

        return advice(self.setting, self.test)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What else to know before the run, most pressing first; often nothing."""
        from neverempty.planning.advice import cautions

        return cautions(self)

    def to_frame(self) -> pd.DataFrame:
        """Lay all numbers of the plan out, one a row.

        Returns
        -------
        pandas.DataFrame
            ``topic`` (setting, test, floor, gate, must_pass, limit, run_length), ``quantity``, ``collapse``
            and ``case`` (what it holds for; empty where nothing needs saying), ``value``, ``lo``, ``hi``
            (floats; shares and chances from 0 to 1, cases as counts; NaN where undefined).
        """
        from neverempty.planning.frame import plan_frame

        return plan_frame(self)

    def __str__(self) -> str:
        from neverempty.planning.render import plan_text

        return plan_text(self)

    def __repr__(self) -> str:
        return f"<Plan: {self.advice}>"

    def _repr_html_(self) -> str:
        from neverempty.planning.render import plan_html

        return plan_html(self)
