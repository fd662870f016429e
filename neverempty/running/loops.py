"""An event loop of the run's own, in a thread: a run works in a script and in a notebook cell alike."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, Final

from neverempty.running.runner import GRACE, Runner

_TICK: Final = 0.1


def run_in_thread(runner: Runner, tick: Callable[[], None]) -> None:
    """Run everything in a thread and wait for it here, where a Ctrl-C arrives.

    Parameters
    ----------
    runner : Runner
        What is to be run.
    tick : callable
        Called now and then while waiting.

    Raises
    ------
    BaseException
        What stopped the run; a KeyboardInterrupt halts it first.
    """
    finished = threading.Event()
    failures: list[BaseException] = []

    def body() -> None:
        stuck: list[asyncio.Task[None]] = []
        try:
            try:
                _complete(runner.main())
            finally:
                stuck = runner.stuck()
        except BaseException as error:
            failures.append(error)
        finally:
            finished.set()
        if stuck:
            threading.Event().wait()  # this thread holds them until the program ends

    thread = threading.Thread(target=copy_context().run, args=(body,), name="neverempty-run", daemon=True)
    try:
        thread.start()
        while not finished.wait(_TICK):
            tick()
    except BaseException:
        runner.interrupt()
        # a loop that an agent blocks does not hear of it; it is left behind, and its rows are dropped
        finished.wait(3 * GRACE)
        raise
    if failures:
        raise failures[0]


def _complete(main: Coroutine[Any, Any, None]) -> None:
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        task = loop.create_task(main)
        task.add_done_callback(lambda _: loop.stop())
        while not task.done():  # an agent may stop the loop, too
            # a task that an agent started may end with SystemExit, which asyncio lets out of the loop
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                loop.run_forever()
        task.result()
    finally:
        _close(loop)
        asyncio.set_event_loop(None)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """End what agents left running; a task that will not be cancelled is left behind, not waited for."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            loop.run_until_complete(asyncio.wait(left, timeout=GRACE))
    for task in left:
        # neither of asyncio's two complaints helps a user: the row already says what happened
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        if task.done() and not task.cancelled():
            task.exception()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
