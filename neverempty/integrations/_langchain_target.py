"""A chain or a compiled graph as an agent that can be measured."""

from __future__ import annotations

import contextlib
import inspect
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.integrations._langchain_calls import call_tracer
from neverempty.integrations._langchain_messages import chat_messages
from neverempty.integrations._langchain_models import models_through_seam
from neverempty.integrations._langchain_search import tools_within
from neverempty.integrations._langchain_tools import Watch, own_layer, watch_of, watched
from neverempty.integrations._shared import library
from neverempty.traces.seam import AgentReply, text_of
from neverempty.traces.tracer import Tracer

Declared = Mapping[str, Mapping[str, Any]]


class Watching:
    """The tools of a chain or graph, ready to be watched.

    Parameters
    ----------
    things : iterable of object
        Where tools are looked for.
    declared : mapping of str to mapping
        By tool name, options of `neverempty.wrap`.

    Attributes
    ----------
    layers : dict of str to Tool
        By name, the layers at which faults are put in.

    Raises
    ------
    UsageError
        For a declaration of a tool that is not there, or that declares itself.
    """

    def __init__(self, things: Iterable[Any], declared: Declared | None = None) -> None:
        declared = declared or {}
        found, own = tools_within(*things)
        self.layers = {layer.name: layer for layer in own}
        self._watches: list[Watch] = []
        for tool in found:
            watch = watch_of(tool) or Watch(tool, declared.get(tool.name, {}))
            self._watches.append(watch)
            self.layers[tool.name] = own_layer(tool) or watch.layer
        declaring = {layer.name for layer in own} | {tool.name for tool in found if watch_of(tool)}
        twice = sorted(declaring & declared.keys())
        if twice:
            raise UsageError(
                f"the tool {twice[0]!r} was made or wrapped with neverempty; say there what its values mean"
            )
        unknown = [name for name in declared if name not in self.layers]
        if unknown:
            raise UsageError(
                f"declared names the tool {unknown[0]!r}, which was not found"
                f"{did_you_mean(unknown[0], list(self.layers))}; give tools=[...] where the graph hides it"
            )

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Watch the tools, and send chat models through the seam, for the time of a block."""
        with models_through_seam(), watched([watch for watch in self._watches if not own_layer(watch.tool)]):
            yield


class Target:
    """An agent made of a runnable: called with a case and a tracer.

    Parameters
    ----------
    runnable : Runnable
        Chain or compiled graph.
    watching : Watching
        Its tools.
    inputs : callable
        ``inputs(case, tracer)`` makes what it is invoked with.
    answer : callable
        ``answer(output)`` reads a text or an `AgentReply` from what comes out.
    config : mapping or callable
        Its config, or ``config(case, tracer)`` to make one.
    """

    def __init__(
        self,
        runnable: Any,
        watching: Watching,
        inputs: Callable[[Any, Tracer], Any],
        answer: Callable[[Any], Any],
        config: Mapping[str, Any] | Callable[[Any, Tracer], Mapping[str, Any]],
    ) -> None:
        self.runnable = runnable
        self.layers = watching.layers
        self._watching = watching
        self._inputs = inputs
        self._answer = answer
        self._config = config

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
            The answer; messages from the model calls, or from the output where there was none.

        Raises
        ------
        UsageError
            Where a fault names a tool that was not found, or an arm a model that nobody hands on.
        """
        self._check(case, tracer)
        config = self._config_of(case, tracer)
        with self._watching.on():
            output = await self.runnable.ainvoke(self._inputs(case, tracer), config)
        reply = self._answer(output)
        reply = await reply if inspect.isawaitable(reply) else reply
        if not isinstance(reply, AgentReply):
            reply = AgentReply(reply)
        said = output.get("messages") if isinstance(output, Mapping) else None
        if reply.messages is None and tracer.model_calls == 0 and said:
            reply.messages = chat_messages(said)
        return reply

    def _config_of(self, case: Any, tracer: Tracer) -> dict[str, Any]:
        """Add the callback, and a thread of its own: with a checkpointer a graph goes on."""
        thread = {"thread_id": uuid.uuid4().hex}
        if callable(self._config):
            made = self._config(case, tracer)
            configurable = {**thread, **(made.get("configurable") or {})}
        else:
            made = self._config
            configurable = {**(made.get("configurable") or {}), **thread}
        merge = library("langchain_core.runnables.config", "langchain").merge_configs
        merged: dict[str, Any] = merge(made, {"callbacks": [call_tracer()]})
        return {**merged, "configurable": configurable}

    def _check(self, case: Any, tracer: Tracer) -> None:
        reason = None
        for fault in () if tracer.plan is None else tracer.plan.faults:
            if fault.kind != "none" and fault.tool not in self.layers:
                reason = (
                    f"case {case.id!r} makes the tool {fault.tool!r} fail, which was not found in what is "
                    f"measured; found: {', '.join(sorted(self.layers)) or 'none'}; give tools=[...] where it "
                    "is hidden"
                )
        if tracer.arm.model is not None and not callable(self._config):
            reason = (
                f"arm {tracer.arm.name!r} names a model, but this graph has its own; give "
                "config=lambda case, tracer: ... that hands tracer.arm.model on"
            )
        if reason is not None:
            tracer.poison(reason)
            raise UsageError(reason)


def conversation(case: Any, tracer: Tracer) -> list[dict[str, Any]]:
    """Return a case's messages, with the arm's prompt as a system message where it has one.

    Parameters
    ----------
    case : Case
        The case.
    tracer : Tracer
        Its tracer.

    Returns
    -------
    list of dict
        In the chat-completions shape, which LangChain reads.
    """
    said = [dict(message) for message in case.messages] or [{"role": "user", "content": case.prompt}]
    prompt = tracer.arm.prompt
    return said if prompt is None else [{"role": "system", "content": prompt}, *said]


def last_answer(output: Any) -> Any:
    """Read the answer from what a chain or graph returns.

    Parameters
    ----------
    output : dict, list, message or str
        A state with ``messages``, a chain's ``output``, messages, or a text.

    Returns
    -------
    AgentReply
        The text of the last message, where the model said it.

    Raises
    ------
    UsageError
        For any other output; says how to read it.
    """
    if isinstance(output, str):
        return AgentReply(output)
    structured = output.get("structured_response") if isinstance(output, Mapping) else None
    if isinstance(output, Mapping):
        if "messages" not in output and isinstance(output.get("output"), str):
            return AgentReply(output["output"])
        stopped = "interrupted: the graph waits for a person" if output.get("__interrupt__") else None
        last = (list(output.get("messages") or ()) or [None])[-1]
    else:
        stopped, last = None, output[-1] if isinstance(output, list) and output else output
    if last is None or not hasattr(last, "content"):
        raise UsageError(
            f"no answer can be read from a {type(output).__name__}; give answer=lambda output: ... that "
            "returns the text for the user"
        )
    if last.type not in ("ai", "AIMessageChunk"):
        return AgentReply(None, structured=structured, terminal_reason=stopped or "ended after a tool call")
    if stopped is None and last.tool_calls:
        stopped = "ended with tool calls that nobody made"
    return AgentReply(text_of(last.content), structured=structured, terminal_reason=stopped)
