"""The workers of a run: each takes the next repeat, has the agent answer, and keeps the row."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Iterator
from contextvars import copy_context
from functools import partial
from time import perf_counter
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.running.attempt import NOT_REPLAYED, Attempt, Job, unstarted, wake
from neverempty.running.keeping import Keeper
from neverempty.running.reply import describe
from neverempty.running.seam import ModelSeam
from neverempty.running.threads import DaemonPool
from neverempty.running.units import Unit
from neverempty.traces.model import Trace

# How long a cancelled agent may clean up before it is left behind.
GRACE: Final = 1.0
# Agents that never wait must still let the loop see a cancellation now and then.
_LONGEST_WITHOUT_YIELD: Final = 0.02
# An agent that never waits then needs no turn of the loop.
_EAGER: Final[dict[str, Any]] = {"eager_start": True} if sys.version_info >= (3, 12) else {}


class Runner:
    """Runs units with a limited number of agents at once.

    Parameters
    ----------
    job : Job
        What all repeats have in common.
    todo : iterator of Unit
        What is to be run, taken as workers become free.
    keeper : Keeper
        Takes the rows.
    is_async : bool
        Whether the agent is awaited, or called in threads.
    concurrency : int
        How many at once.
    """

    def __init__(
        self, job: Job, todo: Iterator[Unit], keeper: Keeper, *, is_async: bool, concurrency: int
    ) -> None:
        self._job = job
        self._todo = todo
        self._keeper = keeper
        self._is_async = is_async
        self._concurrency = concurrency
        self._flying: dict[Attempt, asyncio.Task[None] | None] = {}
        self._left: list[tuple[Attempt, asyncio.Task[None]]] = []
        self._pool = DaemonPool()
        self._halted = False
        self._replayed = False
        self._yield_at = 0.0
        self._main: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    # ------------------------------------------------------------------------------------------- from outside

    def halt(self) -> None:
        """Start nothing more, at once and from any thread: no repeat, no tool call and no model call."""
        self._halted = True
        for attempt in list(self._flying):
            attempt.abandon("cancelled", "the run was interrupted")

    def interrupt(self) -> None:
        """Halt, and have `main` cancel what is running; from any other thread than the loop's."""
        self.halt()
        if self._main is not None:
            loop, task = self._main
            with contextlib.suppress(RuntimeError):  # the loop has just closed: there is nothing to cancel
                loop.call_soon_threadsafe(task.cancel)

    def stuck(self) -> list[asyncio.Task[None]]:
        """Forget what belongs to agents that will not be cancelled, once their loop is closed.

        Returns
        -------
        list of Task
            They will never run again, and must be held: a coroutine that nobody holds is closed, and one that
            swallows that as well would spin for ever.
        """
        left = [(attempt, task) for attempt, task in self._left if not task.done()]
        for attempt, _ in left:
            attempt.tracer.release()
        return [task for _, task in left]

    async def main(self) -> None:
        """Run everything; a cancellation from outside halts the run and propagates."""
        task = asyncio.current_task()
        if task is not None:
            self._main = (asyncio.get_running_loop(), task)
        count = self._concurrency
        workers = [asyncio.create_task(self._work()) for _ in range(count)]
        try:
            done = await self._all_of(workers)
        finally:
            self.halt()
            for worker in workers:
                worker.cancel()
            self._pool.close()
            await self._wind_down(workers)
        for worker in done:
            worker.result()

    async def _all_of(self, workers: list[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        while True:
            try:
                done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            except asyncio.CancelledError:
                if not self._is_stray():
                    raise
            else:
                return done

    def _is_stray(self) -> bool:
        """Tell a cancellation that an agent made, of every task of the run's own loop; take it back here."""
        task = asyncio.current_task()
        if self._halted or not self._job.own_loop or task is None:
            return False
        task.uncancel()
        return True

    async def _wind_down(self, workers: list[asyncio.Task[None]]) -> None:
        """Let cancelled agents clean up for a moment; one that does not end is left behind."""
        tasks = [task for task in self._flying.values() if task is not None and not task.done()]
        for task in tasks:
            task.cancel()
        waiting = [task for task in (*workers, *tasks) if not task.done()]
        if waiting:
            await asyncio.wait(waiting, timeout=GRACE)

    # ---------------------------------------------------------------------------------------------- workers

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        job = self._job
        start = self._start_task if self._is_async else self._start_thread
        limited, needs_seam = job.budget.limited, job.needs_seam
        for unit in self._todo:
            if self._halted:
                return
            if limited and (reason := job.budget.over()) is not None:
                self._keeper.keep_unstarted(unit, unstarted(job, unit, "budget_stopped", reason))
                continue
            seam = ModelSeam(unit, job.budget, job.recorder, job.recording) if needs_seam else None
            attempt = Attempt(job, unit, seam)
            self._flying[attempt] = None
            try:
                waiting = start(attempt, loop)
                if waiting is not None:
                    try:
                        await waiting
                    except asyncio.CancelledError:
                        await self._outlast(attempt, loop)
            finally:
                task = self._flying.pop(attempt)
                if task is not None and not task.done():
                    self._left.append((attempt, task))
            if self._halted:
                return
            self._finish(attempt)
            now = perf_counter()
            if now > self._yield_at:
                self._yield_at = now + _LONGEST_WITHOUT_YIELD
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError:
                    if not self._is_stray():
                        raise

    async def _outlast(self, attempt: Attempt, loop: asyncio.AbstractEventLoop) -> None:
        """Wait on for an agent when another one has cancelled the waiting; else pass the cancellation on."""
        task = self._flying[attempt]
        while True:
            if task is None or not self._is_stray():
                raise asyncio.CancelledError
            if task.done():
                return
            attempt.waiter = loop.create_future()
            try:
                await self._wait(attempt, attempt.waiter, loop, task)
            except asyncio.CancelledError:
                continue
            return

    def _start_task(self, attempt: Attempt, loop: asyncio.AbstractEventLoop) -> Awaitable[None] | None:
        """Start an asynchronous agent; return what is to be awaited, None where it has ended already."""
        task: asyncio.Task[None] = asyncio.Task(attempt.drive(), loop=loop, name="neverempty-agent", **_EAGER)
        if task.done():
            if not task.cancelled():
                task.result()  # a KeyboardInterrupt in the caller's own loop
            return None
        self._flying[attempt] = task
        attempt.waiter = loop.create_future()
        return self._wait(attempt, attempt.waiter, loop, task)

    def _start_thread(self, attempt: Attempt, loop: asyncio.AbstractEventLoop) -> Awaitable[None]:
        """Start a synchronous agent in a thread; return what is to be awaited."""
        waiter = loop.create_future()

        def notify() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(wake, waiter)

        self._pool.submit(partial(copy_context().run, attempt.call, loop), notify)
        return self._wait(attempt, waiter, loop, None)

    async def _wait(
        self,
        attempt: Attempt,
        waiter: asyncio.Future[None],
        loop: asyncio.AbstractEventLoop,
        task: asyncio.Task[None] | None,
    ) -> None:
        """Wait for the agent's end, or for its limit and, if it can be cancelled, its cleaning up."""
        limit = self._job.timeout
        if limit is None:
            await waiter
            return

        def expire() -> None:
            if waiter.done():
                return
            reason = f"the agent gave no answer within {limit:g} s, the run's limit per case"
            attempt.abandon("agent_timeout", reason)
            if task is None:
                wake(waiter)
            else:
                task.cancel()
                loop.call_later(GRACE, wake, waiter)

        timer = loop.call_later(limit, expire)
        try:
            await waiter
        finally:
            timer.cancel()

    def _finish(self, attempt: Attempt) -> None:
        try:
            trace = attempt.trace()
        except BaseException as error:  # whatever an agent put into its tracer, the other repeats go on
            reason = f"the row could not be made: {describe(error)}"
            trace = unstarted(self._job, attempt.unit, "harness_error", reason)
        if self._job.recording is not None:
            self._refuse_replay_without_seam(trace)
        self._keeper.keep(attempt.unit, trace)

    def _refuse_replay_without_seam(self, trace: Trace) -> None:
        if trace.terminal_reason != NOT_REPLAYED:
            self._replayed = True
        elif not self._replayed:
            raise UsageError(f"the replay was refused at case {trace.case_id!r}: {NOT_REPLAYED}")
