"""Which tracer a call belongs to: the one of its context, or the only one in flight, or a loud error."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Final

from neverempty._errors import NeverEmptyError, UsageError

if TYPE_CHECKING:
    from neverempty.traces.tracer import Tracer


class NoActivePlanError(NeverEmptyError):
    """A tool was called where it cannot be told to which of several runs in flight the call belongs."""


class TraceClosedError(NeverEmptyError):
    """A tool or model was called on behalf of a repeat that is over."""


_CURRENT: Final[ContextVar[Tracer | None]] = ContextVar("neverempty_tracer", default=None)
_ACTIVE: Final[dict[Tracer, None]] = {}


class activate:  # noqa: N801  # a context manager used like a function
    """Make a tracer the one to which calls belong, in this context and all that are copied from it.

    Leaving the outermost block closes the tracer.

    Parameters
    ----------
    tracer : Tracer
        The tracer.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from neverempty.faults import Arm
    >>> from neverempty.traces.tracer import Tracer
    >>> tracer = Tracer(SimpleNamespace(suite="jobs", id="j1"), Arm.of("typed"))
    >>> with activate(tracer):
    ...     current_tracer() is tracer
    True
    >>> current_tracer() is None, tracer.closed
    (True, True)
    """

    __slots__ = ("_outermost", "_token", "_tracer")

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._token: Token[Tracer | None] | None = None
        self._outermost = False

    def __enter__(self) -> Tracer:
        if self._tracer.closed:
            raise UsageError("this tracer is closed; make a new Tracer for each repeat")
        self._outermost = self._tracer not in _ACTIVE
        _ACTIVE[self._tracer] = None
        self._token = _CURRENT.set(self._tracer)
        return self._tracer

    def __exit__(self, *exc_info: object) -> None:
        if self._token is not None:
            _CURRENT.reset(self._token)
        if self._outermost:
            self._tracer.close()
            if not self._tracer.abandoned:
                _ACTIVE.pop(self._tracer, None)


def current_tracer() -> Tracer | None:
    """Return the tracer of this context.

    Returns
    -------
    Tracer or None
        None outside of a run, and in threads that were started without a context.
    """
    return _CURRENT.get()


def forget(tracer: Tracer) -> None:
    """Take a tracer out of those in flight.

    Parameters
    ----------
    tracer : Tracer
        The tracer; one that is not in flight is no error.
    """
    _ACTIVE.pop(tracer, None)


def owning_tracer(what: str) -> Tracer | None:
    """Return the tracer to which a call made here belongs, or say loudly that this cannot be told.

    Parameters
    ----------
    what : str
        What is called, for the error.

    Returns
    -------
    Tracer or None
        The context's tracer; in a thread without one, the only trace in flight; None where none is, and in
        the main thread where only hung agents are left.

    Raises
    ------
    NoActivePlanError
        Without a context while several traces are in flight. All of them are poisoned: one of them lacks
        this call.
    TraceClosedError
        Where the repeat that the call belongs to is over.
    """
    tracer = _CURRENT.get()
    if tracer is None:
        in_flight = list(_ACTIVE)
        if not in_flight or _is_the_users_own(in_flight):
            return None
        if len(in_flight) > 1:
            raise no_active_plan(what, in_flight)
        tracer = in_flight[0]
    if tracer.closed:
        raise tracer.over(what)
    return tracer


def _is_the_users_own(in_flight: Sequence[Tracer]) -> bool:
    """Tell a call that the user makes while agents that hung still sleep, in threads of their own."""
    return threading.current_thread() is threading.main_thread() and all(one.abandoned for one in in_flight)


def no_active_plan(what: str, in_flight: Sequence[Tracer]) -> NoActivePlanError:
    """Poison the traces to one of which a call belongs, and make the error that says so.

    Parameters
    ----------
    what : str
        What is called.
    in_flight : sequence of Tracer
        The traces in question.

    Returns
    -------
    NoActivePlanError
        To be raised.
    """
    text = (
        f"{what} was called from a thread without a context while {len(in_flight)} traces were in flight, so "
        "no fault plan is active for it; start the thread with contextvars.copy_context().run, use "
        "asyncio.to_thread, or run with concurrency=1"
    )
    for tracer in in_flight:
        tracer.poison(text)
    return NoActivePlanError(text)
