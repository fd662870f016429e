"""What gating two large reports takes, as a process: ``python tests/benchmarks/gate.py``.

Two reports of 10,000 cases with three repeats each are made once, with scored answers of several kinds, and
saved. Then a fresh process loads both and gates one against the other; its wall time and greatest size count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

LIMITS = {"gating 10,000 cases x 3 repeats (s)": 3.0, "greatest size of that process (MB)": 500.0}
REPEATS = 3
SAID = {
    "failure": "The job search failed because the service timed out, so I cannot tell.",
    "absence": "I looked, and there are no open jobs.",
    "data": "There are three open jobs.",
}
GATE = """
import json, resource, sys
from neverempty.cli import main
code = main(["gate", *sys.argv[1:3]])
size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)
print(json.dumps({"code": code, "mb": size}))
"""


def save_report(folder: Path, n_cases: int, lies: float, seed: int) -> None:
    """Make and save a report whose agent misreports some of its answers."""
    from neverempty.cases import Case, Cases
    from neverempty.frames import traces_frame
    from neverempty.report import make_report
    from neverempty.traces.model import ToolCall, Trace

    expect = {"route": {"label": "search"}, "tool_calls": {"mode": "first", "calls": [{"tool": "search"}]}}
    fault = {"tool": "search", "kind": "timeout"}
    cases = Cases(
        Case(id=f"c{at:05}", input={"payload": "Any jobs?"}, language="en", expect=expect, faults=[fault])
        for at in range(n_cases)
    )
    rng = np.random.default_rng(seed)

    def rows() -> Iterator[Trace]:
        for case in cases:
            for repeat in range(REPEATS):
                said = SAID["absence" if rng.random() < lies else "failure"]
                call = ToolCall(0, "search", {}, "error", "{}", kind="timeout", injected=True, state="seen")
                yield Trace(
                    case.suite,
                    case.id,
                    "typed",
                    repeat,
                    answer=said,
                    route="search" if rng.random() < 0.98 else "other",
                    calls=[call],
                    language="en",
                    fault_kind="timeout",
                    fault_state="seen",
                    duration_ms=float(rng.gamma(4.0, 300.0)),
                )

    make_report(traces_frame(rows()), cases, repeats=REPEATS, seed=seed).save(folder)


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Gate in fresh processes; the best time counts, and the greatest size."""
    times, sizes = [], []
    for _ in range(rounds):
        start = perf_counter()
        command = [sys.executable, "-c", GATE, str(folder / "base"), str(folder / "cand")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        times.append(perf_counter() - start)
        found = json.loads(done.stdout.splitlines()[-1])
        if found["code"] != 1:
            raise SystemExit(f"the gate did not see the lies: {done.stdout[:500]}")
        sizes.append(found["mb"])
    return dict(zip(LIMITS, (min(times), max(sizes)), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--json", action="store_true", help="print each figure with its limit as JSON, in the last line"
    )
    parser.add_argument("--make", nargs=3, metavar=("FOLDER", "LIES", "SEED"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        folder, lies, seed = options.make
        save_report(Path(folder), options.cases, float(lies), int(seed))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # made by other processes: a child's greatest size is never below that of the process that started it
        for part, lies, seed in (("base", "0.01", "1"), ("cand", "0.03", "2")):
            command = [sys.executable, __file__, "--cases", str(options.cases), "--make"]
            subprocess.run([*command, str(folder / part), lies, seed], check=True)
        found = measure(folder, options.rounds)
    for name, limit in LIMITS.items():
        print(
            f"{name:45} {found[name]:8.2f}  {limit:6.1f}{'' if found[name] <= limit else '  over the limit'}"
        )
    if options.json:
        print(json.dumps({name: (found[name], limit) for name, limit in LIMITS.items()}))
    return 0 if all(found[name] <= limit for name, limit in LIMITS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
