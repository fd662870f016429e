"""Cancellation from outside propagates, starts nothing more, and keeps what had finished."""

from __future__ import annotations

import asyncio
import threading
import time
import types
from typing import Any

import pytest

from neverempty import read_traces
from neverempty.running import RunInterrupted, arun, run
from neverempty.running import loops as loops_module


def test_a_cancelled_arun_propagates_and_the_store_keeps_what_had_finished(make_cases, tmp_path) -> None:
    store, started, enough = tmp_path / "store.jsonl", [], asyncio.Event()

    async def agent(case: Any, tracer: Any) -> str:
        started.append(case.id)
        if len(started) == 20:
            enough.set()
        await asyncio.sleep(0.01)
        return "done"

    async def main() -> int:
        task = asyncio.create_task(arun(agent, make_cases(200), store=store, concurrency=4))
        await enough.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        count = len(started)
        await asyncio.sleep(0.1)
        assert len(started) == count
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
        return count

    count = asyncio.run(main())
    assert count - 4 <= len(read_traces(store)) < count


def test_a_limit_around_arun_ends_it(make_cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        await asyncio.sleep(60)
        return "late"

    async def main() -> None:
        async with asyncio.timeout(0.1):
            await arun(agent, make_cases(3))

    with pytest.raises(TimeoutError):
        asyncio.run(main())


@pytest.fixture
def interrupt_after(monkeypatch) -> Any:
    """Let the waiting thread meet a KeyboardInterrupt once a condition holds, as by Ctrl-C."""

    def install(condition: Any) -> None:
        class Event(threading.Event):
            met = False

            def wait(self, timeout: float | None = None) -> bool:
                if not Event.met:
                    while not condition():
                        time.sleep(0.001)
                    Event.met = True
                    raise KeyboardInterrupt
                return super().wait(timeout)

        only_there = types.SimpleNamespace(Event=Event, Thread=threading.Thread)
        monkeypatch.setattr(loops_module, "threading", only_there)

    return install


def test_the_finished_traces_come_with_the_interrupt(make_cases, interrupt_after) -> None:
    started: list[str] = []

    async def agent(case: Any, tracer: Any) -> str:
        started.append(case.id)
        await asyncio.sleep(0.002)
        return "done"

    interrupt_after(lambda: len(started) >= 30)
    with pytest.raises(RunInterrupted) as caught:
        run(agent, make_cases(500), concurrency=5)
    count = len(started)
    time.sleep(0.05)
    assert len(started) == count
    traces = caught.value.traces
    assert count - 5 <= len(traces) <= count
    assert traces["status"].unique().tolist() == ["ok"]
    assert "finished traces are in .traces" in str(caught.value)


def test_a_thread_that_goes_on_after_the_interrupt_starts_no_call(
    make_cases, interrupt_after, lookup_tool
) -> None:
    waiting, release, refused = [], threading.Event(), []

    def agent(case: Any, tracer: Any) -> str:
        waiting.append(case.id)
        release.wait(20)
        try:
            lookup_tool(query=case.id)
        except Exception as error:
            refused.append(type(error).__name__)
        return "late"

    interrupt_after(lambda: len(waiting) == 3)
    with pytest.raises(RunInterrupted) as caught:
        run(agent, make_cases(9), concurrency=3)
    release.set()
    for _ in range(500):
        if len(refused) == 3:
            break
        time.sleep(0.01)
    assert refused == ["TraceClosedError"] * 3
    assert len(waiting) == 3
    assert len(caught.value.traces) == 0


def test_an_agent_that_blocks_its_loop_does_not_hold_the_interrupt_up(make_cases, interrupt_after) -> None:
    blocking = threading.Event()

    async def agent(case: Any, tracer: Any) -> str:
        blocking.set()
        time.sleep(6)  # noqa: ASYNC251 - it is what this test is about
        return "late"

    interrupt_after(blocking.is_set)
    start = time.monotonic()
    with pytest.raises(RunInterrupted):
        run(agent, make_cases(2))
    assert time.monotonic() - start < 5


def test_agents_that_never_wait_can_be_interrupted(make_cases, interrupt_after) -> None:
    started: list[str] = []

    async def agent(case: Any, tracer: Any) -> str:
        started.append(case.id)
        return "done"

    interrupt_after(lambda: len(started) >= 100)
    with pytest.raises(RunInterrupted):
        run(agent, make_cases(300), repeats=100)
    assert len(started) < 30_000


def test_a_full_disk_ends_the_run_with_its_error(make_cases, tmp_path, monkeypatch) -> None:
    started: list[str] = []

    async def agent(case: Any, tracer: Any) -> str:
        started.append(case.id)
        await asyncio.sleep(0.001)
        return "done"

    from neverempty.traces import TraceStore

    def full(store: Any, trace: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TraceStore, "append", full)
    with pytest.raises(OSError, match="No space left"):
        run(agent, make_cases(50), store=tmp_path / "store.jsonl", concurrency=2)
    assert len(started) <= 4
