"""Daemon threads that synchronous agents run in; a hung one never holds the others up, nor the exit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

_Work = tuple[Callable[[], None], Callable[[], None]]


class DaemonPool:
    """Threads that are used again, one piece of work at a time each.

    There is no limit here: whoever submits keeps to one. A thread that never comes back is simply not used
    again, and the next piece of work gets a new one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Work | None]] = []
        self._closed = False

    def submit(self, work: Callable[[], None], notify: Callable[[], None]) -> None:
        """Have work done in a thread of its own.

        Parameters
        ----------
        work : callable
            Must catch every exception itself.
        notify : callable
            Called in the same thread afterwards, when the thread is free for the next piece of work.
        """
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="neverempty-agent", daemon=True).start()
        inbox.put((work, notify))

    def _serve(self, inbox: SimpleQueue[_Work | None]) -> None:
        while (item := inbox.get()) is not None:
            work, notify = item
            work()
            with self._lock:
                over = self._closed
                if not over:
                    self._idle.append(inbox)
            notify()
            if over:
                return
            del item, work, notify  # nothing of a finished trace may live on in a waiting thread

    def close(self) -> None:
        """Let idle threads end now and busy ones when their work is done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)
