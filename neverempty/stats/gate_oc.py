"""Operating characteristics of the whole gate: chances to pass, fail and stay inconclusive, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neverempty.stats._estimate import FloatArray
from neverempty.stats.gate_design import GateDesign, GateOdds
from neverempty.stats.paired import critical_table, min_clean_flips

# Mass beyond a trimmed axis folds back into it; this much is below rounding.
_TAIL = 1e-17
# Points evaluated at once: few enough to stay in the processor's cache.
_BLOCK = 4096
_Grid = NDArray[np.complex128]


def passes(calls: int, k: int, how: str) -> bool:
    """Whether a case with that many passing calls of k passes."""
    return calls == k if how == "any_hit" else 2 * calls > k


def _candidate(design: GateDesign, intended: bool, q: float, must_pass: bool) -> FloatArray:
    """Chances [unstable?, passes?] of a candidate case; a must-pass case only where it does not fail."""
    k, out = design.k, np.zeros((2, 2))
    for flips in range(k + 1):
        calls = k - flips if intended else flips
        if must_pass and not passes(calls, k, design.must_pass_how or design.how):
            continue
        chance = math.comb(k, flips) * q**flips * (1.0 - q) ** (k - flips)
        out[int(0 < calls < k), int(passes(calls, k, design.how))] += chance
    return out


def _cells(
    design: GateDesign, kinds: Sequence[tuple[float, bool, bool]], must_pass: bool = False
) -> FloatArray:
    """Chances [unstable?, (pass-pass, regression, improvement, both fail)] of one case of a group.

    `kinds` lists the share and the intended (baseline, candidate) outcomes of the group.
    """
    out = np.zeros((2, 4))
    for share, base, cand in kinds:
        for weight, q in design.classes():
            after = _candidate(design, cand, q, must_pass)
            before = _candidate(design, base, q, False).sum(axis=0)
            joint = np.stack(
                [
                    before[1] * after[:, 1],
                    before[1] * after[:, 0],
                    before[0] * after[:, 1],
                    before[0] * after[:, 0],
                ],
                axis=1,
            )
            out += share * weight * joint
    return out


_INTENDED = ((True, True), (True, False), (False, True), (False, False))


def _groups(design: GateDesign) -> list[tuple[int, FloatArray]]:
    """Independent groups of cases: their number and the chances of one case."""
    groups = [(design.n_must_pass, _cells(design, [(1.0, True, True)], must_pass=True))]
    if design.sampling == "multinomial":
        kinds = [(share, *kind) for share, kind in zip(design.type_shares(), _INTENDED, strict=True)]
        groups.append((design.n - design.n_must_pass, _cells(design, kinds)))
    else:
        both, *others = design.type_counts()
        for count, kind in zip((both - design.n_must_pass, *others), _INTENDED, strict=True):
            groups.append((count, _cells(design, [(1.0, *kind)])))
    return [(count, cells) for count, cells in groups if count]


def _axis(groups: Sequence[tuple[int, FloatArray]], unstable: bool, cell: int | None) -> int:
    """Length of an axis beyond which a count has no mass worth keeping."""
    from neverempty.stats import _binomial

    n = sum(count for count, _ in groups)
    mean = sum(count * (cells[1].sum() if unstable else cells[:, cell].sum()) for count, cells in groups)
    if mean == 0.0:
        return 1
    # A sum of unequal binary variables has lighter tails than the binomial with their mean rate.
    tail = _binomial.at_least(np.arange(n + 1), n, min(mean / n, 1.0))
    return int((tail > _TAIL).sum())


def _power(base: _Grid, exponent: int) -> _Grid:
    out, square = np.ones_like(base), base
    while exponent:
        if exponent & 1:
            out = out * square
        exponent >>= 1
        if exponent:
            square = square * square
    return out


def _coefficients(stable: _Grid, unstable: _Grid, n: int, top: int) -> _Grid:
    """Coefficients of z^0 .. z^top in (stable + z unstable)^n."""
    out = np.zeros((top + 1, *stable.shape), dtype=complex)
    last = min(n, top)
    power = _power(stable, n - last)
    for u in range(last, 0, -1):
        out[u], power = power, power * stable
    out[0], weight = power, np.ones_like(stable)
    for u in range(1, last + 1):
        weight = weight * unstable * ((n - u + 1) / u)
        out[u] *= weight
    return out


def _few_unstable(parts: Sequence[tuple[int, _Grid, _Grid]], top: int) -> _Grid:
    """Sum of the coefficients of z^0 .. z^top in the product of (stable + z unstable)^n."""
    factor, product = np.ones_like(parts[0][1]), None
    for n, stable, unstable in parts:
        if not unstable.any():
            factor = factor * _power(stable, n)
            continue
        terms = _coefficients(stable, unstable, n, top)
        if product is None:
            product = terms
            continue
        joined = np.zeros_like(terms)
        for u in range(top + 1):
            joined[u:] += product[u] * terms[: top + 1 - u]
        product = joined
    return factor if product is None else factor * product.sum(axis=0)


def _joint(
    design: GateDesign, groups: Sequence[tuple[int, FloatArray]], shape: tuple[int, int, int]
) -> FloatArray:
    """P(regressions, improvements, both fail; not too many unstable) by inverse Fourier transform.

    The generating function is the product over groups of (S + z V)^count, with S and V its stable and
    unstable parts; the terms up to z^umax are the suites that the instability rule lets through.
    """
    nb, nc, nf = shape
    roots = [np.exp(-2j * np.pi * np.arange(size) / size) for size in shape]
    half = nf // 2 + 1  # the rest follows by symmetry: the result is real
    wc, wf = roots[1][None, :, None], roots[2][None, None, :half]
    unlimited = design.umax >= _axis(groups, True, None) - 1
    total = np.empty((nb, nc, half), dtype=complex)
    rows = max(1, _BLOCK // (nc * half))
    for start in range(0, nb, rows):
        wb = roots[0][start : start + rows, None, None]
        parts = []
        for count, cells in groups:
            stable, unstable = (c[0] + c[1] * wb + c[2] * wc + c[3] * wf for c in cells.astype(complex))
            parts.append((count, stable, unstable))
        if unlimited:
            parts = [(count, stable + unstable, np.zeros_like(stable)) for count, stable, unstable in parts]
        total[start : start + rows] = _few_unstable(parts, design.umax)
    return np.asarray(np.maximum(np.fft.irfftn(total, s=shape, axes=(0, 1, 2)), 0.0))


def gate_operating_characteristics(design: GateDesign) -> GateOdds:
    """Exact chances of the gate's verdicts on a declared suite.

    Verdict order: a failed must-pass case; too many unstable cases (majority metrics only); a breached
    floor or limit, or a significant one-sided exact McNemar test; pass.

    Parameters
    ----------
    design : GateDesign
        Suite, rules and the change to be met; drop = gain = 0 gives the false alarms.

    Returns
    -------
    GateOdds
        Chances that add up to 1.

    Notes
    -----
    The joint distribution of regressions, improvements, common failures and unstable cases is the
    expansion of a multinomial generating function, evaluated on roots of unity and transformed back.
    Axes are cut where less than 1e-17 of the mass lies.

    Examples
    --------
    >>> from neverempty.stats import GateDesign
    >>> odds = gate_operating_characteristics(GateDesign(60, 3, 0.02, p_base=0.97, drop=0.05, floor=0.85))
    >>> round(odds.p_inconclusive, 3), round(odds.p_fail, 2), round(odds.p_pass, 2)
    (0.062, 0.17, 0.77)
    """
    groups, breach = _groups(design), design.breaches()
    size_b, size_c = (_axis(groups, False, cell) for cell in (1, 2))
    # Common failures matter only to a floor or limit.
    size_f = _axis(groups, False, 3) if breach.any() else 1
    if size_f == 1:
        groups = [(count, _without_common_failures(cells)) for count, cells in groups]
    joint = _joint(design, groups, (size_b, size_c, size_f))
    b, c, f = np.ogrid[:size_b, :size_c, :size_f]
    critical = critical_table(size_b + size_c, design.alpha, design.midp)
    rejects = np.broadcast_to(b >= critical[b + c], joint.shape)
    breached = np.broadcast_to(breach[np.minimum(b + f, design.n)], joint.shape)
    sound = float(_cells(design, [(1.0, True, True)], must_pass=True).sum()) ** design.n_must_pass
    decided = float(joint.sum())
    failed = float(joint[rejects | breached].sum())
    return GateOdds(
        p_fail_must_pass=1.0 - sound,
        p_inconclusive=max(sound - decided, 0.0) if design.umax < design.n else 0.0,
        p_fail_stat=failed,
        p_pass=float(joint[~(rejects | breached)].sum()),
        p_floor_breach_joint=float(joint[breached].sum()),
        p_mcnemar_joint=float(joint[rejects].sum()),
        cannot_reject=design.n < min_clean_flips(design.alpha, midp=design.midp),
    )


def _without_common_failures(cells: FloatArray) -> FloatArray:
    out = cells.copy()
    out[:, 0] += out[:, 3]
    out[:, 3] = 0.0
    return out
