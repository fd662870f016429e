"""A run from its arguments to its frame: everything is checked before the first call is made."""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from neverempty._errors import UsageError
from neverempty._io import dumps
from neverempty.cases import Case
from neverempty.faults.spec import Arm
from neverempty.running.attempt import Job
from neverempty.running.budget import Budget
from neverempty.running.keeping import UNFINISHED, Keeper, NoticingRedactor
from neverempty.running.pinned import check_contract
from neverempty.running.progress import Progress
from neverempty.running.reach import tools_of
from neverempty.running.recording import Recorder, Recording
from neverempty.running.runner import Runner
from neverempty.running.units import (
    Unit,
    check_agent,
    check_numbers,
    check_paths,
    checked_arms,
    checked_cases,
    units,
)
from neverempty.tools import below
from neverempty.traces.model import Trace
from neverempty.traces.store import RunIdentity, TraceStore

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | os.PathLike[str]
_NO_STUBS: Final[Mapping[str, Callable[..., Any]]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keyword arguments of `run` with their defaults; `RunOptions` describes them."""

    arms: Iterable[str | Arm] | str | Arm | None = None
    repeats: int = 1
    concurrency: int = 8
    timeout: float | None = None
    seed: int = 0
    budget_usd: float | None = None
    budget_tokens: int | None = None
    progress: bool | None = None
    store: PathLike | None = None
    record: PathLike | None = None
    replay: PathLike | None = None
    stubs: Mapping[str, Callable[..., Any]] | None = None
    contract: PathLike | None = None
    repin: bool = False


class Session:
    """A run that is set up and ready; entering it opens its files, leaving it closes them.

    Parameters
    ----------
    agent : callable
        The agent.
    cases : iterable of Case
        The cases.
    settings : Settings
        All else.
    own_loop : bool
        Whether the event loop will be the run's own.
    """

    def __init__(
        self, agent: Callable[..., Any], cases: Iterable[Case], settings: Settings, *, own_loop: bool
    ) -> None:
        check_agent(agent)
        check_numbers(
            repeats=settings.repeats,
            concurrency=settings.concurrency,
            seed=settings.seed,
            timeout=settings.timeout,
            budget_usd=settings.budget_usd,
            budget_tokens=settings.budget_tokens,
        )
        check_paths(
            store=settings.store, record=settings.record, replay=settings.replay, contract=settings.contract
        )
        if settings.record is not None and settings.replay is not None:
            raise UsageError("record and replay exclude each other; a replay makes no live call to record")
        self._cases = checked_cases(cases)
        self._arms = checked_arms(settings.arms)
        self._settings = settings
        stubs = settings.stubs or _NO_STUBS
        _check_side_effects(agent, stubs)
        check_contract(agent, settings.contract, repin=settings.repin)
        self._files = ExitStack()
        self._job = Job(
            agent=agent,
            run_id=uuid.uuid4().hex[:12],
            seed=settings.seed,
            timeout=settings.timeout,
            stubs=stubs,
            budget=Budget(settings.budget_usd, settings.budget_tokens),
            own_loop=own_loop,
        )
        self._rows: list[Trace | None] = []
        self._resumes = False

    def __enter__(self) -> Self:
        with ExitStack() as files:
            self._open(files)
            self._files = files.pop_all()
        return self

    def _open(self, files: ExitStack) -> None:
        settings, job = self._settings, self._job
        files.enter_context(below(fault for case in self._cases for fault in case.faults))
        if settings.replay is not None:
            job.recording = Recording(settings.replay)
        redactor = NoticingRedactor()
        store = None
        if settings.store is not None:
            store = files.enter_context(TraceStore(settings.store, self._identity(), redactor=redactor))
            job.run_id = store.run_id
        if settings.record is not None:
            job.recorder = Recorder(settings.record)
            files.callback(job.recorder.close)
        count = len(self._cases) * len(self._arms) * settings.repeats
        self._rows = [None] * count
        todo = units(self._cases, self._arms, settings.repeats)
        if store is not None and (stored := store.traces()):
            todo = self._resumed(todo, stored)
        self._resumes = any(row is not None for row in self._rows)
        redactor.noticed = False
        self.keeper = Keeper(self._rows, redactor, store)
        self.runner = Runner(
            job,
            todo,
            self.keeper,
            is_async=_is_async(job.agent),
            concurrency=min(settings.concurrency, max(count, 1)),
        )
        self.progress = files.enter_context(Progress(count, settings.progress))

    def __exit__(self, *exc_info: object) -> None:
        self._files.close()

    def _identity(self) -> RunIdentity:
        from neverempty import __version__

        return RunIdentity(
            run_id=self._job.run_id,
            seed=self._settings.seed,
            split_hash=_digest_of(self._cases),
            arms=tuple(arm.model_dump(mode="json") for arm in self._arms),
            repeats=self._settings.repeats,
            versions={"neverempty": __version__, "python": platform.python_version()},
            settings={"replay": self._settings.replay is not None},
        )

    def _resumed(self, todo: Iterator[Unit], stored: list[Trace]) -> Iterator[Unit]:
        """Put what the store holds into its rows and return what is missing."""
        found = {(trace.suite, trace.case_id, trace.arm, trace.repeat): trace for trace in stored}
        missing: list[Unit] = []
        for unit in todo:
            trace = found.get(unit.key)
            if trace is not None:
                self._job.budget.count_trace(trace)
            if trace is None or trace.status in UNFINISHED:
                missing.append(unit)
            else:
                self._rows[unit.row] = trace
        return iter(missing)

    def tick(self) -> None:
        """Show how far the run is."""
        self.progress.show(self.keeper.done, self._job.budget.spent_usd)

    def finished(self) -> list[Trace]:
        """Return the rows that are there, in the order of the frame."""
        return [trace for trace in self._rows if trace is not None]

    def frame(self) -> pd.DataFrame:
        """Return the traces frame, with a warning where it is not what was asked for."""
        from neverempty.frames import traces_frame

        rows = self.finished()
        stopped = [trace for trace in rows if trace.status == "budget_stopped"]
        if stopped:
            warnings.warn(
                f"{len(stopped)} of {len(rows)} traces were not run: {stopped[-1].terminal_reason}",
                stacklevel=3,
            )
        recorder = self._job.recorder
        if recorder is not None and rows and not (recorder.replies or self._resumes):
            warnings.warn(
                f"{self._settings.record}: nothing was recorded; the agent asks no model through "
                "tracer.model_call",
                stacklevel=3,
            )
        return traces_frame(rows)


def _digest_of(cases: Iterable[Case]) -> str:
    """Hash the cases in their order, so that a store tells other cases from its own."""
    digest = hashlib.sha256()
    for case in cases:
        try:
            text = case.model_dump_json()
        except ValueError:  # a lone surrogate
            text = dumps(case.model_dump())
        digest.update(text.encode("utf-8") + b"\n")
    return digest.hexdigest()


def _is_async(agent: Callable[..., Any]) -> bool:
    # an object is called by its class's method, which iscoroutinefunction does not look at
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(type(agent).__call__)


def _check_side_effects(agent: Callable[..., Any], stubs: Mapping[str, Callable[..., Any]]) -> None:
    """Refuse to start where a tool that the agent can reach has side effects and is not stubbed."""
    if not isinstance(stubs, Mapping):
        raise UsageError(f"stubs is {type(stubs).__name__}; give a mapping of tool names to functions")
    for name, stub in stubs.items():
        if not callable(stub):
            raise UsageError(f"the stub of tool {name!r} is {type(stub).__name__}, which cannot be called")
    open_names = [
        tool.name for tool in tools_of(agent) if tool.options.side_effect and tool.name not in stubs
    ]
    if open_names:
        raise UsageError(
            f"{', '.join(map(repr, open_names))} would really take effect; give "
            f"stubs={{{open_names[0]!r}: function}} for each such tool"
        )
