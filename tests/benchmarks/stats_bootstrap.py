"""10,000 resamples of 100,000 binary cases: counts against scipy.stats.bootstrap on the cases themselves.

scipy is measured at 200 resamples and scaled by 50: its time is linear in the number of resamples.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats as scipy_stats

from neverempty import stats

CASES, HITS, RESAMPLES, SCIPY_RESAMPLES, NEEDED = 100_000, 95_000, 10_000, 200, 1_000.0


def main() -> int:
    seconds = []
    for seed in range(7):
        start = time.perf_counter()
        ours = stats.bootstrap_counts([HITS, CASES - HITS], lambda k: k[:, 0] / CASES, RESAMPLES, seed)
        seconds.append(time.perf_counter() - start)
    data = np.repeat([1.0, 0.0], [HITS, CASES - HITS])
    start = time.perf_counter()
    theirs = scipy_stats.bootstrap(
        (data,), np.mean, n_resamples=SCIPY_RESAMPLES, method="percentile", rng=np.random.default_rng(0)
    )
    scaled = (time.perf_counter() - start) * RESAMPLES / SCIPY_RESAMPLES
    ratio, interval = scaled / min(seconds), theirs.confidence_interval
    print(f"{RESAMPLES:,} resamples of {CASES:,} binary cases")
    print(f"  package  {min(seconds) * 1e3:10.2f} ms   interval {ours.lo:.5f} to {ours.hi:.5f}")
    print(f"  scipy    {scaled * 1e3:10.0f} ms   interval {interval.low:.5f} to {interval.high:.5f}")
    print(f"  ratio {ratio:,.0f} (at least {NEEDED:,.0f}; scipy measured at {SCIPY_RESAMPLES} and scaled)")
    return int(ratio < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
