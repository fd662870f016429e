"""The gate that is planned for: a suite, its rules, the change to be met, and the chances that follow."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats.flakes import max_unstable_cases
from neverempty.stats.floors import BoundMethod, floor_min_passes, upper_bounds

GateCollapse = Literal["majority", "any_hit"]
Flakes = float | Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class GateDesign:
    """A gate on one metric, and the change it meets.

    A case's intended (baseline, candidate) outcome is pass-pass, pass-fail, fail-pass or fail-fail with
    probability p_base - drop, drop, gain and 1 - p_base - gain. Each call departs from it with
    probability q. Must-pass cases are among the n and are intended to pass on both sides.

    Parameters
    ----------
    n : int
        Applicable cases of the metric.
    k : int
        Repeats, on both sides.
    q : float, or sequence of (share, q)
        Flake rate of a call, or classes of cases with their shares and flake rates.
    p_base : float
        Share of cases whose intended baseline outcome is a pass.
    drop, gain : float
        Share that regresses and that improves.
    floor : float, optional
        Floor of the candidate's pass rate: breach when x/n < floor.
    limit : float, optional
        Limit of the candidate's failure rate: breach when the rate, or its upper bound, exceeds it.
    limit_on : {"rate", "wilson", "clopper_pearson", "clopper_pearson_upper"}
        What the limit is held against: the observed rate, or its 95 % upper bound.
    max_unstable_rate : float
        Allowed share of unstable cases; no rule for an any-hit metric, whose repeats may disagree.
    alpha : float
        Level of the one-sided exact McNemar test, adjusted by the caller where several are gated.
    n_must_pass : int
        Must-pass cases among the n.
    how : {"majority", "any_hit"}
        Collapse of the metric; a tie of an even k fails.
    must_pass_how : {"majority", "any_hit"}, optional
        Collapse of must-pass cases; the metric's own by default.
    sampling : {"multinomial", "fixed"}
        Whether cases are drawn from those shares, or the suite holds exactly (rounded) that many.
    midp : bool
        Mid-p test instead.

    Raises
    ------
    ValueError
        If a share lies outside [0, 1], shares contradict each other, or a count is wrong.

    Examples
    --------
    >>> GateDesign(60, 3, 0.02, p_base=0.97, drop=0.05).umax
    6
    """

    n: int
    k: int
    q: Flakes
    p_base: float
    drop: float = 0.0
    gain: float = 0.0
    floor: float | None = None
    limit: float | None = None
    limit_on: Literal["rate"] | BoundMethod = "rate"
    max_unstable_rate: float = 0.10
    alpha: float = 0.05
    n_must_pass: int = 0
    how: GateCollapse = "majority"
    must_pass_how: GateCollapse | None = None
    sampling: Literal["multinomial", "fixed"] = "multinomial"
    midp: bool = False

    def __post_init__(self) -> None:
        for name, least in (("n", 1), ("k", 1), ("n_must_pass", 0)):
            object.__setattr__(self, name, check.count(name, getattr(self, name), least))
        for name in ("p_base", "drop", "gain", "max_unstable_rate"):
            check.probability(name, getattr(self, name))
        check.open_unit("alpha", self.alpha)
        for name in ("floor", "limit"):
            if getattr(self, name) is not None:
                check.probability(name, getattr(self, name))
        check.choice(
            "limit_on", self.limit_on, ("rate", "wilson", "clopper_pearson", "clopper_pearson_upper")
        )
        check.choice("how", self.how, ("majority", "any_hit"))
        check.choice("must_pass_how", self.must_pass_how or self.how, ("majority", "any_hit"))
        check.choice("sampling", self.sampling, ("multinomial", "fixed"))
        if self.drop > self.p_base + 1e-12:
            raise ValueError(f"drop {self.drop} exceeds p_base {self.p_base}: only passing cases can regress")
        if self.gain > 1.0 - self.p_base + 1e-12:
            raise ValueError(f"gain {self.gain} exceeds 1 - p_base {1 - self.p_base:g}")
        if self.n_must_pass > self.type_counts()[0]:
            raise ValueError(
                f"n_must_pass {self.n_must_pass} exceeds the cases that can be sound on both sides"
            )
        if isinstance(self.q, Sequence) and not all(np.shape(pair) == (2,) for pair in self.q):
            raise ValueError(f"q must be one rate, or pairs of (share, rate); got {self.q!r}")
        shares = [check.probability("share of q", share) for share, _ in self.classes()]
        if abs(math.fsum(shares) - 1.0) > 1e-9:
            raise ValueError(f"the shares of q must add up to 1; got {math.fsum(shares)}")

    def classes(self) -> tuple[tuple[float, float], ...]:
        """Shares and flake rates of the classes of cases."""
        if isinstance(self.q, Sequence):
            return tuple((float(share), check.probability("q", q)) for share, q in self.q)
        return ((1.0, check.probability("q", self.q)),)

    def type_shares(self) -> tuple[float, float, float, float]:
        """Shares of intended pass-pass, pass-fail, fail-pass and fail-fail cases."""
        both = max(self.p_base - self.drop, 0.0)
        return both, self.drop, self.gain, max(1.0 - self.p_base - self.gain, 0.0)

    def type_counts(self) -> tuple[int, int, int, int]:
        """Cases of each intended type under fixed sampling; all may be pass-pass when they are drawn."""
        if self.sampling == "multinomial":
            return self.n, 0, 0, 0
        _, drop, gain, fail = (round(share * self.n) for share in self.type_shares())
        return self.n - drop - gain - fail, drop, gain, fail

    @property
    def umax(self) -> int:
        """Most unstable cases before the verdict is inconclusive."""
        return self.n if self.how == "any_hit" else max_unstable_cases(self.n, self.max_unstable_rate)

    def breaches(self) -> NDArray[np.bool_]:
        """Whether floor or limit is breached, by the number of failed cases 0..n."""
        fails = np.arange(self.n + 1)
        out = np.zeros(self.n + 1, dtype=bool)
        if self.floor is not None:
            out |= self.n - fails < floor_min_passes(self.n, self.floor)
        if self.limit is not None and self.limit_on == "rate":
            out |= fails > max_unstable_cases(self.n, self.limit)
        elif self.limit is not None and self.limit_on != "rate":
            out |= upper_bounds(fails, self.n, 0.95, self.limit_on) > self.limit
        return out


@dataclasses.dataclass(frozen=True)
class GateOdds:
    """Chances of the gate's verdicts, in the order in which the rules are asked.

    Parameters
    ----------
    p_fail_must_pass : float
        A must-pass case failed.
    p_inconclusive : float
        Not that, but too many cases were unstable.
    p_fail_stat : float
        Neither, but a floor or limit was breached, or the test was significant.
    p_pass : float
        None of these.
    p_floor_breach_joint, p_mcnemar_joint : float
        The two parts of `p_fail_stat`, which overlap.
    cannot_reject : bool
        Whether the cases are fewer than the clean flips that the level needs.
    """

    p_fail_must_pass: float
    p_inconclusive: float
    p_fail_stat: float
    p_pass: float
    p_floor_breach_joint: float
    p_mcnemar_joint: float
    cannot_reject: bool = False

    @property
    def p_fail(self) -> float:
        """Chance of a failing verdict for any reason."""
        return self.p_fail_must_pass + self.p_fail_stat
