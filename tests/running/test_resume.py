"""A killed or interrupted run loses no finished trace, and resuming it runs only the rest."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from neverempty import InputError, read_traces
from neverempty.frames import traces_frame
from neverempty.running import run

SCRIPT = """
import asyncio, sys, time
from neverempty.cases import Case
from neverempty.running import run
from neverempty.tools import tool

@tool(empty_when=lambda found: found == [])
async def search(query):
    return [query]

def note(path, text):
    with open(path, "a") as file:
        file.write(text + "\\n")

async def agent(case, tracer):
    note(log, f"start {time.monotonic()}")
    await search(query=case.id)
    await asyncio.sleep(0.004)
    await search(query="again")
    return f"{case.id} {tracer.repeat} {tracer.rng.integers(1 << 40)}"

def sync_agent(case, tracer):
    note(log, f"start {time.monotonic()}")
    time.sleep(0.05)
    try:
        asyncio.run(search(query=case.id))
        note(log, f"call {time.monotonic()}")
    except Exception as error:
        note(log, type(error).__name__)
    return case.id

store, log, kind, count, repeats, delay = sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:])
cases = [
    Case(id=f"case {n}", input={"payload": n}, faults=[{"tool": "search", "kind": "timeout", "for_calls": 1}])
    for n in range(count)
]
if __name__ == "__main__":
    note(log, "ready")
    try:
        frame = run({"async": agent, "sync": sync_agent}[kind], cases, repeats=repeats, store=store, seed=5)
    except KeyboardInterrupt as error:
        note(log, f"interrupted {time.monotonic()} {len(error.traces)} {type(error).__name__}")
        time.sleep(delay)
        raise SystemExit(130)
    note(log, f"rows {len(frame)}")
"""


class Script:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "script.py"
        self.path.write_text(textwrap.dedent(SCRIPT))
        self.store = folder / "store.jsonl"
        self.log = folder / "log.txt"

    def start(self, *, kind: str = "async", count: int = 40, repeats: int = 3, delay: int = 0) -> Any:
        arguments = [self.store, self.log, kind, count, repeats, delay]
        command = [sys.executable, str(self.path), *map(str, arguments)]
        return subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": os.getcwd()}, stderr=subprocess.DEVNULL
        )

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def wait_for(self, starts: int) -> None:
        deadline = time.monotonic() + 50
        while sum(line.startswith("start") for line in self.lines()) < starts:
            assert time.monotonic() < deadline
            time.sleep(0.002)


@pytest.fixture
def script(tmp_path) -> Script:
    return Script(tmp_path)


def finished(path: Path) -> int:
    return len(read_traces(path)) if path.exists() and path.stat().st_size else 0


def test_sigkill_at_random_moments_loses_no_finished_trace_and_the_rest_is_run_once(
    script, comparable, tmp_path
) -> None:
    moments = random.Random(11)
    stored = 0
    for _ in range(4):
        seen = sum(line.startswith("start") for line in script.lines())
        process = script.start()
        script.wait_for(seen + moments.randrange(1, 25))
        time.sleep(moments.random() / 100)
        process.kill()
        process.wait()
        assert finished(script.store) >= stored
        stored = finished(script.store)
    assert 0 < stored < 120
    before = sum(line.startswith("start") for line in script.lines())
    assert script.start().wait(50) == 0
    assert script.lines()[-1] == "rows 120"
    assert sum(line.startswith("start") for line in script.lines()) - before == 120 - stored
    (tmp_path / "undisturbed").mkdir()
    undisturbed = Script(tmp_path / "undisturbed")
    assert undisturbed.start().wait(50) == 0
    frames = []
    for each in (script, undisturbed):
        traces = sorted(read_traces(each.store), key=lambda trace: (trace.case_id, trace.repeat))
        frames.append(comparable(traces_frame(traces)))
    pd.testing.assert_frame_equal(*frames)


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_ctrl_c_starts_no_further_call_and_keeps_what_is_there(script, kind) -> None:
    process = script.start(kind=kind, delay=1)
    script.wait_for(20)
    process.send_signal(signal.SIGINT)
    assert process.wait(50) == 130
    lines = script.lines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("interrupted")]
    _, moment, kept, name = lines[at].split()
    assert name == "RunInterrupted"
    # the second after it is waited out in the script: nothing starts any more
    later = [line for line in lines if line.startswith(("start", "call")) and line.split()[1] > moment]
    assert later == []
    assert 0 < int(kept) < 120
    assert finished(script.store) == int(kept)
    assert script.start(kind=kind).wait(50) == 0
    assert finished(script.store) == 120


def test_only_what_is_missing_is_run_and_the_frame_is_the_undisturbed_one(
    make_cases, comparable, tmp_path
) -> None:
    cases, store, called = make_cases(5), tmp_path / "store.jsonl", []

    async def agent(case: Any, tracer: Any) -> dict[str, Any]:
        called.append((case.id, tracer.repeat))
        return {
            "answer": f"{case.id} {tracer.rng.random()}",
            "structured": {"when": {1, 2}},
            "confidence": 0.5,
        }

    whole = run(agent, cases, repeats=2, store=store)
    lines = store.read_bytes().splitlines(keepends=True)
    store.write_bytes(b"".join(lines[:4]) + lines[5] + lines[6][:40])
    called.clear()
    again = run(agent, cases, repeats=2, store=store)
    assert len(called) == 6
    assert again["run_id"].unique().tolist() == whole["run_id"].unique().tolist()
    pd.testing.assert_frame_equal(comparable(again), comparable(whole))
    called.clear()
    pd.testing.assert_frame_equal(run(agent, cases, repeats=2, store=store), again)
    assert called == []


def test_a_frame_with_redacted_secrets_is_the_same_after_resuming(make_cases, comparable, tmp_path) -> None:
    secret = "sk-" + "a1b2" * 8

    async def agent(case: Any, tracer: Any) -> str:
        return f"I used {secret} and password=hunter{case.id[-1]}"

    first = run(agent, make_cases(3), store=tmp_path / "store.jsonl")
    again = run(agent, make_cases(3), store=tmp_path / "store.jsonl")
    pd.testing.assert_frame_equal(first, again)
    pd.testing.assert_frame_equal(comparable(run(agent, make_cases(3))), comparable(first))
    assert secret not in (tmp_path / "store.jsonl").read_text()
    assert not first["answer"].str.contains("hunter").any()


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"seed": 1}, "seed is 0 there, 1 here"),
        ({"arms": ["swallowed"]}, "arms is"),
        ({"repeats": 2}, "repeats is 1 there, 2 here"),
        ({"cases": 3}, "split_hash is"),
    ],
)
def test_the_store_of_another_run_is_refused_in_words(make_cases, tmp_path, options, difference) -> None:
    store = tmp_path / "store.jsonl"
    run(lambda case, tracer: "x", make_cases(2), store=store)
    before = store.read_bytes()
    cases = make_cases(options.pop("cases", 2))
    with pytest.raises(InputError, match=difference):
        run(lambda case, tracer: "x", cases, store=store, **options)
    assert store.read_bytes() == before
