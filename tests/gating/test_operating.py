"""How often the gate is right: simulated runs, seeds fixed beforehand, against the planner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from neverempty import gate
from neverempty.frames import SCHEMAS, build_frame
from neverempty.gating.config import GateConfig
from neverempty.gating.floors import Floor
from neverempty.gating.pairing import Outcomes, alone_counts, cells, pair_counts
from neverempty.gating.rows import Row, with_p_values
from neverempty.gating.rules import judge, verdict_of
from neverempty.metrics.groups import Groups
from neverempty.stats import GateDesign, gate_operating_characteristics

SEED = 20260929
RUNS = 2000
METRICS = {"majority": "route", "any_hit": "misreport_as_empty"}
_Bools = NDArray[np.bool_]


def outcomes_of(failed: _Bools, how: str) -> Outcomes:
    """Collapse failing calls (cases × repeats) as `collapse` does."""
    hits, k = failed.sum(axis=1), failed.shape[1]
    bad = hits > 0 if how == "any_hit" else 2 * hits >= k
    return Outcomes(bad.astype(np.intp), np.full(len(failed), k), (hits > 0) & (hits < k))


def decide(base: Outcomes, cand: Outcomes, how: str, floors: tuple[Floor, ...] = ()) -> str:
    """Ask the gate's own rules on arrays."""
    n = len(base.verdict)
    one = Groups(np.zeros(n, dtype=np.intp), np.zeros(1, dtype=np.intp))
    alone, pairs = alone_counts(cand, one)[0], pair_counts(cells(base, cand), one)[0]
    direction = "lower" if how == "any_hit" else "higher"
    rows = with_p_values([Row(METRICS[how], "typed", direction, how, alone, pairs, True)])
    return verdict_of(judge(rows, floors, GateConfig(metrics=(METRICS[how],))))


def suites(design: GateDesign, runs: int, seed: int) -> Iterator[tuple[_Bools, _Bools]]:
    """Draw the failing calls of baseline and candidate; each call departs from what is meant with rate q."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        kind = rng.choice(4, size=design.n, p=np.array(design.type_shares()))
        intended = (kind >= 2, (kind == 1) | (kind == 3))
        flips = rng.random((2, design.n, design.k)) < design.q
        yield intended[0][:, None] ^ flips[0], intended[1][:, None] ^ flips[1]


def shares(design: GateDesign, runs: int = RUNS, seed: int = SEED, floors: Any = ()) -> dict[str, float]:
    counts = Counter(
        decide(outcomes_of(base, design.how), outcomes_of(cand, design.how), design.how, floors)
        for base, cand in suites(design, runs, seed)
    )
    return {verdict: count / runs for verdict, count in counts.items()}


def near(found: float, forecast: float, runs: int = RUNS) -> bool:
    """Say whether a share lies within four standard errors of its forecast."""
    error = max(forecast * (1 - forecast), 1 / runs) / runs
    return abs(found - forecast) <= 4 * error**0.5


@pytest.mark.parametrize(("how", "most"), [("majority", 0.01), ("any_hit", 0.035)])
def test_the_gate_rarely_fails_a_candidate_that_is_the_baseline(how: Any, most: float) -> None:
    design = GateDesign(210, 3, 0.01, p_base=1.0, how=how)
    found = shares(design).get("regression", 0.0)
    assert found <= most
    assert near(found, gate_operating_characteristics(design).p_fail)


def test_an_agent_that_starts_to_lie_in_a_twentieth_of_its_answers_is_caught() -> None:
    # in any-hit terms a case fails with 1 - 0.95^3; the baseline never lies
    lies = 1 - 0.95**3
    forecast = gate_operating_characteristics(GateDesign(60, 3, 0.0, p_base=1.0, drop=lies, how="any_hit"))
    assert forecast.p_fail == pytest.approx(0.94, abs=0.01)
    rng = np.random.default_rng(SEED)
    clean = outcomes_of(np.zeros((60, 3), dtype=bool), "any_hit")
    found = Counter(
        decide(clean, outcomes_of(rng.random((60, 3)) < 0.05, "any_hit"), "any_hit") for _ in range(RUNS)
    )
    assert set(found) == {"regression", "pass"}
    assert near(found["regression"] / RUNS, forecast.p_fail)


def test_noise_on_a_capability_is_inconclusive_as_often_as_planned() -> None:
    design = GateDesign(60, 3, 0.035, p_base=0.97)
    forecast = gate_operating_characteristics(design)
    assert forecast.p_inconclusive == pytest.approx(0.41, abs=0.005)
    found = shares(design)
    assert near(found["inconclusive"], forecast.p_inconclusive)


@pytest.mark.parametrize(
    "design",
    [
        GateDesign(60, 3, 0.02, p_base=0.97, drop=0.05, floor=0.85),
        GateDesign(100, 3, 0.01, p_base=0.98, drop=0.05, gain=0.01, floor=0.95),
        GateDesign(100, 2, 0.01, p_base=0.97, drop=0.08),
        GateDesign(120, 3, 0.005, p_base=1.0, drop=0.02, limit=0.02, how="any_hit"),
        GateDesign(200, 1, 0.0, p_base=1.0, drop=0.01, limit=0.02, limit_on="wilson", how="any_hit"),
    ],
    ids=lambda design: f"n={design.n}, k={design.k}, {design.how}",
)
def test_the_forecast_of_the_planner_is_what_the_gate_does(design: GateDesign) -> None:
    floors = []
    if design.floor is not None:
        floors.append(Floor("route", design.floor, is_limit=False, on_bound=False))
    if design.limit is not None:
        on_bound = design.limit_on != "rate"
        floors.append(Floor("misreport_as_empty", design.limit, is_limit=True, on_bound=on_bound))
    forecast = gate_operating_characteristics(design)
    found = shares(design, floors=tuple(floors))
    for verdict, chance in (
        ("regression", forecast.p_fail),
        ("inconclusive", forecast.p_inconclusive),
        ("pass", forecast.p_pass),
    ):
        assert near(found.get(verdict, 0.0), chance), verdict


def frame(failed: _Bools, how: str) -> pd.DataFrame:
    n, k = failed.shape
    hits = failed.sum(axis=1)
    found = outcomes_of(failed, how)
    same: dict[str, Any] = {
        "suite": "s",
        "arm": "typed",
        "metric": METRICS[how],
        "n_repeats": k,
        "n_measured": k,
        "fault_kind": "timeout",
        "tags": (),
        "must_pass": False,
        "direction": "lower" if how == "any_hit" else "higher",
        "collapse": how,
    }
    columns = {column.name: [same.get(column.name)] * n for column in SCHEMAS["outcomes"].columns}
    columns["case_id"] = [f"c{at}" for at in range(n)]
    columns["verdict"] = ["fail" if code else "pass" for code in found.verdict.tolist()]
    columns["hits"] = (hits if how == "any_hit" else k - hits).tolist()
    columns["unstable"] = found.unstable.tolist()
    return build_frame("outcomes", columns)


@pytest.mark.parametrize("how", ["majority", "any_hit"])
def test_the_whole_gate_decides_as_its_rules_do_on_arrays(how: Any) -> None:
    design = GateDesign(60, 3, 0.03, p_base=0.95, drop=0.05, how=how)
    seen = set()
    for base, cand in suites(design, 40, SEED):
        by_rules = decide(outcomes_of(base, how), outcomes_of(cand, how), how)
        decision = gate(frame(base, how), frame(cand, how), {"metrics": [METRICS[how]]})
        assert decision.verdict == by_rules
        seen.add(by_rules)
    assert len(seen) > 1
