"""What is to be run: every case under every arm, as often as asked, in the order of the frame."""

from __future__ import annotations

import inspect
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, get_args

from neverempty._errors import UsageError
from neverempty.cases import Case
from neverempty.faults.kinds import Presentation
from neverempty.faults.plan import FaultPlan
from neverempty.faults.spec import Arm, FaultSpec
from neverempty.running.recording import TraceKey, condition_of
from neverempty.traces.model import FaultState
from neverempty.traces.tracer import Tracer

FaultColumns = tuple[str, str | None, str | None, FaultState]
RANK: Final[Mapping[FaultState, int]] = {state: rank for rank, state in enumerate(get_args(FaultState))}


class Condition:
    """One case under one arm: all that its repeats have in common.

    Parameters
    ----------
    case : Case
        The case.
    arm : Arm
        The arm.
    """

    __slots__ = ("_hash", "_planned", "arm", "case")

    def __init__(self, case: Case, arm: Arm) -> None:
        self.case = case
        self.arm = arm
        self._hash: str | None = None
        self._planned: FaultColumns | None = None

    @property
    def hash(self) -> str:
        """What arm and faults add to the key of a recorded reply."""
        if self._hash is None:
            self._hash = condition_of(self.arm, self.case.faults)
        return self._hash

    def fault_columns(self, tracer: Tracer) -> FaultColumns:
        """Return what `Tracer.fault_columns` returns, worked out in full once only.

        Parameters
        ----------
        tracer : Tracer
            Of one of the repeats.

        Returns
        -------
        tuple of (str, str or None, str or None, str)
            Kind, presentation, layer and furthest state.
        """
        planned = self._planned
        if planned is None:
            planned = self._planned = _planned_columns(self.case.faults, self.arm.presentation)
        kind, presentation, layer, state = planned
        if state == "none":
            return planned
        for call in tracer.calls:
            if call.presentation != presentation and call.injected and call.presentation is not None:
                return tracer.fault_columns()  # shown in a way that was not planned, as from below the tool
            if RANK[call.state] > RANK[state]:
                state = call.state
        return kind, presentation, layer, state


_PLANNED: Final[dict[tuple[Any, ...], FaultColumns]] = {}


def _planned_columns(faults: Sequence[FaultSpec], presentation: Presentation) -> FaultColumns:
    """Return the columns of a trace whose tools were not called; many cases share a plan."""
    key = (presentation, *((fault.kind, fault.presentation, fault.below) for fault in faults))
    found = _PLANNED.get(key)
    if found is None:
        plan = FaultPlan(faults, presentation)
        found = _PLANNED[key] = Tracer(None, Arm.of(presentation), plan=plan).fault_columns()
    return found


class Unit(NamedTuple):
    """One repeat of one case under one arm, and its row in the frame."""

    row: int
    condition: Condition
    repeat: int

    @property
    def key(self) -> TraceKey:
        """Suite, case id, arm and repeat."""
        case = self.condition.case
        return (case.suite, case.id, self.condition.arm.name, self.repeat)


def units(cases: Sequence[Case], arms: Sequence[Arm], repeats: int) -> Iterator[Unit]:
    """Walk through all that is to be run.

    Parameters
    ----------
    cases, arms : sequence
        From `checked_cases` and `checked_arms`.
    repeats : int
        How often.

    Yields
    ------
    Unit
        By case, then arm, then repeat; made as they are asked for.
    """
    row = 0
    for case in cases:
        for arm in arms:
            condition = Condition(case, arm)
            for repeat in range(repeats):
                yield Unit(row, condition, repeat)
                row += 1


def checked_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Refuse what are no cases, or the same case twice.

    Parameters
    ----------
    cases : iterable of Case
        The cases.

    Returns
    -------
    tuple of Case
        The same.

    Raises
    ------
    UsageError
        Names what is wrong.
    """
    if isinstance(cases, (str, bytes)) or not isinstance(cases, Iterable):
        raise UsageError(f"cases is {type(cases).__name__}; load a file with load_cases(path) first")
    found = tuple(cases)
    for place, case in enumerate(found):
        if not isinstance(case, Case):
            raise UsageError(f"cases[{place}] is {type(case).__name__}, not a Case")
    twice = [key for key, count in Counter(case.key for case in found).items() if count > 1]
    if twice:
        suite, case_id = twice[0]
        raise UsageError(
            f"case {case_id!r} of suite {suite!r} stands more than once ({len(twice)} such ids); rename one"
        )
    return found


def checked_arms(arms: Iterable[str | Arm] | str | Arm | None) -> tuple[Arm, ...]:
    """Read the arms.

    Parameters
    ----------
    arms : iterable of str or Arm, optional
        Names of presentations or arms; ``typed`` alone where left out.

    Returns
    -------
    tuple of Arm
        At least one, each of another name.

    Raises
    ------
    UsageError
        For an unknown name, none at all, or the same name twice.
    """
    if arms is None:
        return (Arm.of("typed"),)
    several = not isinstance(arms, (str, Arm)) and isinstance(arms, Iterable)
    found = tuple(map(Arm.of, arms if several else [arms]))  # type: ignore[arg-type]
    if not found:
        raise UsageError("arms is empty; leave it out for the arm 'typed' alone")
    twice = [name for name, count in Counter(arm.name for arm in found).items() if count > 1]
    if twice:
        raise UsageError(f"the arm {twice[0]!r} is given more than once; each arm needs a name of its own")
    return found


def check_agent(agent: Callable[..., Any]) -> None:
    """Refuse what cannot be called with a case and a tracer.

    Parameters
    ----------
    agent : callable
        The agent.

    Raises
    ------
    UsageError
        Before anything is run.
    """
    if not callable(agent):
        raise UsageError(f"the agent is {type(agent).__name__}, which cannot be called")
    try:
        inspect.signature(agent).bind(None, None)
    except TypeError as error:
        raise UsageError(f"the agent must take (case, tracer): {error}") from None
    except ValueError:  # some builtins have no signature; the call itself will tell
        return


def check_numbers(**values: Any) -> None:
    """Refuse counts and limits that make no sense.

    Parameters
    ----------
    **values
        ``repeats``, ``concurrency`` (whole, from 1), ``seed`` (whole), ``timeout``, ``budget_usd``,
        ``budget_tokens`` (above 0, or None).

    Raises
    ------
    UsageError
        Names the argument and its value.
    """
    for name in ("repeats", "concurrency"):
        value = values[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name} is {value!r}; give a whole number from 1")
    seed = values["seed"]
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed is {seed!r}; give a whole number")
    for name in ("timeout", "budget_usd", "budget_tokens"):
        value = values[name]
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise UsageError(f"{name} is {value!r}; give a number above 0, or None for no limit")


def check_paths(**values: Any) -> None:
    """Refuse what cannot be the path of a file.

    Parameters
    ----------
    **values
        Arguments by name; None where there is none.

    Raises
    ------
    UsageError
        Names the argument and its value.
    """
    for name, value in values.items():
        if value is not None and not isinstance(value, (str, os.PathLike)):
            raise UsageError(f"{name} is {value!r}; give the path of a file")
