"""The yardstick of the speed figures: the same agent in a plain asyncio loop, without any harness.

A hundred workers share one iterator of (case, repeat); the file stays open, and each answer is written as one
flushed JSON line. What a run of the toolkit costs is stated as a multiple of this.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

Agent = Callable[[Any, Any], Awaitable[str]]


def baseline(agent: Agent, cases: Iterable[Any], repeats: int, path: Path, workers: int = 100) -> float:
    """Run everything and return the wall time in seconds."""
    start = perf_counter()
    asyncio.run(_run(agent, cases, repeats, path, workers))
    return perf_counter() - start


async def _run(agent: Agent, cases: Iterable[Any], repeats: int, path: Path, workers: int) -> None:
    todo = ((case, repeat) for case in cases for repeat in range(repeats))
    with path.open("w", encoding="utf-8") as file:

        async def work() -> None:
            for case, repeat in todo:
                begun = perf_counter()
                answer = await agent(case, None)
                line = {
                    "suite": case.suite,
                    "case_id": case.id,
                    "repeat": repeat,
                    "answer": answer,
                    "duration_ms": (perf_counter() - begun) * 1e3,
                }
                file.write(json.dumps(line) + "\n")
                file.flush()

        await asyncio.gather(*(work() for _ in range(workers)))
