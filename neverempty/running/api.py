"""`run` and `arun`: cases in, the traces frame out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from neverempty.cases import Case
from neverempty.faults.spec import Arm
from neverempty.running.loops import run_in_thread
from neverempty.running.session import PathLike, Session, Settings
from neverempty.traces.model import Trace

if TYPE_CHECKING:
    import pandas as pd

_TICK = 0.2


class RunInterrupted(KeyboardInterrupt):
    """A run was stopped by Ctrl-C; what had finished is kept.

    Parameters
    ----------
    rows : list of Trace
        What had finished.
    """

    def __init__(self, rows: list[Trace]) -> None:
        super().__init__(f"the run was interrupted; {len(rows)} finished traces are in .traces")
        self._rows = rows

    @property
    def traces(self) -> pd.DataFrame:
        """The traces frame of what had finished.

        Returns
        -------
        DataFrame
            As `run` returns it, with fewer rows.
        """
        from neverempty.frames import traces_frame

        return traces_frame(self._rows)


class RunOptions(TypedDict, total=False):
    """The keyword arguments of `run` and `arun`.

    Parameters
    ----------
    arms : iterable of str or Arm, optional
        Names of presentations, or arms of your own; ``"typed"`` alone by default.
    repeats : int, default 1
        How often each case runs under each arm.
    concurrency : int, default 8
        How many agents run at once.
    timeout : float, optional
        Seconds per repeat; beyond them the row is ``agent_timeout``. An asynchronous agent that blocks its
        event loop cannot be stopped.
    seed : int, default 0
        All randomness of a repeat derives from seed, suite, case, arm and repeat.
    budget_usd, budget_tokens : float, int, optional
        Limits over the whole run. What is left when one is reached becomes rows ``budget_stopped``; model
        calls that are under way end. Without a known price there is no budget in US dollars: the run stops
        and says so.
    progress : bool, optional
        A bar with the cost so far; by default in terminals and notebooks only.
    store : path-like, optional
        A JSONL file that gets each trace as it finishes. A run with the same store, cases, arms, repeats and
        seed runs only what is missing, after a crash as after a reached budget.
    record, replay : path-like, optional
        A file of model replies to write, or to answer from. A replay makes no live model call: a request
        that is not in the file ends the repeat as ``replay_miss``. Only at temperature 0 a repeat that was
        not recorded is answered from another one, which the column ``repeat_of`` then names.
    stubs : mapping of str to callable, optional
        By tool name, what runs in place of the tool's own function.
    contract : path-like, optional
        A file that pins the schemas of the tools that can be found on the agent. A run refuses to start where
        they have drifted from it.
    repin : bool, default False
        Write the contract anew instead.
    """

    arms: Iterable[str | Arm] | str | Arm | None
    repeats: int
    concurrency: int
    timeout: float | None
    seed: int
    budget_usd: float | None
    budget_tokens: int | None
    progress: bool | None
    store: PathLike | None
    record: PathLike | None
    replay: PathLike | None
    stubs: Mapping[str, Callable[..., Any]] | None
    contract: PathLike | None
    repin: bool


def _with_options(function: Callable[..., Any]) -> None:
    """Show the options with their defaults in the signature, where notebooks and editors look for them."""
    own = inspect.signature(function)
    fixed = [kind for kind in own.parameters.values() if kind.kind is not inspect.Parameter.VAR_KEYWORD]
    options = inspect.signature(Settings).parameters.values()
    function.__signature__ = own.replace(parameters=[*fixed, *options])  # type: ignore[attr-defined]


def run(agent: Callable[..., Any], cases: Iterable[Case], **options: Unpack[RunOptions]) -> pd.DataFrame:
    """Run an agent over cases and return the traces frame.

    Works in a script and in a notebook cell: the agent runs in an event loop of its own, in a thread.
    Whatever it does (raise, hang, ``sys.exit``, cancel itself, return nothing) becomes a row with a status.

    Parameters
    ----------
    agent : callable
        ``agent(case, tracer)``, synchronous (run in daemon threads) or asynchronous, returns the answer as a
        text, an `AgentReply`, a dict with its keys, or None.
    cases : iterable of Case
        Each (suite, id) once.
    **options
        The keyword arguments in `RunOptions`: arms, repeats, concurrency, timeout, seed, budget_usd,
        budget_tokens, progress, store, record, replay, stubs, contract, repin.

    Returns
    -------
    DataFrame
        One row per case, arm and repeat, in that order whatever finished first; columns as in
        ``SCHEMAS["traces"]``.

    Raises
    ------
    UsageError
        Before any call, where an argument makes no sense, or a tool with side effects is not stubbed.
    InputError
        Where the store or the recording cannot be used.
    RunInterrupted
        On Ctrl-C: no further call is started, and ``.traces`` holds what had finished.

    Examples
    --------
    >>> from neverempty.cases import Case
    >>> case = Case(id="a", input={"messages": [{"role": "user", "content": "Any jobs?"}]})
    >>> traces = run(lambda case, tracer: "None.", [case], repeats=2)
    >>> traces[["case_id", "arm", "repeat", "status", "answer"]].values.tolist()
    [['a', 'typed', 0, 'ok', 'None.'], ['a', 'typed', 1, 'ok', 'None.']]
    """
    session = Session(agent, cases, Settings(**options), own_loop=True)
    with session:
        try:
            run_in_thread(session.runner, session.tick)
        except KeyboardInterrupt as error:
            raise RunInterrupted(session.finished()) from error
        finally:
            session.tick()
    return session.frame()


async def arun(
    agent: Callable[..., Any], cases: Iterable[Case], **options: Unpack[RunOptions]
) -> pd.DataFrame:
    """Run an agent over cases in the caller's event loop; the asynchronous twin of `run`.

    Parameters
    ----------
    agent, cases, **options
        As in `run`.

    Returns
    -------
    DataFrame
        As in `run`. A cancellation starts no further call and propagates; with a ``store``, what had finished
        is in it.

    Examples
    --------
    >>> import asyncio
    >>> from neverempty.cases import Case
    >>> async def agent(case, tracer):
    ...     return "Two jobs."
    >>> traces = asyncio.run(arun(agent, [Case(id="a", input={"payload": 1})]))
    >>> traces["answer"].tolist()
    ['Two jobs.']
    """
    session = Session(agent, cases, Settings(**options), own_loop=False)
    with session:
        ticker = asyncio.create_task(_tick(session)) if session.progress.shown else None
        try:
            await session.runner.main()
        finally:
            if ticker is not None:
                ticker.cancel()
            session.tick()
    return session.frame()


_with_options(run)
_with_options(arun)


async def _tick(session: Session) -> None:
    while True:
        session.tick()
        await asyncio.sleep(_TICK)
