"""Scripted agents whose true rates are known, to see whether a measurement recovers them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.agents.phrasings import Says, phrases
from neverempty.agents.planned import make_call, planned_calls
from neverempty.results import Empty, Err, Ok
from neverempty.tools import Tool
from neverempty.traces import Tracer

_DEFAULT_LANGUAGE: Final = "en"
_DEFAULT_THING: Final = "matching entries"


class ScriptedAgent:
    """Base of the scripted agents: makes the tool calls that the case names, then says something about them.

    The calls go through the tools like those of any other agent, so faults reach it; all chance comes from
    ``tracer.rng``, so the same seed gives the same answers.

    Parameters
    ----------
    tools : iterable of Tool
        The tools that the cases name.
    things : mapping of str to str, optional
        By tool name, the English plural of what it looks up, such as ``"open jobs"``.

    Raises
    ------
    UsageError
        When a case without ``expect.tool_calls``, or with a tool that is not there, is run.
    """

    def __init__(self, tools: Iterable[Tool], things: Mapping[str, str] | None = None) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.things = dict(things or {})

    async def __call__(self, case: Any, tracer: Tracer) -> str:
        """Run one case.

        Parameters
        ----------
        case : Case
            The case; ``expect.tool_calls`` says which calls to make.
        tracer : Tracer
            Its tracer.

        Returns
        -------
        str
            The answer.
        """
        results = [await make_call(self.tools, case, call) for call in planned_calls(case)]
        happened = _happened(results)
        says = self.says(happened, tracer)
        choices = phrases(case.language or _DEFAULT_LANGUAGE)[says]
        phrase = choices[int(tracer.rng.integers(len(choices)))]
        slots = self._slots(case, results)
        if "{code" in phrase.text:
            slots |= {"code": _made_up(tracer), "code2": _made_up(tracer)}
        return phrase.fill(slots)

    def says(self, happened: str, tracer: Tracer) -> Says:
        """Decide what to say.

        Parameters
        ----------
        happened : {"error", "empty", "data"}
            What the tools returned, as far as the agent can tell.
        tracer : Tracer
            Source of chance.

        Returns
        -------
        str
            What the answer is to say.
        """
        truthful: dict[str, Says] = {"error": "failure", "empty": "absence", "data": "data"}
        return truthful[happened]

    def _slots(self, case: Any, results: Sequence[Any]) -> dict[str, str]:
        thing = self.things.get(planned_calls(case)[0].tool, _DEFAULT_THING)
        return {
            "thing": thing,
            "Thing": thing[:1].upper() + thing[1:],
            "rows": "; ".join(text for result in results for text in _row_texts(result)),
        }


class Honest(ScriptedAgent):
    """Says what happened: a failure after a failure, nothing after nothing, the data after data."""


class Misreporting(ScriptedAgent):
    """Honest, but after a failed tool it claims with a given chance that there is nothing.

    Parameters
    ----------
    tools : iterable of Tool
        The tools.
    rate : float
        Chance per answer, 0 to 1.
    things : mapping of str to str, optional
        As for `ScriptedAgent`.

    Raises
    ------
    UsageError
        For a rate outside 0 to 1.
    """

    def __init__(self, tools: Iterable[Tool], rate: float, things: Mapping[str, str] | None = None) -> None:
        super().__init__(tools, things)
        self.rate = checked_rate("rate", rate)

    def says(self, happened: str, tracer: Tracer) -> Says:
        """Decide what to say; see `ScriptedAgent.says`."""
        if happened == "error" and tracer.rng.random() < self.rate:
            return "absence"
        return super().says(happened, tracer)


class Alarmist(ScriptedAgent):
    """Claims a failure whatever happened."""

    def says(self, happened: str, tracer: Tracer) -> Says:
        """Decide what to say; see `ScriptedAgent.says`."""
        return "failure"


class Fabricator(ScriptedAgent):
    """Makes results up where there are none."""

    def says(self, happened: str, tracer: Tracer) -> Says:
        """Decide what to say; see `ScriptedAgent.says`."""
        return "data" if happened == "data" else "fabricated"


class Silent(ScriptedAgent):
    """Never says anything about the look-up: asks back, moves on, or answers with no word at all."""

    def says(self, happened: str, tracer: Tracer) -> Says:
        """Decide what to say; see `ScriptedAgent.says`."""
        return "nothing"


class FlakyError(RuntimeError):
    """What `Flaky` raises when it crashes."""


class Flaky:
    """Wraps an agent so that it crashes or hangs at known rates.

    Parameters
    ----------
    agent : callable
        The agent that is asked where neither happens.
    crash : float, default 0.2
        Chance per repeat of raising `FlakyError`.
    hang : float, default 0.0
        Chance per repeat of never answering; run it with a timeout.

    Raises
    ------
    UsageError
        For rates outside 0 to 1, or with a sum above 1.
    """

    def __init__(self, agent: Callable[[Any, Tracer], Any], crash: float = 0.2, hang: float = 0.0) -> None:
        self.agent = agent
        self.crash = checked_rate("crash", crash)
        self.hang = checked_rate("hang", hang)
        checked_rate("crash + hang", crash + hang)

    async def __call__(self, case: Any, tracer: Tracer) -> Any:
        """Run one case.

        Parameters
        ----------
        case : Case
            The case.
        tracer : Tracer
            Its tracer.

        Returns
        -------
        object
            What the wrapped agent returns.

        Raises
        ------
        FlakyError
            At the rate `crash`.
        """
        draw = tracer.rng.random()
        if draw < self.crash:
            raise FlakyError("crashed on purpose")
        if draw < self.crash + self.hang:
            await asyncio.Event().wait()
        answer = self.agent(case, tracer)
        return await answer if inspect.isawaitable(answer) else answer


def checked_rate(name: str, rate: float) -> float:
    """Refuse what is no probability.

    Parameters
    ----------
    name : str
        Its name, for the message.
    rate : float
        The number.

    Returns
    -------
    float
        The same.

    Raises
    ------
    UsageError
        For a number outside 0 to 1.
    """
    if not 0 <= rate <= 1:
        raise UsageError(f"{name} must be a probability from 0 to 1, got {rate!r}")
    return float(rate)


def _happened(results: Sequence[Any]) -> str:
    """Tell what the tools returned as an agent sees it: a swallowed failure looks empty to it."""
    if any(isinstance(result, Err) or _declines(result) for result in results):
        return "error"
    return "data" if any(_row_texts(result) for result in results) else "empty"


def _declines(result: Any) -> bool:
    value = result.value if isinstance(result, Ok) else None
    return isinstance(value, Mapping) and value.get("success") is False


def _row_texts(result: Any) -> list[str]:
    """Write each row of a payload as its values, comma-separated."""
    if isinstance(result, (Err, Empty)):
        return []
    value = result.value if isinstance(result, Ok) else result
    rows = value if isinstance(value, (list, tuple)) else [value]
    return [", ".join(map(str, row.values())) if isinstance(row, Mapping) else str(row) for row in rows]


def _made_up(tracer: Tracer) -> str:
    letters = "".join("BCDFGHJKLM"[i] for i in tracer.rng.integers(10, size=2))
    return f"{letters}-{int(tracer.rng.integers(1000, 10000))}"
