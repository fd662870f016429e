"""10,000 exact power points: the recursion of the package against a matrix of scipy.stats pmf values."""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats as scipy_stats

from neverempty import stats
from neverempty.stats.paired import critical_table

NS, DROPS, CHURN, NEEDED = range(1, 501), [i / 100 for i in range(1, 21)], 0.01, 8.0


def by_pmf_matrix() -> np.ndarray:
    m = np.arange(NS[-1] + 1)
    critical = critical_table(NS[-1], 0.05, False)
    rows = []
    for drop in DROPS:
        psi = drop + 2 * CHURN
        rejects = scipy_stats.binom.sf(critical - 1, m, (drop + CHURN) / psi)
        rows.append(scipy_stats.binom.pmf(m[None, :], np.array(NS)[:, None], psi) @ rejects)
    return np.array(rows)


def best(function, times: int) -> tuple[float, np.ndarray]:
    out, seconds = None, []
    for _ in range(times):
        start = time.perf_counter()
        out = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), out


def main() -> int:
    ours, fast = best(lambda: stats.mcnemar_power_curve(NS, DROPS, CHURN), 7)
    theirs, slow = best(by_pmf_matrix, 3)
    gap, ratio = float(np.abs(fast - slow).max()), theirs / ours
    print(f"{len(NS) * len(DROPS):,} exact power points, best of several runs")
    print(f"  package    {ours * 1e3:8.1f} ms")
    print(f"  scipy pmf  {theirs * 1e3:8.1f} ms   ratio {ratio:.1f} (at least {NEEDED:g}), gap {gap:.1e}")
    return int(ratio < NEEDED or gap > 1e-9)


if __name__ == "__main__":
    sys.exit(main())
