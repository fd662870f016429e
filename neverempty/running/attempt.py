"""One repeat of one case: the agent is called, and whatever comes of it becomes a trace."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter, time
from typing import Any, Final

from neverempty.faults.plan import FaultPlan
from neverempty.results import kind_of
from neverempty.running.budget import NO_USAGE, Budget, Total, Usage, total_of
from neverempty.running.recording import Recorder, Recording
from neverempty.running.reply import describe, read_reply
from neverempty.running.seam import ModelSeam
from neverempty.running.units import Unit
from neverempty.traces.model import Trace, TraceStatus
from neverempty.traces.tracer import AgentReply, Tracer, activate

_NOTHING_USED: Final = Total(None, None, None, NO_USAGE)
_NO_REPLY: Final = AgentReply()
NOT_REPLAYED: Final = (
    "the agent made no model call through tracer.model_call, so nothing of it was replayed; an agent without "
    "that seam cannot be replayed"
)


@dataclass(slots=True)
class Job:
    """What all repeats of a run have in common.

    Parameters
    ----------
    agent : callable
        Takes a case and a tracer.
    run_id : str
        Name of the run.
    seed : int
        The run's seed.
    timeout : float or None
        Seconds per repeat.
    stubs : mapping
        Replacements of tools, by name.
    budget : Budget
        Of the whole run.
    recorder, recording : Recorder, Recording, optional
        Where replies go to or come from.
    own_loop : bool
        Whether the event loop is the run's own, in a thread, where no Ctrl-C arrives.
    """

    agent: Callable[..., Any]
    run_id: str
    seed: int
    timeout: float | None
    stubs: Mapping[str, Callable[..., Any]]
    budget: Budget
    recorder: Recorder | None = None
    recording: Recording | None = None
    own_loop: bool = True

    @property
    def needs_seam(self) -> bool:
        """Whether model calls must be looked at."""
        return self.budget.limited or self.recorder is not None or self.recording is not None


class Attempt:
    """One repeat while it is run.

    Parameters
    ----------
    job : Job
        The run.
    unit : Unit
        Which repeat of which case.
    seam : ModelSeam, optional
        Its seam.

    Attributes
    ----------
    waiter : Future or None
        Woken when an asynchronous agent has ended.
    """

    __slots__ = (
        "_ended",
        "_error",
        "_inner",
        "_job",
        "_result",
        "_started",
        "_t0",
        "_t1",
        "seam",
        "tracer",
        "unit",
        "waiter",
    )

    def __init__(self, job: Job, unit: Unit, seam: ModelSeam | None) -> None:
        arm = unit.condition.arm
        case = unit.condition.case
        key = (job.seed, case.suite, case.id, arm.name, unit.repeat)
        plan = FaultPlan(case.faults, arm.presentation, key, arm.params.get("wording", "default"))
        self.tracer = Tracer(case, arm, unit.repeat, job.seed, plan, stubs=job.stubs, seam=seam)
        self.unit = unit
        self.seam = seam
        self._ended: tuple[TraceStatus, str] | None = None
        self._job = job
        self._result: Any = None
        self._error: BaseException | None = None
        self._inner: Any = None
        self.waiter: asyncio.Future[None] | None = None
        self._started = time()
        self._t0 = self._t1 = perf_counter()

    # --------------------------------------------------------------------------------------------- running

    async def drive(self) -> None:
        """Await an asynchronous agent; whatever it raises is kept for the row."""
        try:
            with activate(self.tracer):
                self._result = await self._job.agent(self.tracer.case, self.tracer)
        except GeneratorExit as error:
            if self.tracer.abandoned:  # not the agent's own: its coroutine is closed, long after its row
                raise
            self._error = error
        except KeyboardInterrupt as error:
            if not self._job.own_loop:
                raise
            self._error = error
        except BaseException as error:
            self._error = error
        self._finished()
        if self.waiter is not None:
            wake(self.waiter)

    def call(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call a synchronous agent, in a thread; whatever it raises is kept for the row.

        Parameters
        ----------
        loop : event loop
            Where an awaitable is awaited that the agent hands back after all.
        """
        try:
            with activate(self.tracer):
                result = self._job.agent(self.tracer.case, self.tracer)
                if inspect.isawaitable(result):
                    self._inner = asyncio.run_coroutine_threadsafe(_wait_for(result), loop)
                    result = self._inner.result()
                self._result = result
        except BaseException as error:
            self._error = error
        self._finished()

    def _finished(self) -> None:
        if self.tracer.abandoned:
            self._error = None
            self.tracer.release()
        else:
            self._t1 = perf_counter()

    def abandon(self, status: TraceStatus, reason: str) -> None:
        """End the repeat from outside: what still runs for it writes nothing and starts no further call.

        Parameters
        ----------
        status, reason : str
            For the row, whatever the agent still makes of it.
        """
        self._ended = (status, reason)
        self._t1 = perf_counter()
        self.tracer.close(abandoned=True)
        if self._inner is not None:
            self._inner.cancel()

    # ----------------------------------------------------------------------------------------------- row

    def trace(self) -> Trace:
        """Make the row of the repeat."""
        tracer, condition, seam = self.tracer, self.unit.condition, self.seam
        case, usages = condition.case, tracer.usages
        error, self._error = self._error, None  # an exception holds its frames, and they hold this object
        status, reason, reply, kind, message = self._end(error)
        total = total_of(usages) if usages else _NOTHING_USED
        if seam is not None:
            seam.end(usages)
        elif usages:
            self._job.budget.count(total)
        fault_kind, presentation, layer, state = condition.fault_columns(tracer)
        return Trace(
            suite=case.suite,
            case_id=case.id,
            arm=condition.arm.name,
            repeat=self.unit.repeat,
            status=status,
            terminal_reason=reason,
            answer=reply.answer,
            route=tracer.route if reply.route is None else reply.route,
            structured=reply.structured,
            messages=tracer.messages if reply.messages is None else reply.messages,
            calls=tracer.calls,
            split=case.split,
            language=case.language,
            tags=case.tags,
            must_pass=case.must_pass,
            fault_kind=fault_kind,
            fault_presentation=presentation,
            fault_layer=layer,
            fault_state=state,
            duration_ms=(self._t1 - self._t0) * 1e3,
            input_tokens=total.input_tokens,
            output_tokens=total.output_tokens,
            cost_usd=total.cost_usd,
            cost_unknown_reason=total.unknown,
            error_kind=kind,
            error_message=message,
            resolved_model=_models(usages) if usages else None,
            confidence=reply.confidence,
            trace_id=f"{self._job.run_id}-{self.unit.row}",
            run_id=self._job.run_id,
            started_at=_utc(self._started),
            repeat_of=None if seam is None else seam.repeat_of,
        )

    def _end(
        self, error: BaseException | None
    ) -> tuple[TraceStatus, str, AgentReply, str | None, str | None]:
        """Decide how the repeat ended; what the harness knows goes before what the agent made of it."""
        tracer, seam = self.tracer, self.seam
        if tracer.poisoned is not None:
            return "harness_error", tracer.poisoned, _NO_REPLY, None, None
        if seam is not None and seam.stopped is not None:
            return *seam.stopped, _NO_REPLY, None, None
        if self._ended is not None:
            return *self._ended, _NO_REPLY, None, None
        if seam is not None and seam.bypassed():
            return "replay_miss", NOT_REPLAYED, _NO_REPLY, None, None
        if error is None:
            try:
                reply = read_reply(self._result)
            except TypeError as wrong:
                error = wrong
            else:
                return "ok", reply.terminal_reason or "completed", reply, None, None
        text = describe(error)
        if isinstance(error, asyncio.CancelledError):
            return "cancelled", "the agent cancelled itself", _NO_REPLY, None, text
        if isinstance(error, (SystemExit, KeyboardInterrupt)):
            return "agent_error", f"the agent ended with {text}", _NO_REPLY, "exception", text
        return "agent_error", f"the agent raised {type(error).__name__}", _NO_REPLY, kind_of(error), text


def _utc(seconds: float) -> str:
    """Write a moment as ISO 8601 with microseconds; the second before it is nearly always the last one's."""
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1e6):06d}+00:00"


@functools.lru_cache(maxsize=8)
def _second(whole: int) -> str:
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _models(usages: list[Usage]) -> str | None:
    return "+".join(dict.fromkeys(str(model) for model, _, _ in usages if model)) or None


def wake(waiter: asyncio.Future[None]) -> None:
    """Let whoever waits go on.

    Parameters
    ----------
    waiter : Future
        What is awaited; no error where it is done or cancelled already.
    """
    if not waiter.done():
        waiter.set_result(None)


async def _wait_for(result: Any) -> Any:
    return await result


def unstarted(job: Job, unit: Unit, status: TraceStatus, reason: str) -> Trace:
    """Make the row of a repeat that is not run.

    Parameters
    ----------
    job : Job
        The run.
    unit : Unit
        Which repeat of which case.
    status, reason : str
        Why not.

    Returns
    -------
    Trace
        Without times; its faults are armed at most.
    """
    attempt = Attempt(job, unit, None)
    attempt.abandon(status, reason)
    trace = attempt.trace()
    trace.started_at = trace.duration_ms = None
    return trace
