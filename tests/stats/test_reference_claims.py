"""The claims of a folder of reference values: each sentence with its figures, recomputed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from neverempty import stats

FOLDER = Path(os.environ.get("NEVEREMPTY_REFERENCE") or Path(__file__).parents[1] / "reference")
FILE = FOLDER / "claims.json"
CLAIMS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}

# What is compared, the number found, the number wanted, and the tolerance: half of the last digit given.
Check = tuple[str, Any, Any, float]


def figures(name: str, said: Any) -> Iterator[Check]:
    if "5 clean flips" in name:
        yield "flips", (stats.min_clean_flips(0.05), stats.min_clean_flips(0.05, midp=True)), (5, 4), 0.0
        for b in (4, 5):
            want = float(Fraction(said[f"p({b},0)"].split("=")[0]))
            yield f"p({b},0)", float(stats.mcnemar_exact(b, 0)), want, 0.0
    elif "4 flips" in name:
        yield "p", float(stats.mcnemar_exact(4, 0)), said["p"], 0.0
    elif "nondeterminism" in name:
        yield "expected", stats.nondeterminism_threshold().value, said["q_at_expected_10pct"], 1e-10
        for chance in (5, 50):
            for n, q in said[f"q_at_{chance}pct_firing"].items():
                found = stats.nondeterminism_threshold(n=int(n), p_fire=chance / 100)
                yield f"{chance} % firing, n={n}", found.value, q, 5.1e-5
        for n, p in said["p_fire_at_q_0.035"].items():
            found_p = stats.instability_gate_probability(int(n), 3, 0.035).p_inconclusive
            yield f"fire n={n}", found_p, p, 5.1e-4
    elif name.startswith("Wilson"):
        interval = stats.wilson_interval(*(int(v) for v in name.split()[1].split("/")))
        yield "lo", interval.lo, said[0], 1e-12
        yield "hi", interval.hi, said[1], 1e-12
    else:
        size = re.fullmatch(r"n=(\d+), (a )?real 5-point drop.*", name)
        yield "claim", size is not None, True, 0.0
        for churn, power in said["power_by_p01"].items() if size else ():
            found_p = stats.mcnemar_power(int(size[1]), 0.05 + float(churn), float(churn))
            yield f"p01={churn}", found_p, power, 5.1e-4


@pytest.mark.parametrize("name", CLAIMS)
def test_reference_claim_holds(name: str) -> None:
    for what, found, want, tolerance in figures(name, CLAIMS[name]):
        near = found == want if tolerance == 0.0 else abs(found - want) <= tolerance
        assert near, f"claims.json, {name}: {what} is {found!r}, wanted {want!r}"


def test_reference_claims_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\nclaims.json: {len(CLAIMS)} claims checked", end="")
    assert CLAIMS or "NEVEREMPTY_REFERENCE" in os.environ, "the project's own folder has no claims"
