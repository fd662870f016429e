"""What a plan assumes, and what a case's repeats make of it: the chances of a flip between two runs."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from neverempty._errors import UsageError
from neverempty.stats import Estimate, GateDesign, collapse_probabilities

Collapse = Literal["majority", "any_hit"]
LimitOn = Literal["rate", "wilson", "clopper_pearson", "clopper_pearson_upper"]
COLLAPSES: Final[tuple[Collapse, ...]] = ("any_hit", "majority")
USUAL_PASS_RATE: Final = 0.97


class Flips(NamedTuple):
    """Chances of what two runs show of one case, after their repeats are collapsed.

    Parameters
    ----------
    regress, improve : float
        Chance that a case passes in the first run only, or in the second only.
    base, candidate : float
        Chance to pass in the first run, and in the second.
    """

    regress: float
    improve: float
    base: float
    candidate: float


@dataclasses.dataclass(frozen=True)
class PlanSetting:
    """What a plan assumes.

    A case is meant to pass or to fail, before and after; each call departs from that with the flake rate.

    Parameters
    ----------
    n : int or None
        Cases to which the metric applies; None where a size is asked for and none is enough.
    drop : float
        Fall of the pass rate that is to be caught.
    power : float
        Wanted chance to catch it.
    repeats : int
        Repeats of each case, in both runs.
    flake : Estimate
        Chance that one call departs from what its case is meant to do.
    churn : Estimate
        Share of cases that improve, and as many more than the drop that get worse.
    pass_rate : Estimate
        Share of cases that are meant to pass before the change.
    floors : tuple of float
        Floors of the pass rate.
    limit : float or None
        Limit of the failure rate.
    limit_on : str
        Whether the limit is held against the observed rate or an upper bound of it.
    must_pass : int
        Cases that must pass, among the n.
    collapse : {"any_hit", "majority"}
        How the metric collapses the repeats of a case.
    alpha : float
        Level of the gate's exact test.
    metrics : int
        Gated metrics, among which Holm's method shares the level.
    max_unstable_rate : float
        Share of unstable cases above which a majority metric is inconclusive.
    metric : str
        The metric that is planned for, for headings.
    """

    n: int | None
    drop: float = 0.05
    power: float = 0.8
    repeats: int = 3
    flake: Estimate = dataclasses.field(default_factory=lambda: given(0.0))
    churn: Estimate = dataclasses.field(default_factory=lambda: given(0.0))
    pass_rate: Estimate = dataclasses.field(default_factory=lambda: given(USUAL_PASS_RATE))
    floors: tuple[float, ...] = ()
    limit: float | None = None
    limit_on: LimitOn = "wilson"
    must_pass: int = 0
    collapse: Collapse = "any_hit"
    alpha: float = 0.05
    metrics: int = 1
    max_unstable_rate: float = 0.10
    metric: str = "misreport_as_empty"

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        self._check_shares()
        churn, before = float(self.churn), float(self.pass_rate)
        self._check_choices()
        if churn > 1.0 - before + 1e-12:
            raise UsageError(
                f"churn {churn:g} exceeds the {1 - before:g} that fail, and only they can improve"
            )
        if self.drop + churn > before + 1e-12:
            raise UsageError(f"drop {self.drop:g} and churn {churn:g} exceed the pass rate {before:g}")
        if self.n is not None and self.must_pass > self.n:
            raise UsageError(f"must_pass {self.must_pass} exceeds the {self.n} cases")

    def _check_shares(self) -> None:
        shares = [(name, getattr(self, name), False) for name in ("drop", "power", "alpha")]
        shares += [(name, float(getattr(self, name)), True) for name in ("flake", "churn", "pass_rate")]
        shares += [("max_unstable_rate", self.max_unstable_rate, True)]
        shares += [("floor", floor, True) for floor in self.floors]
        shares += [] if self.limit is None else [("limit", self.limit, True)]
        for name, value, ends_too in shares:
            if not isinstance(value, (int, float, np.integer, np.floating)):
                raise UsageError(f"{name} {value!r} is no number")
            # Written so that NaN is refused too.
            if not (0.0 < value < 1.0 or (ends_too and value in (0.0, 1.0))):
                raise UsageError(f"{name} {value:g} is no share from 0 to 1, such as 0.05 for five points")

    def _check_choices(self) -> None:
        for name, least in (("repeats", 1), ("metrics", 1), ("must_pass", 0)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < least:
                raise UsageError(f"{name} {value!r} must be a whole number of at least {least}")
        for name, choices in (("collapse", COLLAPSES), ("limit_on", get_args(LimitOn))):
            value = getattr(self, name)
            if value not in choices:
                raise UsageError(f"{name} {value!r} is none of {', '.join(choices)}")

    @property
    def level(self) -> float:
        """The level that Holm's method leaves the smallest p-value."""
        return self.alpha / self.metrics

    def flips(self, drop: float | None = None, collapse: Collapse | None = None) -> Flips:
        """Chances of a flip between two runs, flakes included.

        Parameters
        ----------
        drop : float, optional
            Another drop than the setting's; 0 where nothing changed.
        collapse : {"any_hit", "majority"}, optional
            Another collapse.

        Returns
        -------
        Flips
            The chances of one case.

        Examples
        --------
        >>> flips = PlanSetting(60, churn=given(0.01)).flips()
        >>> round(flips.regress, 3), round(flips.improve, 3)
        (0.06, 0.01)
        """
        chances = collapse_probabilities(float(self.flake), self.repeats)
        if (collapse or self.collapse) == "any_hit":
            sound, broken = 1.0 - chances.p_any_hit, chances.p_all_hit
        else:
            sound, broken = 1.0 - chances.p_majority_strict - chances.p_tie, chances.p_majority_strict
        churn, before = float(self.churn), float(self.pass_rate)
        worse = (self.drop if drop is None else drop) + churn
        regress = improve = 0.0
        for share, base, candidate in (
            (max(before - worse, 0.0), sound, sound),
            (worse, sound, broken),
            (churn, broken, sound),
            (max(1.0 - before - churn, 0.0), broken, broken),
        ):
            regress += share * base * (1.0 - candidate)
            improve += share * (1.0 - base) * candidate
        base_rate = before * sound + (1.0 - before) * broken
        return Flips(regress, improve, base_rate, base_rate - regress + improve)

    def design(self, n: int, *, drop: float, collapse: Collapse) -> GateDesign:
        """Describe the gate on this setting to the statistics.

        Parameters
        ----------
        n : int
            Cases.
        drop : float
            The true drop; 0 where nothing changed.
        collapse : {"any_hit", "majority"}
            How the metric collapses repeats; must-pass cases follow it.

        Returns
        -------
        GateDesign
            What `neverempty.stats.gate_operating_characteristics` takes.
        """
        churn = float(self.churn)
        return GateDesign(
            n,
            self.repeats,
            float(self.flake),
            p_base=float(self.pass_rate),
            drop=drop + churn,
            gain=churn,
            floor=max(self.floors, default=None),
            limit=self.limit,
            limit_on=self.limit_on,
            max_unstable_rate=self.max_unstable_rate,
            alpha=self.level,
            n_must_pass=self.must_pass,
            how=collapse,
        )


def given(value: float) -> Estimate:
    """Mark a number as one that the user gave, so that it has no interval.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    Estimate
        With the method ``"given"``.

    Examples
    --------
    >>> given(0.01).method
    'given'
    """
    return Estimate(float(value), method="given")
