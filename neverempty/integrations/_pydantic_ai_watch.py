"""What stands around an agent of pydantic-ai in a run: its tools' calls and its model's, as a capability."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty._io import jsonable
from neverempty.faults.present import FlaggedText
from neverempty.integrations._pydantic_ai_messages import chat_messages, reply_of, request_of, response_of
from neverempty.integrations._shared import (
    ForeignAsyncTool,
    PassedError,
    flagged_text,
    library,
    native_options,
)
from neverempty.tools.reading import safe_text
from neverempty.tools.tool import Tool
from neverempty.traces.active import owning_tracer
from neverempty.traces.seam import ModelReply

# The framework's own tools, by which a model asks for further tools.
_OF_THE_FRAMEWORK: Final = ("tool-search", "capability-load")


class AgentWatch:
    """The tools of an agent, ready to be watched.

    Parameters
    ----------
    agent : AbstractAgent
        The agent.
    declared : mapping of str to mapping
        By tool name, options of `neverempty.wrap`.

    Attributes
    ----------
    layers : dict of str to Tool
        By name, the layers at which faults are put in; those of tools that an agent only finds out about
        in a run are added there.
    declared : frozenset of str
        Names of tools that were declared.

    Raises
    ------
    UsageError
        For a declaration of a tool that declares itself, and for a tool with typed results.
    """

    def __init__(self, agent: Any, declared: Mapping[str, Mapping[str, Any]]) -> None:
        self.layers: dict[str, Tool] = {}
        self.declared = frozenset(declared)
        self._options = {name: native_options(name, options) for name, options in declared.items()}
        for tool in _own_tools(agent):
            self._layer(tool.tool_def, tool.function_schema)

    def _layer(self, definition: Any, schema: Any) -> Tool:
        """Return the layer of a tool, made on first sight; one made with this package is its own layer."""
        function = getattr(schema, "function", None)
        if isinstance(function, Tool):
            self.layers[function.name] = self._checked(function)
            return function
        name = definition.name
        if name not in self.layers:
            options = self._options.get(name) or native_options(name, {})
            made = ForeignAsyncTool(_asked, name, options, definition.description or "")
            vars(made)["schema"] = dict(definition.parameters_json_schema)
            self.layers[name] = made
        return self.layers[name]

    def _checked(self, tool: Tool) -> Tool:
        if tool.name in self.declared:
            raise UsageError(
                f"the tool {tool.name!r} was made with neverempty; say there what its values mean"
            )
        if not tool.options.native:
            raise UsageError(
                f"the tool {tool.name!r} returns Ok, Empty and Err, which pydantic-ai would write for the "
                "model in its own way; make it with returns='native'"
            )
        return tool

    def capability(self) -> Any:
        """Make the capability that an agent is run with.

        Returns
        -------
        AbstractCapability
            The last in the list stands closest to tools and model.
        """
        base = library("pydantic_ai.capabilities", "pydantic-ai").AbstractCapability
        methods = {
            "get_wrapper_toolset": lambda capability, toolset: self._toolset(toolset),
            "get_wrapper_model": lambda capability, model: _model(model),
            "on_tool_validate_error": _refused,
        }
        return type("Watching", (base,), methods)()

    def _toolset(self, toolset: Any) -> Any:
        watch = self

        async def get_tools(self: Any, ctx: Any) -> Any:
            tools = await self.wrapped.get_tools(ctx)
            for tool in tools.values():
                watch._layer_of(tool)
            return tools

        async def call_tool(self: Any, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            async def send() -> Any:
                return await self.wrapped.call_tool(name, tool_args, ctx, tool)

            layer = watch._layer_of(tool)
            return await (send() if layer is None else _called(layer, send, tool_args, ctx.tool_call_id))

        base = library("pydantic_ai.toolsets", "pydantic-ai").WrapperToolset
        # pydantic-ai copies toolsets by their fields, so what belongs to this agent stands in the class
        return type("WatchedToolset", (base,), {"get_tools": get_tools, "call_tool": call_tool})(toolset)

    def _layer_of(self, tool: Any) -> Tool | None:
        """Return the layer of a tool as a run has it; None for one of the framework's own."""
        if tool.tool_def.tool_kind in _OF_THE_FRAMEWORK:
            return None
        source = tool
        while hasattr(source, "source_tool"):
            source = source.source_tool
        # the method of a function's schema is how its toolset calls it, whatever the model calls it by
        schema = getattr(getattr(source, "call_func", None), "__self__", None)
        try:
            return self._layer(tool.tool_def, schema)
        except UsageError as error:
            tracer = owning_tracer(f"tool {tool.tool_def.name!r}")
            if tracer is not None:
                tracer.poison(str(error))
            raise


def _asked(**arguments: Any) -> None:
    """Stand for a tool whose arguments the framework has checked."""


def _own_tools(agent: Any) -> Iterator[Any]:
    """Find the tools that an agent was made with; what servers and functions offer is known in a run only."""
    for toolset in agent.toolsets:
        tools = getattr(toolset, "tools", None)
        yield from tools.values() if isinstance(tools, Mapping) else ()


async def _called(layer: Tool, send: Callable[[], Awaitable[Any]], asked: Any, call_id: str | None) -> Any:
    """Make a call through its layer, and bring its end into the form that pydantic-ai gives a tool's end."""
    if not isinstance(layer, ForeignAsyncTool):
        return _shown(await _named(layer, send, asked, call_id))
    if owning_tracer(layer.label) is None:
        return await send()
    wrapper = library("pydantic_ai.messages", "pydantic-ai").ToolReturn
    whole: Any = None
    inside: Any = None

    async def operate(**_: Any) -> Any:
        nonlocal whole, inside
        try:
            whole = await send()
        except _control_flow() as error:
            raise PassedError(error) from None
        inside = whole.return_value if isinstance(whole, wrapper) else whole
        return inside

    value = _shown(await layer.carry(operate, (), dict(asked), call_id))
    if not isinstance(whole, wrapper):
        return value
    return whole if value is inside else dataclasses.replace(whole, return_value=value)


def _shown(value: Any) -> Any:
    """Return a tool's value; a failure with a flag is raised as the exception that stands for the flag."""
    if isinstance(value, FlaggedText):
        raise library("pydantic_ai.exceptions", "pydantic-ai").ToolFailed(flagged_text(value))
    return value


def _control_flow() -> tuple[type[BaseException], ...]:
    errors = library("pydantic_ai.exceptions", "pydantic-ai")
    return errors.CallDeferred, errors.ApprovalRequired, errors.SkipToolExecution


async def _named(layer: Tool, send: Callable[[], Awaitable[Any]], asked: Any, call_id: str | None) -> Any:
    """Call a tool that was made with this package, and add the model's id to its record."""
    tracer = owning_tracer(layer.label)
    before = 0 if tracer is None else len(tracer.calls)
    try:
        return await send()
    finally:
        for call in () if tracer is None else tracer.calls[before:]:
            if call.tool == layer.name and call.call_id is None and call.args == jsonable(asked):
                call.call_id = call_id
                break


async def _refused(self: Any, ctx: Any, *, call: Any, tool_def: Any, args: Any, error: Exception) -> Any:
    """Write down a call that pydantic-ai refuses for its arguments, and let it be refused."""
    tracer = owning_tracer(f"tool {tool_def.name!r}")
    if tracer is not None:
        given = args if isinstance(args, Mapping) else {"input": args}
        record = tracer.begin(tool_def.name, jsonable(given), call.tool_call_id)
        tracer.finish(record, "error", None, "validation", 0.0, raised=safe_text(error))
    raise error


def _model(model: Any) -> Any:
    """Wrap a model so that its requests go through the tracer that they belong to."""

    async def request(self: Any, messages: Any, settings: Any, parameters: Any) -> Any:
        async def ask() -> Any:
            return await self.wrapped.request(messages, settings, parameters)

        return await _through_seam(self.wrapped, messages, settings, parameters, ask)

    @contextlib.asynccontextmanager
    async def request_stream(
        self: Any, messages: Any, settings: Any, parameters: Any, run_context: Any = None
    ) -> AsyncIterator[Any]:
        async def ask() -> Any:
            opened = self.wrapped.request_stream(messages, settings, parameters, run_context)
            async with opened as stream:
                async for _ in stream:
                    """Hear the stream to its end."""
                return stream.get()

        response = await _through_seam(self.wrapped, messages, settings, parameters, ask)
        ended = library("pydantic_ai.models", "pydantic-ai").CompletedStreamedResponse
        yield ended(response, model_request_parameters=parameters, replay_events=True)

    base = library("pydantic_ai.models.wrapper", "pydantic-ai").WrapperModel
    return type("SeamModel", (base,), {"request": request, "request_stream": request_stream})(model)


async def _through_seam(
    model: Any, messages: Any, settings: Any, parameters: Any, ask: Callable[[], Awaitable[Any]]
) -> Any:
    tracer = owning_tracer("the model")
    if tracer is None:
        return await ask()
    live: list[Any] = []

    async def call(*_: Any) -> ModelReply:
        live.append(await ask())
        return reply_of(live[0])

    asked = request_of(model, settings, parameters)
    reply = await tracer.model_call(chat_messages(messages), *asked, call=call)
    return live[0] if live else response_of(reply)
