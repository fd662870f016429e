"""Exceptions, retries, time limits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from neverempty._errors import UsageError
from neverempty.results import Err, Ok
from neverempty.tools import tool, wrap
from neverempty.traces.tracer import TraceClosedError, Tracer, activate


class Scripted:
    """A function that raises or returns what its script says, call by call."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)

    def __call__(self) -> Any:
        step = self.script.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    async def later(self) -> Any:
        return self()


def both(script: Callable[[], Scripted], **options: Any) -> list[Any]:
    """Run the same script through a synchronous and an asynchronous tool."""
    results = [wrap(script(), "search", **options)()]
    results.append(asyncio.run(wrap(script().later, "search", **options)()))
    return results


def test_an_exception_becomes_an_error_of_its_kind() -> None:
    for result in both(lambda: Scripted(TimeoutError("5 s"))):
        assert result == Err("timeout", "5 s", True, "TimeoutError: 5 s")
    for result in both(lambda: Scripted(KeyError("id"))):
        assert (result.kind, result.retryable) == ("exception", False)


def test_native_tools_let_their_own_exceptions_through() -> None:
    error = KeyError("id")
    with pytest.raises(KeyError) as caught:
        wrap(Scripted(error), "search", returns="native")()
    assert caught.value is error


@pytest.mark.parametrize("answer", ["auth", Err("auth", "expired"), None])
def test_the_author_may_classify_errors(answer: object) -> None:
    kinds = {result.kind for result in both(lambda: Scripted(ValueError()), classify_error=lambda _: answer)}
    assert kinds == {"exception" if answer is None else "auth"}


def test_a_classification_that_fails_or_is_unknown_is_an_error_of_the_set_up() -> None:
    with pytest.raises(UsageError, match="returned 'slow'"):
        wrap(Scripted(ValueError()), "search", classify_error=lambda _: "slow")()
    with pytest.raises(UsageError, match="classify_error raised ZeroDivisionError"):
        wrap(Scripted(ValueError()), "search", classify_error=lambda _: str(1 // 0))()


def test_an_exception_without_text_is_named_by_its_type() -> None:
    assert wrap(Scripted(ConnectionError()), "search")().message == "ConnectionError"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2), asyncio.CancelledError()])
@pytest.mark.parametrize("timeout", [None, 5.0])
def test_what_ends_a_program_is_never_an_error_of_a_tool(error: BaseException, timeout: float | None) -> None:
    with pytest.raises(type(error)):
        wrap(Scripted(error), "search", retries=3, timeout=timeout)()


# ------------------------------------------------------------------------------------------------- retries


def test_only_errors_that_may_pass_are_tried_again() -> None:
    waits: list[float] = []
    for result in both(lambda: Scripted(TimeoutError(), TimeoutError(), 7), retries=2, sleep=waits.append):
        assert result == Ok(7)
    assert len(waits) == 4
    for result in both(lambda: Scripted(KeyError("x"), 7), retries=2, sleep=waits.append):
        assert result.kind == "exception"
    for result in both(lambda: Scripted(Err("rate_limit"), 7), retries=2, sleep=waits.append):
        assert result == Err("rate_limit")
    assert len(waits) == 4
    for result in both(lambda: Scripted(Err("rate_limit", retryable=True), 7), retries=1, sleep=waits.append):
        assert result == Ok(7)


def test_the_last_error_is_the_answer_when_all_attempts_failed() -> None:
    for result in both(
        lambda: Scripted(TimeoutError(), ConnectionError("last")), retries=1, sleep=lambda _: None
    ):
        assert (result.kind, result.message) == ("connection", "last")


def test_waits_double_and_are_jittered_within_their_half() -> None:
    waits: list[float] = []
    wrap(
        Scripted(*[TimeoutError() for _ in range(9)], 7), "search", retries=9, backoff=1.0, sleep=waits.append
    )()
    for number, wait in enumerate(waits):
        full = min(2.0**number, 30.0)
        assert full / 2 <= wait <= full


def test_inside_a_run_the_jitter_depends_on_nothing_but_the_key(tracer_of: Callable[..., Tracer]) -> None:
    def waits(repeat: int) -> list[float]:
        noted: list[float] = []
        script = Scripted(TimeoutError(), TimeoutError(), 7, TimeoutError(), 8)
        search = wrap(script, "search", retries=2, sleep=noted.append)
        with activate(tracer_of(repeat=repeat)):
            search()
            search()
        return noted

    assert waits(0) == waits(0)
    assert waits(0) != waits(1)
    assert len(set(waits(0))) == 3


def test_an_asynchronous_sleep_is_awaited() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)
        waits.append(seconds)

    search = wrap(Scripted(TimeoutError(), 7).later, "search", retries=1, sleep=sleep)
    assert asyncio.run(search()) == Ok(7)
    assert len(waits) == 1


# --------------------------------------------------------------------------------------------- time limits


def test_a_slow_asynchronous_tool_times_out_and_is_cancelled() -> None:
    ended: list[str] = []

    @tool(timeout=0.02)
    async def search() -> int:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return 1

    result = asyncio.run(search())
    assert (result.kind, result.message) == ("timeout", "tool 'search' did not return within 0.02 s")
    assert ended == ["cancelled"]


def test_a_timeout_of_the_tools_own_client_keeps_its_text() -> None:
    async def search() -> int:
        raise TimeoutError("the client gave up")

    assert asyncio.run(wrap(search, timeout=5)()).message == "the client gave up"


def test_cancellation_from_outside_goes_through_a_tool_with_a_time_limit() -> None:
    async def main() -> str:
        task = asyncio.create_task(wrap(asyncio.sleep, "pause", timeout=20, strict=False)(10))
        await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"
        return "finished"

    assert asyncio.run(main()) == "cancelled"


def test_a_slow_ordinary_tool_times_out_and_can_start_nothing_more(tracer_of: Callable[..., Tracer]) -> None:
    release, late = threading.Event(), []
    other = wrap(lambda: 1, "other")

    @tool(timeout=0.02)
    def search() -> int:
        release.wait(10)
        try:
            other()
        except TraceClosedError as error:
            late.append(str(error))
        done.set()
        return 1

    done = threading.Event()
    tracer = tracer_of()
    with activate(tracer):
        result = search()
        assert result.kind == "timeout"
        release.set()
        assert done.wait(10)
    assert [call.tool for call in tracer.calls] == ["search"]
    assert late == ["tool 'other' was called by a tool that had run out of its time"]


def test_an_ordinary_tool_with_a_time_limit_returns_and_raises_as_without() -> None:
    assert wrap(lambda: 7, "search", timeout=5)() == Ok(7)
    assert wrap(Scripted(KeyError("x")), "search", timeout=5)().kind == "exception"
    started = time.perf_counter()
    wrap(lambda: 7, "search", timeout=5)()
    assert time.perf_counter() - started < 2
