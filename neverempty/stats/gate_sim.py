"""The gate simulated call by call: the Monte Carlo twin of the exact operating characteristics."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from neverempty.stats import _validate as check
from neverempty.stats.gate_design import GateDesign, GateOdds
from neverempty.stats.paired import mcnemar_exact, min_clean_flips

_BATCH = 2_000
_Bools = NDArray[np.bool_]


def _intended(design: GateDesign, suites: int, rng: np.random.Generator) -> tuple[_Bools, _Bools]:
    """Intended baseline and candidate outcomes, suites x cases; must-pass cases come first."""
    m, n = design.n_must_pass, design.n
    kind = np.zeros((suites, n), dtype=np.int64)
    if design.sampling == "fixed":
        counts = np.array(design.type_counts())
        kind[:] = np.repeat(np.arange(4), counts)
    else:
        kind[:, m:] = rng.choice(4, size=(suites, n - m), p=np.array(design.type_shares()))
    return kind <= 1, (kind == 0) | (kind == 2)


def _calls(intended: _Bools, flakes: NDArray[np.float64], k: int, rng: np.random.Generator) -> _Bools:
    """Outcomes of k calls of every case, each departing from the intended one with its flake rate."""
    flips = rng.random((*intended.shape, k)) < flakes[..., np.newaxis]
    return intended[..., np.newaxis] ^ flips


def _collapse(calls: _Bools, how: str) -> _Bools:
    if how == "any_hit":
        return np.asarray(calls.all(axis=-1))
    return np.asarray(2 * calls.sum(axis=-1) > calls.shape[-1])


def _verdicts(design: GateDesign, suites: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Count suites by verdict, in the order of the fields of `GateOdds`."""
    base, cand = _intended(design, suites, rng)
    shares, rates = (np.array(column) for column in zip(*design.classes(), strict=True))
    flakes = rates[rng.choice(rates.size, size=base.shape, p=shares / shares.sum())]
    before = _collapse(_calls(base, flakes, design.k, rng), design.how)
    calls = _calls(cand, flakes, design.k, rng)
    after = _collapse(calls, design.how)
    must_pass = calls[:, : design.n_must_pass]
    broken = ~_collapse(must_pass, design.must_pass_how or design.how).all(axis=1)
    unstable = (calls.any(axis=-1) & ~calls.all(axis=-1)).sum(axis=1)
    unclear = ~broken & (design.how == "majority") & (unstable > design.umax)
    p = mcnemar_exact((before & ~after).sum(axis=1), (~before & after).sum(axis=1), midp=design.midp)
    rejected = ~broken & ~unclear & (p < design.alpha)
    breached = ~broken & ~unclear & design.breaches()[(~after).sum(axis=1)]
    passed = ~(broken | unclear | rejected | breached)
    columns = (broken, unclear, rejected | breached, passed, breached, rejected)
    return np.array([column.sum() for column in columns], dtype=np.int64)


def gate_monte_carlo(
    design: GateDesign, n_suites: int = 20_000, rng: check.Rng = check.DEFAULT_SEED
) -> GateOdds:
    """Simulate the chances of the gate's verdicts: slower and rougher than the exact ones.

    Shares no code with `gate_operating_characteristics` beyond the design and the test, so it serves
    as its oracle.

    Parameters
    ----------
    design : GateDesign
        Suite, rules and the change to be met.
    n_suites : int
        Simulated suites; standard errors are at most 0.5 / sqrt(n_suites).
    rng : int or numpy.random.Generator
        Seed or generator.

    Returns
    -------
    GateOdds
        Shares of the simulated suites.

    Examples
    --------
    >>> from neverempty.stats import GateDesign
    >>> gate_monte_carlo(GateDesign(20, 3, 0.0, p_base=1.0), 100).p_pass
    1.0
    """
    total, source = check.count("n_suites", n_suites, 1), check.generator(rng)
    counts = np.zeros(6, dtype=np.int64)
    for start in range(0, total, _BATCH):
        counts += _verdicts(design, min(_BATCH, total - start), source)
    odds = GateOdds(*(counts / total).tolist())
    return dataclasses.replace(odds, cannot_reject=design.n < min_clean_flips(design.alpha, midp=design.midp))
