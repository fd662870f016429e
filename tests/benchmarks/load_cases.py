"""Print how much longer `load_cases` takes than a bare pydantic TypeAdapter over the same lines.

Run as ``python tests/benchmarks/load_cases.py``; the ratio should stay at or below 1.5.
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from neverempty.cases import Case, load_cases

N_CASES = 10_000
ROUNDS = 9


def small_case(number: int) -> dict[str, Any]:
    """Return a case with a question, a fault and nothing expected."""
    return {
        "id": f"case-{number}",
        "suite": "jobs",
        "input": {"messages": [{"role": "user", "content": f"Are there open roles in town {number}?"}]},
        "faults": [{"tool": "search_jobs", "kind": "timeout"}],
    }


def large_case(number: int) -> dict[str, Any]:
    """Return a case with most parts of the format."""
    calls = [{"tool": "search_jobs", "args": {"city": {"value": "Pune", "match": "normalized"}}}]
    expect = {
        "route": {"label": "jobs", "acceptable": ["search"]},
        "tool_calls": {"mode": "first", "calls": calls},
        "facts": [{"id": "f1", "statement": "three roles"}, {"id": "f2", "statement": "since: May"}],
    }
    return {**small_case(number), "split": "test", "language": "en", "tags": ["n0", "jobs"], "expect": expect}


def seconds(work: Callable[[], object]) -> float:
    """Time one call in processor time, with the garbage of the one before swept out first."""
    gc.collect()
    started = time.process_time()
    work()
    return time.process_time() - started


def one_round(adapter: TypeAdapter[Case], lines: list[bytes], path: Path) -> tuple[float, float]:
    """Return the seconds of the bare adapter and of `load_cases`."""
    bare = seconds(lambda: [adapter.validate_json(line) for line in lines])
    return bare, seconds(lambda: load_cases(path))


def main() -> None:
    """Measure both kinds of case, alternating, and print the best of each: the least disturbed."""
    adapter = TypeAdapter(Case)
    for name, make in (("small", small_case), ("large", large_case)):
        lines = [json.dumps(make(number)).encode() for number in range(N_CASES)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cases.jsonl"
            path.write_bytes(b"\n".join(lines) + b"\n")
            rounds = [one_round(adapter, lines, path) for _ in range(ROUNDS)]
        bare, loaded = (min(times) for times in zip(*rounds, strict=True))
        print(f"{name} cases: bare {bare:.3f} s, load_cases {loaded:.3f} s, ratio {loaded / bare:.2f}")


if __name__ == "__main__":
    main()
