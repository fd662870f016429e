"""What the toolkit costs, as ratios that are measured in one run: ``python tests/benchmarks/harness.py``.

The agent does nothing but call one wrapped tool that meets a fault; three repeats, two scorers, store on.
The baseline is `baseline.py`, with the same agent. Every time is the best of several rounds in turns, because
other programs on the machine can only add to a time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from baseline import baseline

LIMITS = {
    "time per trace, no latency": 5.0,
    "wall time, 3,000 traces of 10 ms at concurrency 100": 1.3,
    "memory per trace (KB)": 4.0,
    "time per trace at 300,000 over 3,000": 1.3,
    "loading 10,000 cases over a bare TypeAdapter": 1.5,
    "import over pydantic's (s)": 0.1,
}
ANSWER = "I could not search for jobs, because the tool timed out."


def make_cases(count: int) -> list[Any]:
    from neverempty import Case

    fault = {"tool": "search", "kind": "timeout"}
    return [
        Case(
            id=f"case-{number}",
            suite="bench",
            input={"messages": [{"role": "user", "content": f"Any nurse jobs in town {number}?"}]},
            faults=[fault],
        )
        for number in range(count)
    ]


def make_agent(latency: float = 0.0) -> Any:
    from neverempty import tool

    @tool(empty_when=lambda found: found == [])
    async def search(query: str) -> list[str]:
        return ["nurse, day shift", "nurse, night shift"]

    async def agent(case: Any, tracer: Any) -> str:
        await search(query="nurse")
        if latency:
            await asyncio.sleep(latency)
        return ANSWER

    return agent


def toolkit(agent: Any, cases: list[Any], path: Path, *, scored: bool = True, repeats: int = 3) -> float:
    """Run and score everything and return the wall time in seconds."""
    import neverempty as ne
    from neverempty.scorers import EmptyPayloadScorer, FailureScorer

    path.unlink(missing_ok=True)
    start = perf_counter()
    traces = ne.run(agent, cases, repeats=repeats, concurrency=100, store=path, seed=1)
    if scored:
        ne.score(traces, cases, [FailureScorer(), EmptyPayloadScorer()])
    took = perf_counter() - start
    if traces["fault_state"].unique().tolist() != ["fired"] or len(traces) != repeats * len(cases):
        raise SystemExit("the run did not do what is to be measured")
    return took


def compare(latency: float, rounds: int, folder: Path, *, scored: bool) -> tuple[float, float]:
    """Return the best wall times of baseline and toolkit, in turns."""
    agent, cases = make_agent(latency), make_cases(1000)
    toolkit(agent, make_cases(20), folder / "warm.jsonl")
    plain, ours = [], []
    for _ in range(rounds):
        plain.append(baseline(agent, cases, 3, folder / "plain.jsonl"))
        ours.append(toolkit(agent, cases, folder / "store.jsonl", scored=scored))
    return min(plain), min(ours)


def in_fresh_process(task: str, size: int) -> dict[str, float]:
    """Run one task of `main` in a process of its own and return what it prints."""
    command = [sys.executable, __file__, "--task", task, "--size", str(size)]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def task_memory(size: int) -> dict[str, float]:
    """Run ``size`` traces and return the growth of the process's greatest size, in KB a trace."""
    import resource

    agent = make_agent()
    unit = 1024 if sys.platform == "darwin" else 1
    with tempfile.TemporaryDirectory() as folder:
        toolkit(agent, make_cases(200), Path(folder, "store.jsonl"), scored=False)
        cases = make_cases(size // 3)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        toolkit(agent, cases, Path(folder, "store.jsonl"), scored=False)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"kb": (after - before) / unit / size}


def task_flat(size: int) -> dict[str, float]:
    """Return the processor time of a trace, in microseconds, for runs of 3,000 and of ``size``."""
    agent = make_agent()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.jsonl")
        toolkit(agent, make_cases(200), path)
        few, many = make_cases(1000), make_cases(size // 3)
        small = min(processor_time(lambda: toolkit(agent, few, path, scored=False)) for _ in range(5)) / 3000
        large = processor_time(lambda: toolkit(agent, many, path, scored=False)) / size
    return {"small": small * 1e6, "large": large * 1e6}


def task_loading(size: int) -> dict[str, float]:
    """Return the times of loading cases with the package and with a bare TypeAdapter."""
    from pydantic import TypeAdapter

    from neverempty import Case, load_cases

    lines = [case.model_dump_json(exclude_defaults=True) for case in make_cases(size)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cases.jsonl")
        path.write_text("\n".join(lines), encoding="utf-8")
        adapter = TypeAdapter(Case)

        def bare() -> None:
            with path.open("rb") as file:
                found = [adapter.validate_json(line) for line in file]
            if len(found) != size:
                raise SystemExit("the file was not read")

        times: dict[str, list[float]] = {"bare": [], "ours": []}
        for _ in range(5):
            times["bare"].append(timed(bare))
            times["ours"].append(timed(lambda: load_cases(path)))
    return {name: min(found) for name, found in times.items()}


def processor_time(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return process_time() - start


def timed(call: Callable[[], Any]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def import_time(statement: str) -> float:
    """Return the median time of an import over nine fresh processes, in seconds."""
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", code]
    return statistics.median(float(subprocess.check_output(command, text=True)) for _ in range(9))


def figures(rounds: int, size: int) -> dict[str, float]:
    """Measure everything; the details go to the screen as they come."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, ours = compare(0.0, rounds, folder, scored=True)
        print(f"no latency: baseline {plain / 3e-3:.1f} us a trace, toolkit {ours / 3e-3:.1f} us a trace")
        found["time per trace, no latency"] = ours / plain
        plain, ours = compare(0.01, max(3, rounds // 2), folder, scored=False)
        print(f"10 ms a trace: baseline {plain:.3f} s, toolkit {ours:.3f} s")
        found["wall time, 3,000 traces of 10 ms at concurrency 100"] = ours / plain
    found["memory per trace (KB)"] = in_fresh_process("memory", size // 3)["kb"]
    flat = in_fresh_process("flat", size)
    print(f"3,000 traces: {flat['small']:.1f} us each; {size:,} traces: {flat['large']:.1f} us each")
    found["time per trace at 300,000 over 3,000"] = flat["large"] / flat["small"]
    loading = in_fresh_process("loading", 10_000)
    print(f"10,000 cases: bare {loading['bare']:.3f} s, toolkit {loading['ours']:.3f} s")
    found["loading 10,000 cases over a bare TypeAdapter"] = loading["ours"] / loading["bare"]
    bare, ours = import_time("from pydantic import BaseModel"), import_time("import neverempty")
    print(f"import: pydantic {bare:.3f} s, neverempty {ours:.3f} s")
    found["import over pydantic's (s)"] = ours - bare
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds of the first comparison")
    parser.add_argument("--size", type=int, default=300_000, help="traces of the large run")
    parser.add_argument(
        "--json", action="store_true", help="print each figure with its limit as JSON, in the last line"
    )
    parser.add_argument("--task", choices=["memory", "flat", "loading"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(globals()[f"task_{options.task}"](options.size)))
        return 0
    print(f"Python {platform.python_version()}, {platform.machine()}")
    found = figures(options.rounds, options.size)
    print(f"\n{'':55} measured  limit")
    for name, limit in LIMITS.items():
        print(
            f"{name:55} {found[name]:8.2f}  {limit:5.2f}{'' if found[name] <= limit else '  over the limit'}"
        )
    if options.json:
        print(json.dumps({name: (found[name], limit) for name, limit in LIMITS.items()}))
    return 0 if all(found[name] <= limit for name, limit in LIMITS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
