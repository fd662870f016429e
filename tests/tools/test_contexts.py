"""A fault plan reaches tools wherever they are called, or fails loudly."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from neverempty.results import Ok
from neverempty.tools import Tool, wrap
from neverempty.traces.tracer import (
    NoActivePlanError,
    TraceClosedError,
    Tracer,
    activate,
    current_tracer,
)

TracerOf = Callable[..., Tracer]
FAULT = {"tool": "search", "kind": "timeout"}


@pytest.fixture
def search() -> Tool:
    return wrap(lambda: ["a"], "search")


async def in_task(search: Tool) -> Any:
    async def work() -> Any:
        return search()

    return await asyncio.create_task(work())


async def in_to_thread(search: Tool) -> Any:
    return await asyncio.to_thread(search)


async def in_executor_with_copied_context(search: Tool) -> Any:
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, context.run, search)


async def in_bare_executor(search: Tool) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, search)


async def in_bare_thread(search: Tool) -> Any:
    box: list[Any] = []

    def work() -> None:
        try:
            box.append(search())
        except Exception as error:
            box.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    await asyncio.to_thread(thread.join)
    return box[0]


@pytest.mark.parametrize(
    "place", [in_task, in_to_thread, in_executor_with_copied_context, in_bare_executor, in_bare_thread]
)
def test_the_fault_reaches_the_tool(tracer_of: TracerOf, search: Tool, place: Any) -> None:
    tracer = tracer_of(FAULT)

    async def main() -> Any:
        with activate(tracer):
            return await place(search)

    assert asyncio.run(main()).status == "error"
    assert [call.state for call in tracer.calls] == ["fired"]


@pytest.mark.parametrize("place", [in_task, in_to_thread, in_executor_with_copied_context])
def test_traces_in_flight_together_keep_their_calls_apart(
    tracer_of: TracerOf, search: Tool, place: Any
) -> None:
    tracers = [tracer_of(FAULT, case_id="a"), tracer_of(case_id="b")]

    async def one(tracer: Tracer) -> Any:
        with activate(tracer):
            await asyncio.sleep(0)
            return await place(search)

    async def main() -> list[Any]:
        return await asyncio.gather(*map(one, tracers))

    assert [result.status for result in asyncio.run(main())] == ["error", "ok"]
    assert [len(tracer.calls) for tracer in tracers] == [1, 1]


def test_a_bare_thread_beside_several_traces_fails_loudly_and_spoils_them_all(
    tracer_of: TracerOf, search: Tool
) -> None:
    ran: list[int] = []
    search = wrap(lambda: ran.append(1) or 1, "search")
    first, second = tracer_of(FAULT, case_id="a"), tracer_of(case_id="b")

    async def main() -> Any:
        with activate(first), activate(second):
            return await in_bare_thread(search)

    error = asyncio.run(main())
    assert isinstance(error, NoActivePlanError)
    assert "copy_context" in str(error)
    assert ran == []
    assert first.poisoned == second.poisoned == str(error)
    assert (first.calls, second.calls) == ([], [])


def test_such_an_error_is_never_shown_to_the_model_as_a_failure_of_an_outer_tool(
    tracer_of: TracerOf, search: Tool
) -> None:
    def outer() -> Any:
        result = asyncio.run(in_bare_thread(search))
        if isinstance(result, Exception):
            raise result
        return result

    first, second = tracer_of(case_id="a"), tracer_of(case_id="b")
    with activate(first), activate(second), pytest.raises(NoActivePlanError):
        wrap(outer)()


def test_outside_of_any_trace_tools_work_plainly(search: Tool) -> None:
    assert current_tracer() is None
    assert search() == Ok(["a"])
    assert asyncio.run(in_bare_thread(search)) == Ok(["a"])


def test_a_late_call_of_a_finished_trace_does_nothing(tracer_of: TracerOf) -> None:
    ran: list[int] = []
    search = wrap(lambda: ran.append(1) or 1, "search")
    tracer = tracer_of(FAULT)
    with activate(tracer):
        context = contextvars.copy_context()
    with pytest.raises(TraceClosedError, match="'c1'"):
        context.run(search)
    assert (ran, tracer.calls) == ([], [])


def test_the_late_end_of_a_hung_call_is_dropped(tracer_of: TracerOf) -> None:
    inside, release, ended = threading.Event(), threading.Event(), threading.Event()

    def hang() -> str:
        inside.set()
        release.wait(10)
        return "late"

    def agent() -> None:
        search()
        ended.set()

    search = wrap(hang, "search")
    tracer = tracer_of()
    with activate(tracer):
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(agent,), daemon=True).start()
        assert inside.wait(10)
    release.set()
    assert ended.wait(10)
    call = tracer.calls[0]
    assert (call.truth, call.returned, call.duration_ms) == ("unknown", None, 0.0)


def test_a_retry_that_wakes_up_after_the_end_does_not_run(tracer_of: TracerOf) -> None:
    tracer = tracer_of()
    ran: list[int] = []

    def broken() -> int:
        ran.append(1)
        raise TimeoutError

    search = wrap(broken, "search", retries=5, sleep=lambda _: tracer.close())
    with activate(tracer), pytest.raises(TraceClosedError):
        search()
    assert ran == [1]


def test_beside_an_abandoned_trace_a_bare_thread_cannot_be_attributed(
    tracer_of: TracerOf, search: Tool
) -> None:
    hung, live = tracer_of(case_id="hung"), tracer_of(case_id="live")
    with activate(hung):
        hung.close(abandoned=True)
    with activate(live):
        assert isinstance(asyncio.run(in_bare_thread(search)), NoActivePlanError)
        assert live.poisoned is not None
    hung.release()
    again = tracer_of(FAULT, case_id="again")
    with activate(again):
        assert asyncio.run(in_bare_thread(search)).status == "error"
