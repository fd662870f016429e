"""pydantic-ai: an agent as it is, its tools under faults without building it anew.

::

    import neverempty as ne
    from neverempty.integrations import pydantic_ai

    from my_agent import agent  # yours

    measured = pydantic_ai.target(agent, declared={"search_jobs": {"empty_when": lambda rows: rows == []}})
    report = ne.evaluate(measured, ne.load_cases("cases.jsonl"), arms=["typed", "swallowed"], repeats=3)
    print(report.to_markdown())
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.integrations._pydantic_ai_messages import history_of
from neverempty.integrations._pydantic_ai_watch import AgentWatch
from neverempty.integrations._shared import library
from neverempty.traces.seam import AgentReply, text_of
from neverempty.traces.tracer import Tracer

__all__ = ["target"]

Made = Mapping[str, Any] | Callable[[Any, Tracer], Mapping[str, Any]]


def target(
    agent: Any,
    *,
    declared: Mapping[str, Mapping[str, Any]] | None = None,
    options: Made | None = None,
    answer: Callable[[Any], Any] | None = None,
) -> Target:
    """Make an agent of pydantic-ai one that can be measured by `neverempty.run`.

    Its tools, those of its toolsets and servers among them, meet the faults while a case runs; the agent
    itself is not changed. ``raised`` is an exception, which pydantic-ai lets end the run, and the trace is an
    ``agent_error``, unless a hook of the agent handles it; ``flagged`` is a `ToolFailed`, which the model
    reads as a failed result. The others are returned values. The model's requests go through the run's seam:
    they can be recorded, replayed and budgeted, and streams are read to their end first. Other agents that a
    tool runs in turn are not watched.

    Parameters
    ----------
    agent : Agent
        The agent.
    declared : mapping of str to mapping, optional
        By tool name, options as in `neverempty.tool`, e.g. ``{"search": {"empty_when": lambda r: r == []}}``.
    options : mapping or callable, optional
        Arguments for the agent's ``run``, e.g. ``{"deps": ...}``, or ``options(case, tracer)`` to make them.
        By default the last message of the case is the prompt, the earlier ones are the history, the arm's
        prompt is added to the instructions, and the arm's model is the model.
    answer : callable, optional
        ``answer(result)`` reads the answer from the agent's result; by default its output, where that is a
        text.

    Returns
    -------
    Target
        Called with a case and a tracer.

    Raises
    ------
    UsageError
        For what is no agent of pydantic-ai; where pydantic-ai is not installed.

    Examples
    --------
    >>> from neverempty.integrations import pydantic_ai
    >>> def measure(agent, cases):
    ...     return ne.evaluate(pydantic_ai.target(agent), cases, arms=["typed", "swallowed"], repeats=3)
    """
    base = library("pydantic_ai.agent", "pydantic-ai").AbstractAgent
    if not isinstance(agent, base):
        raise UsageError(f"{type(agent).__name__} is no agent of pydantic-ai")
    return Target(agent, AgentWatch(agent, declared or {}), options or {}, answer or output_text)


class Target:
    """An agent of pydantic-ai: called with a case and a tracer.

    Parameters
    ----------
    agent : Agent
        The agent.
    watch : AgentWatch
        Its tools.
    options : mapping or callable
        Arguments for its ``run``.
    answer : callable
        Reads the answer.

    Attributes
    ----------
    layers : dict of str to Tool
        By name, the layers at which faults are put in.
    """

    def __init__(self, agent: Any, watch: AgentWatch, options: Made, answer: Callable[[Any], Any]) -> None:
        self.agent = agent
        self.layers = watch.layers
        self._watch = watch
        self._options = options
        self._answer = answer

    async def __call__(self, case: Any, tracer: Tracer) -> AgentReply:
        """Run one case.

        Parameters
        ----------
        case : Case
            The case.
        tracer : Tracer
            Its tracer.

        Returns
        -------
        AgentReply
            The answer.

        Raises
        ------
        UsageError
            Where a fault or a declaration names a tool that the agent does not have.
        """
        given = self._options(case, tracer) if callable(self._options) else self._options
        asked = {**_asked_by(case, tracer), **given}
        capabilities = [*(asked.pop("capabilities", None) or ()), self._watch.capability()]
        if asked.get("message_history"):
            # else a history stands in the place of the agent's own system prompt
            capabilities.insert(0, library("pydantic_ai.capabilities", "pydantic-ai").ReinjectSystemPrompt())
        result = await self.agent.run(**asked, capabilities=capabilities)
        self._check(case, tracer)
        reply = self._answer(result)
        reply = await reply if inspect.isawaitable(reply) else reply
        return reply if isinstance(reply, AgentReply) else AgentReply(reply)

    def _check(self, case: Any, tracer: Tracer) -> None:
        """Refuse names of tools that the agent did not have: after it ran, some are known only then."""
        faults = () if tracer.plan is None else tracer.plan.faults
        wanted = {fault.tool: f"case {case.id!r} makes" for fault in faults if fault.kind != "none"}
        wanted |= dict.fromkeys(self._watch.declared, "declared names")
        for name, who in wanted.items():
            if name not in self.layers:
                known = ", ".join(sorted(self.layers)) or "none"
                reason = (
                    f"{who} the tool {name!r}, which the agent does not have"
                    f"{did_you_mean(name, list(self.layers))}; it has: {known}"
                )
                tracer.poison(reason)
                raise UsageError(reason)


def _asked_by(case: Any, tracer: Tracer) -> dict[str, Any]:
    """Make the arguments of the agent's ``run`` from a case and its arm."""
    *earlier, last = case.messages or [{"role": "user", "content": case.prompt}]
    asked: dict[str, Any] = {"user_prompt": text_of(last.get("content"))}
    if last["role"] != "user":
        earlier, asked = [*earlier, last], {}
    if earlier:
        asked["message_history"] = history_of(earlier)
    if tracer.arm.prompt is not None:
        asked["instructions"] = tracer.arm.prompt
    if tracer.arm.model is not None:
        asked["model"] = tracer.arm.model
    return asked


def output_text(result: Any) -> AgentReply:
    """Read the answer from what an agent's ``run`` returns.

    Parameters
    ----------
    result : AgentRunResult
        The result.

    Returns
    -------
    AgentReply
        Its output; without an answer where tool calls wait for somebody.

    Raises
    ------
    UsageError
        For a structured output; says how to read it.
    """
    output = result.output
    if isinstance(output, str):
        return AgentReply(output)
    if isinstance(output, library("pydantic_ai.tools", "pydantic-ai").DeferredToolRequests):
        return AgentReply(None, terminal_reason="ended with tool calls that wait for somebody")
    raise UsageError(
        f"no answer can be read from a {type(output).__name__}; give answer=lambda result: ... that returns "
        "the text for the user"
    )
