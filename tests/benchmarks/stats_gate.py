"""Chances of the whole gate at 210 cases, for every kind of rule, in seconds."""

from __future__ import annotations

import sys
import time

from neverempty import stats
from neverempty.stats import GateDesign

BASE = {"n": 210, "k": 3, "q": 0.035, "p_base": 0.97, "drop": 0.05, "floor": 0.85}
LIMIT = 1.0
DESIGNS = {
    "majority": GateDesign(**BASE),
    "majority, churn and must-pass": GateDesign(**(BASE | {"gain": 0.01, "n_must_pass": 10})),
    "any hit": GateDesign(**(BASE | {"how": "any_hit"})),
    "any hit, limit on Wilson's bound": GateDesign(
        **(BASE | {"how": "any_hit", "limit": 0.1, "limit_on": "wilson"})
    ),
    "two kinds of cases": GateDesign(**(BASE | {"q": ((0.9, 0.01), (0.1, 0.2))})),
    "fixed suite": GateDesign(**(BASE | {"sampling": "fixed"})),
    "one repeat, many flakes": GateDesign(**(BASE | {"k": 1, "q": 0.05, "drop": 0.1})),
    "weak agent": GateDesign(**(BASE | {"p_base": 0.7, "drop": 0.1, "gain": 0.05, "floor": 0.6})),
}


def main() -> int:
    slowest = 0.0
    stats.gate_operating_characteristics(GateDesign(20, 3, 0.01, 0.9))
    for name, design in DESIGNS.items():
        start = time.perf_counter()
        odds = stats.gate_operating_characteristics(design)
        seconds = time.perf_counter() - start
        slowest = max(slowest, seconds)
        verdicts = f"fail {odds.p_fail:.3f}, inconclusive {odds.p_inconclusive:.3f}, pass {odds.p_pass:.3f}"
        print(f"{name:34s} {seconds * 1e3:7.0f} ms   {verdicts}")
    print(f"slowest {slowest:.2f} s (below {LIMIT:g} s)")
    return int(slowest >= LIMIT)


if __name__ == "__main__":
    sys.exit(main())
