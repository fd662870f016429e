"""What nondeterministic calls do to collapsed outcomes, to the instability rule and to must-pass cases."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate

MustPassCollapse = Literal["majority", "any_hit"]


@dataclasses.dataclass(frozen=True)
class CollapseProbabilities:
    """Chances over k independent calls, each a hit with probability q."""

    p_unstable: float
    p_any_hit: float
    p_all_hit: float
    p_majority_strict: float
    p_tie: float


def collapse_probabilities(q: float, k: int) -> CollapseProbabilities:
    """Chances of what k independent calls show together.

    Parameters
    ----------
    q : float
        Chance that one call is a hit.
    k : int
        Calls, at least 1.

    Returns
    -------
    CollapseProbabilities
        Not all equal; at least one hit; all hits; more than k/2 hits; exactly k/2 hits.

    Raises
    ------
    ValueError
        If q lies outside [0, 1] or k < 1.

    Examples
    --------
    >>> round(collapse_probabilities(0.01, 3).p_any_hit, 6)
    0.029701
    """
    q, k = check.probability("q", q), check.count("k", k, 1)
    chance = [math.comb(k, h) * q**h * (1.0 - q) ** (k - h) for h in range(k + 1)]
    return CollapseProbabilities(
        p_unstable=math.fsum(chance[1:k]),
        p_any_hit=math.fsum(chance[1:]),
        p_all_hit=chance[k],
        p_majority_strict=math.fsum(chance[k // 2 + 1 :]),
        p_tie=0.0 if k % 2 else chance[k // 2],
    )


@dataclasses.dataclass(frozen=True)
class InstabilityOdds:
    """How often the instability rule fires: at `u_fire` unstable cases or more."""

    u_fire: int
    p_case_unstable: float
    p_inconclusive: float


def max_unstable_cases(n: int, max_rate: float) -> int:
    """Most unstable cases that the instability rule allows: U/n > max_rate is too many, strictly.

    Parameters
    ----------
    n : int
        Cases.
    max_rate : float
        Allowed share, read as the decimal that was written.

    Returns
    -------
    int
        floor(max_rate * n) in rational arithmetic.

    Examples
    --------
    >>> max_unstable_cases(30, 0.1)
    3
    """
    return math.floor(check.decimal_fraction("max_rate", max_rate) * check.count("n", n))


def instability_gate_probability(n: int, k: int, q: float, max_rate: float = 0.10) -> InstabilityOdds:
    """Chance that more than the allowed share of cases is unstable.

    Parameters
    ----------
    n, k : int
        Cases, and repeats of each.
    q : float
        Chance that a call departs from its case's intended outcome, the same for all cases.
    max_rate : float
        Allowed share of unstable cases.

    Returns
    -------
    InstabilityOdds
        P(U/n > max_rate) for U ~ Bin(n, P(case unstable)).

    Raises
    ------
    ValueError
        If n or k is no count, or a rate lies outside [0, 1].

    Examples
    --------
    >>> round(instability_gate_probability(60, 3, 0.035).p_inconclusive, 3)
    0.407
    """
    from neverempty.stats import _binomial

    size = check.count("n", n, 1)
    unstable = collapse_probabilities(q, k).p_unstable
    fires = max_unstable_cases(size, max_rate) + 1
    return InstabilityOdds(fires, unstable, float(_binomial.at_least(fires, size, unstable)))


def nondeterminism_threshold(
    max_rate: float = 0.10, k: int = 3, *, n: int | None = None, p_fire: float = 0.5
) -> Estimate:
    """Flake rate of a call at which the instability rule becomes a matter of chance.

    Parameters
    ----------
    max_rate : float
        Allowed share of unstable cases.
    k : int
        Repeats.
    n : int, optional
        Cases. Without it, the flake rate whose *expected* unstable share is max_rate; with it, the one
        at which the rule fires with probability `p_fire`: 60 cases fire in 5 % of runs at 1.9 %.
    p_fire : float
        Chance to fire, with `n` only.

    Returns
    -------
    Estimate
        Flake rate in [0, 0.5]; undefined where even coin flips do not get there.

    Raises
    ------
    ValueError
        If a rate lies outside its range or a count is wrong.

    Examples
    --------
    >>> round(nondeterminism_threshold().value, 4)
    0.0345
    >>> round(nondeterminism_threshold(n=60, p_fire=0.05).value, 4)
    0.019
    """
    rate, calls = check.probability("max_rate", max_rate), check.count("k", k, 1)
    target = rate if n is None else check.open_unit("p_fire", p_fire)

    def reached(q: float) -> float:
        if n is None:
            return collapse_probabilities(q, calls).p_unstable
        return instability_gate_probability(n, calls, q, rate).p_inconclusive

    method = "nondeterminism_threshold"
    if reached(0.5) < target:
        reason = f"coin flips at k={calls} stay below: no flake rate gets there"
        return Estimate(None, n=n or 0, method=method, status="undefined", reason=reason)
    lo, hi = 0.0, 0.5
    for _ in range(60):
        mid = (lo + hi) / 2.0
        lo, hi = (mid, hi) if reached(mid) < target else (lo, mid)
    return Estimate(hi, n=n or 0, method=method)


def must_pass_false_alarm(
    n_must_pass: int, k: int, q: float, how: MustPassCollapse = "any_hit", *, confirm: bool = False
) -> float:
    """Chance that flakes alone fail the must-pass rule, though every must-pass case is sound.

    Parameters
    ----------
    n_must_pass, k : int
        Must-pass cases, and repeats of each.
    q : float
        Chance that a call fails although its case is sound.
    how : {"any_hit", "majority"}
        Collapse of the metric: one failing repeat fails the case, or half of them.
    confirm : bool
        Whether a failed case is run again with k fresh repeats and counts only if it fails again.

    Returns
    -------
    float
        1 - (1 - a)^m with a the chance that one case fails (squared when confirmed).

    Raises
    ------
    ValueError
        If counts or q are wrong, or `how` is unknown.

    Examples
    --------
    >>> round(must_pass_false_alarm(10, 3, 0.01), 2)
    0.26
    >>> round(must_pass_false_alarm(10, 3, 0.01, confirm=True), 3)
    0.009
    """
    check.choice("how", how, ("any_hit", "majority"))
    cases, chances = check.count("n_must_pass", n_must_pass), collapse_probabilities(q, k)
    fails = chances.p_any_hit if how == "any_hit" else chances.p_majority_strict + chances.p_tie
    return 1.0 - (1.0 - (fails * fails if confirm else fails)) ** cases
