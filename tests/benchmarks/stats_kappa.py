"""Bootstrap of kappa, 10,000 resamples of 100 labels: counts against a loop over scikit-learn.

scikit-learn is measured at 200 resamples and scaled by 50. It is not a dependency: without it this says so.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from neverempty import stats

TABLE, RESAMPLES, LOOP, NEEDED = np.array([[33, 4, 0], [7, 25, 6], [1, 3, 21]]), 10_000, 200, 500.0


def main() -> int:
    seconds = []
    for seed in range(7):
        start = time.perf_counter()
        ours = stats.kappa_bootstrap(TABLE, RESAMPLES, seed, method="percentile")
        seconds.append(time.perf_counter() - start)
    print(f"{RESAMPLES:,} kappas of {TABLE.sum()} resampled labels: package {min(seconds) * 1e3:.1f} ms")
    try:
        from sklearn.metrics import cohen_kappa_score
    except ModuleNotFoundError:
        print("  scikit-learn is not installed: no ratio measured")
        return 2
    human = np.repeat(np.arange(9) // 3, TABLE.ravel())
    judge = np.repeat(np.arange(9) % 3, TABLE.ravel())
    rng, values = np.random.default_rng(0), []
    start = time.perf_counter()
    for _ in range(LOOP):
        at = rng.integers(0, human.size, human.size)
        values.append(cohen_kappa_score(human[at], judge[at], labels=[0, 1, 2]))
    scaled = (time.perf_counter() - start) * RESAMPLES / LOOP
    ratio = scaled / min(seconds)
    print(f"  scikit-learn loop {scaled * 1e3:,.0f} ms (measured at {LOOP} resamples and scaled)")
    print(
        f"  standard error {ours.se:.4f} and {np.std(values):.4f}; ratio {ratio:,.0f} (at least {NEEDED:g})"
    )
    return int(ratio < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
