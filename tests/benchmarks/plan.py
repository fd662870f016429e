"""What planning costs: power points, the whole gate, the redraw of the panel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import binom

import neverempty as ne
from neverempty import stats
from neverempty.stats.paired import critical_table
from neverempty.widgets import FloorPlanner

SIZES, DROPS, CHURN = np.arange(1, 501), np.linspace(0.01, 0.2, 20), 0.01
REDRAW, WHOLE, RATIO = 0.2, 2.0, 8.0


def best(call: Callable[[], Any], rounds: int) -> float:
    """Return the best time of several, in seconds: other programs can only add to a time."""
    times = []
    for _ in range(rounds):
        begun = perf_counter()
        call()
        times.append(perf_counter() - begun)
    return min(times)


def pmf_matrix() -> np.ndarray:
    """Compute the same power points with a matrix of scipy's binomial chances per effect."""
    m = np.arange(SIZES[-1] + 1)
    rows = []
    for drop in DROPS:
        psi = drop + 2 * CHURN
        rejects = binom.sf(critical_table(int(SIZES[-1]), 0.05, False) - 1, m, (drop + CHURN) / psi)
        rows.append(binom.pmf(m[None, :], SIZES[:, None], psi) @ rejects)
    return np.array(rows)


def slider(panel: FloorPlanner, values: list[int]) -> float:
    """Return the slowest redraw over a sweep of the slider, in seconds."""
    slowest = 0.0
    for n in values:
        begun = perf_counter()
        panel.state.change("n", n)
        panel._draw()
        slowest = max(slowest, perf_counter() - begun)
    return slowest


def main() -> int:
    ours = stats.mcnemar_power_curve(SIZES, DROPS, CHURN)
    if not np.allclose(ours, pmf_matrix(), atol=1e-12):
        raise SystemExit("the two ways to compute power disagree")
    curve = best(lambda: stats.mcnemar_power_curve(SIZES, DROPS, CHURN), 5)
    matrix = best(pmf_matrix, 3)
    print(
        f"{ours.size:,} power points: {curve * 1e3:.0f} ms, "
        f"pmf matrix {matrix * 1e3:.0f} ms: {matrix / curve:.1f} x"
    )
    panel = FloorPlanner(ne.plan(60, flake=0.02, churn=0.01, floor=0.9))
    slider(panel, [60, 61])
    redraw = slider(panel, list(range(100, 400, 15)))
    print(f"slider move, power and floor redrawn: slowest {redraw * 1e3:.0f} ms (below {REDRAW * 1e3:.0f})")
    panel.state.change("n", 210)
    panel.state.change("flake", 0.05)
    whole = best(panel._work_out_gate, 3)
    panel.state.change("n", 500)
    largest = best(panel._work_out_gate, 1)
    print(
        f"whole gate, four sets of chances: n = 210 {whole * 1e3:.0f} ms, "
        f"n = 500 {largest * 1e3:.0f} ms (below {WHOLE:g} s)"
    )
    planned = best(lambda: ne.plan(210, flake=0.02, churn=0.01, floor=0.9, limit=0.02, must_pass=5), 3)
    print(f"a whole plan at n = 210: {planned * 1e3:.0f} ms")
    return int(redraw >= REDRAW or max(whole, largest) >= WHOLE or matrix / curve < RATIO)


if __name__ == "__main__":
    sys.exit(main())
