"""How long scoring, collapsing and summarising take per trace: ``python tests/benchmarks/scoring.py [N]``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from neverempty.cases import Case, Cases
from neverempty.claims.reading import read_answer
from neverempty.frames import trace_rows, traces_frame
from neverempty.metrics import collapse, summarize
from neverempty.scorers import FailureScorer, RouteScorer, score
from neverempty.traces.model import ToolCall, Trace

REPEATS = 3


def suite(n_cases: int) -> Cases:
    expect = {"route": {"label": "search"}}
    return Cases(
        Case(id=f"c{n}", input={"payload": "Any jobs?"}, language="en", expect=expect) for n in range(n_cases)
    )


def traces(cases: Cases, *, distinct: bool) -> pd.DataFrame:
    def rows() -> Iterator[Trace]:
        for n, case in enumerate(cases):
            for repeat in range(REPEATS):
                call = ToolCall(0, "search", {"q": "nurse"}, "error", "{}", kind="timeout", injected=True)
                answer = (
                    f"There are no {'nurse' if distinct else 'open'} jobs in ward {n if distinct else 'A'}."
                )
                yield Trace(
                    case.suite,
                    case.id,
                    "typed",
                    repeat,
                    answer=answer,
                    route="search",
                    calls=[call],
                    language="en",
                    fault_kind="timeout",
                    fault_state="seen",
                )

    return traces_frame(rows())


def seconds(work: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    """Return the best processor time of some rounds, and the result."""
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def main(n_traces: int) -> None:
    cases = suite(n_traces // REPEATS)
    for name, distinct in (("answers repeat", False), ("answers distinct", True)):
        frame = traces(cases, distinct=distinct)
        texts = list(dict.fromkeys(frame["answer"].tolist()))
        walk, _ = seconds(lambda frame=frame: sum(1 for _ in trace_rows(frame)))
        reading, _ = seconds(lambda texts=texts: [read_answer(text, "en").absence for text in texts])
        scoring, scores = seconds(lambda frame=frame: score(frame, cases, [FailureScorer(), RouteScorer()]))
        collapsing, outcomes = seconds(lambda scores=scores: collapse(scores))
        summing, metrics = seconds(lambda outcomes=outcomes: summarize(outcomes))
        per_trace = 1e6 / len(frame)
        print(
            f"{name}: {len(frame)} traces, {len(texts)} texts, {len(scores)} scores, {len(metrics)} metrics"
        )
        for step, took in (
            ("walking the traces", walk),
            ("reading the texts", reading),
            ("scoring in all", scoring),
            ("scoring above reading", scoring - reading),
            ("collapsing", collapsing),
            ("summarising", summing),
        ):
            print(f"  {step:<22} {took * per_trace:7.2f} µs per trace")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30_000)
