"""Known rates, the whole way through: the intervals cover the truth as often as they should."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, multinomial

from neverempty.agents import Misreporting
from neverempty.demo.data import demo_cases
from neverempty.demo.scripted import true_per_case
from neverempty.demo.tools import THINGS, TOOLS
from neverempty.faults import Arm
from neverempty.metrics import collapse, summarize
from neverempty.metrics.clusters import clustered_rates
from neverempty.running import run
from neverempty.scorers import FailureScorer, score
from neverempty.stats import wilson_interval

# Fixed before the first of these runs was made, and never changed since.
SEED = 20260929
RATES = (0.02, 0.10, 0.35)
N, K = 60, 3
_BATCH = 20

CASES = demo_cases(language="en", controls=False)[:N]
_AGENTS = {f"{rate:g}": Misreporting(TOOLS, rate, THINGS) for rate in RATES}


async def _agent(case: Any, tracer: Any) -> str:
    return await _AGENTS[tracer.arm.name.split("@")[0]](case, tracer)


def _measure(runs: range) -> pd.DataFrame:
    """Make seeded runs and measure each by itself: one row per run, rate and k."""
    traces = []
    for number in runs:
        arms = [Arm(name=f"{rate}@{number}") for rate in _AGENTS]
        traces.append(run(_agent, CASES, arms=arms, repeats=K, seed=SEED + number, progress=False))
    scores = score(pd.concat(traces, ignore_index=True), CASES, [FailureScorer()])
    scores = scores[scores["metric"] == "misreport_as_empty"]
    found = []
    for k in (1, K):
        metrics = summarize(collapse(scores[scores["repeat"] < k]))
        found.append(metrics.assign(k=k, rate=metrics["arm"].str.split("@").str[0].astype(float)))
    return pd.concat(found, ignore_index=True)


def _covered(metrics: pd.DataFrame, rate: float, k: int, per: str) -> float:
    """Return the share of runs whose interval covers the true rate."""
    rows = metrics[(metrics["rate"] == rate) & (metrics["k"] == k)]
    assert (rows["n_measured"] == N).all()
    truth = rate if per == "answer" else true_per_case(rate, k)
    lo, hi = ("per_answer_lo", "per_answer_hi") if per == "answer" else ("lo", "hi")
    return float(((rows[lo] <= truth) & (truth <= rows[hi])).mean())


def _exact_per_case(truth: float) -> float:
    """Enumerate the hits of N independent cases: the coverage of Wilson's interval there."""
    hits = np.arange(N + 1)
    interval = wilson_interval(hits, np.full(N + 1, N))
    inside = (interval.lo <= truth) & (truth <= interval.hi)
    return float(binom.pmf(hits, N, truth)[inside].sum())


@cache
def _patterns(k: int) -> np.ndarray:
    """List every way in which N cases can have 0 to k hits each."""
    counts = [(*some, N - sum(some)) for some in product(range(N + 1), repeat=k) if sum(some) <= N]
    return np.array(counts)


def _exact_per_answer(rate: float, k: int) -> float:
    """Enumerate the patterns of hits per case: the coverage of the clustered interval of the answers."""
    patterns = _patterns(k)
    mass = multinomial.pmf(patterns, N, binom.pmf(np.arange(k + 1), k, rate))
    # Patterns that hardly ever occur cost most of the time; what is left out is checked to be nothing.
    likely = mass > 1e-9
    patterns, mass = patterns[likely], mass[likely]
    assert mass.sum() > 1 - 1e-4
    groups = np.repeat(np.arange(len(patterns)), N)
    hits = np.concatenate([np.repeat(np.arange(k + 1), row) for row in patterns])
    clusters = np.arange(len(groups))
    rates = clustered_rates(groups, clusters, hits, np.full(len(groups), k), len(patterns))
    return float(mass[(rates.lo <= rate) & (rate <= rates.hi)].sum())


def _check(metrics: pd.DataFrame, runs: int) -> None:
    wrong = []
    for rate, k, per in product(RATES, (1, K), ("case", "answer")):
        exact = _exact_per_case(true_per_case(rate, k)) if per == "case" else _exact_per_answer(rate, k)
        share = _covered(metrics, rate, k, per)
        if abs(share - exact) > 3 * math.sqrt(exact * (1 - exact) / runs):
            wrong.append((rate, k, per, share, round(exact, 4)))
    assert not wrong


@pytest.mark.slow
def test_400_runs_cover_the_truth_as_often_as_their_intervals_do_by_enumeration():
    metrics = pd.concat([_measure(range(at, at + _BATCH)) for at in range(0, 400, _BATCH)], ignore_index=True)
    _check(metrics, 400)


def test_20_runs_cover_the_truth_as_often_as_their_intervals_do_by_enumeration():
    _check(_measure(range(20)), 20)


@pytest.mark.parametrize("rate", RATES)
def test_with_one_repeat_the_rate_per_answer_is_the_rate_per_case(rate):
    assert _exact_per_answer(rate, 1) == pytest.approx(_exact_per_case(rate), abs=1e-4)


def test_the_enumeration_finds_the_known_coverage_of_wilsons_interval():
    # P(X <= 3) at n = 60 and 2 %: 4 hits already put the lower end above it.
    assert _exact_per_case(0.02) == pytest.approx(float(binom.cdf(3, N, 0.02)))
