"""Providers' clients through the seam of a run, and the tool calls of their replies."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from neverempty._errors import NeverEmptyError, UsageError
from neverempty._io import jsonable
from neverempty.faults.present import FlaggedText
from neverempty.integrations._shared import doubt
from neverempty.results import Err, to_json
from neverempty.tools.tool import Tool
from neverempty.traces.active import owning_tracer
from neverempty.traces.seam import ModelReply
from neverempty.traces.tracer import Tracer

_WHOLE: Final = "response"
_EVENTS: Final = "events"
# How a request is sent, not what is asked.
_TRANSPORT: Final = ("extra_headers", "extra_query", "timeout", "stream_options")
_RAW: Final = "x-stainless-raw-response"


@dataclass(frozen=True)
class Endpoint:
    """How one method of a client is read.

    Parameters
    ----------
    request : callable
        ``request(arguments, so_far)`` gives the conversation in the chat-completions shape and what is left
        of the arguments but the tools; `so_far` is the conversation of the trace.
    reply : callable
        Reads a whole response, as a dict, into a `ModelReply`.
    rebuild : callable
        Makes the client's own response of such a dict.
    joined : callable
        Makes a whole response of the events of a stream, all as dicts.
    event : callable
        Makes the client's own event of such a dict.
    """

    request: Callable[[dict[str, Any], list[dict[str, Any]]], tuple[list[dict[str, Any]], dict[str, Any]]]
    reply: Callable[[Mapping[str, Any]], ModelReply]
    rebuild: Callable[[Mapping[str, Any]], Any]
    joined: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
    event: Callable[[Mapping[str, Any]], Any]


class _Exchange:
    """One call of a wrapped method: what was asked, what the client gave, what is handed back."""

    def __init__(self, endpoint: Endpoint, arguments: dict[str, Any], tracer: Tracer) -> None:
        given = {key: value for key, value in arguments.items() if _is_given(value)}
        if _RAW in {str(key).lower() for key in given.get("extra_headers") or ()}:
            raise _bypass(tracer, "with_raw_response", "create() itself")
        asked = {key: jsonable(value) for key, value in given.items() if key not in _TRANSPORT}
        self.endpoint = endpoint
        self.streamed = bool(asked.pop("stream", False))
        self.tools = asked.pop("tools", None)
        self.messages, self.params = endpoint.request(asked, tracer.messages)
        self._live: Any = None

    def heard(self, response: Any) -> ModelReply:
        """Take a whole response from the client."""
        self._live = response
        return self._read(_dump(response), {})

    def streamed_to_end(self, events: list[Any]) -> ModelReply:
        """Take all events of a stream from the client."""
        self._live = events
        dumped = [_dump(event) for event in events]
        return self._read(self.endpoint.joined(dumped), {_EVENTS: dumped})

    def _read(self, whole: Mapping[str, Any], more: dict[str, Any]) -> ModelReply:
        reply: Any = {**self.endpoint.reply(whole), _WHOLE: whole, **more}
        return reply  # type: ignore[no-any-return]  # a reply with two keys more

    def returned(self, reply: ModelReply) -> Any:
        """Give the agent what its client would have given."""
        recorded: Any = reply
        if self.streamed:
            events = self._live
            if events is None:
                events = [self.endpoint.event(event) for event in recorded.get(_EVENTS) or ()]
            return Played(events)
        return self._live if self._live is not None else self.endpoint.rebuild(recorded[_WHOLE])


class Played:
    """A stream that has ended already, read like one that has not.

    Parameters
    ----------
    events : list
        Its events.
    """

    def __init__(self, events: list[Any]) -> None:
        self._events = iter(events)

    def __iter__(self) -> Iterator[Any]:
        return self._events

    def __next__(self) -> Any:
        return next(self._events)

    def __enter__(self) -> Played:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in self._events:
            yield event

    async def __aenter__(self) -> Played:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        return None


def through_seam(create: Callable[..., Any], endpoint: Endpoint) -> Callable[..., Any]:
    """Send a client's method through the tracer that its calls belong to.

    Parameters
    ----------
    create : callable
        The method, synchronous or not. Outside of a run it is as ever.
    endpoint : Endpoint
        How to read it.

    Returns
    -------
    callable
        In its place. A stream is read to its end before its first event is handed on.
    """

    @functools.wraps(create)
    def asked(**arguments: Any) -> Any:
        tracer = owning_tracer("the model")
        if tracer is None:
            return create(**arguments)
        exchange = _Exchange(endpoint, arguments, tracer)

        def call(*_: Any) -> ModelReply:
            response = create(**arguments)
            return exchange.streamed_to_end(list(response)) if exchange.streamed else exchange.heard(response)

        reply = tracer.model_call_sync(exchange.messages, exchange.tools, exchange.params, call=call)
        return exchange.returned(reply)

    @functools.wraps(create)
    async def asked_async(**arguments: Any) -> Any:
        tracer = owning_tracer("the model")
        if tracer is None:
            return await create(**arguments)
        exchange = _Exchange(endpoint, arguments, tracer)

        async def call(*_: Any) -> ModelReply:
            response = await create(**arguments)
            if exchange.streamed:
                return exchange.streamed_to_end([event async for event in response])
            return exchange.heard(response)

        reply = await tracer.model_call(exchange.messages, exchange.tools, exchange.params, call=call)
        return exchange.returned(reply)

    return asked_async if inspect.iscoroutinefunction(inspect.unwrap(create)) else asked


def refused_in_runs(method: Callable[..., Any], instead: str) -> Callable[..., Any]:
    """Refuse, inside of a run, a method that would bypass the run's seam.

    Parameters
    ----------
    method : callable
        The method; outside of a run it is as ever.
    instead : str
        What to call instead.

    Returns
    -------
    callable
        In its place.
    """

    @functools.wraps(method)
    def refused(*args: Any, **kwargs: Any) -> Any:
        tracer = owning_tracer("the model")
        if tracer is None:
            return method(*args, **kwargs)
        raise _bypass(tracer, f"{method.__name__}()", instead)

    return refused


def _bypass(tracer: Tracer, what: str, instead: str) -> UsageError:
    reason = f"{what} would bypass the seam of the run; call {instead} instead"
    tracer.poison(reason)
    return UsageError(reason)


def _dump(response: Any) -> dict[str, Any]:
    found = response.model_dump(mode="json") if hasattr(response, "model_dump") else response
    plain: dict[str, Any] = jsonable(found)
    return plain


def _is_given(value: Any) -> bool:
    return type(value).__name__ not in ("NotGiven", "Omit")


# --------------------------------------------------------------------------------------------- tool calls


@dataclass(frozen=True, slots=True)
class ToolText:
    """How a tool call ended, as it is told to the model.

    Parameters
    ----------
    text : str
        The text.
    is_error : bool
        Whether the tool said that it failed: by an `Err`, an exception, or a flag.
    """

    text: str
    is_error: bool


def by_name(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Index tools by their names.

    Parameters
    ----------
    tools : sequence of Tool
        The tools.

    Returns
    -------
    dict
        By name.

    Raises
    ------
    UsageError
        For what is no tool of this package.
    """
    for item in tools:
        if not isinstance(item, Tool):
            raise UsageError(f"{item!r:.80} is no tool; make it one with neverempty.tool or neverempty.wrap")
    return {item.name: item for item in tools}


def call_tool(tools: Mapping[str, Tool], name: str, arguments: Any, call_id: str) -> ToolText:
    """Make a tool call that a model asks for.

    Parameters
    ----------
    tools : mapping of str to Tool
        By name.
    name, arguments, call_id
        As the model wrote them.

    Returns
    -------
    ToolText
        What to tell the model; also where there is no such tool, or the tool raised.

    Raises
    ------
    UsageError
        For an asynchronous tool, which `acall_tool` calls.
    """
    tool = tools.get(name)
    if tool is None:
        return _unknown(tools, name, arguments, call_id)
    if tool.is_async:
        raise UsageError(f"tool {name!r} is asynchronous; await atool_results(...) instead")
    try:
        return _told(tool.invoke(arguments or {}, call_id=call_id), call_id)
    except NeverEmptyError:
        raise
    except Exception as error:
        return _raised(name, error)


async def acall_tool(tools: Mapping[str, Tool], name: str, arguments: Any, call_id: str) -> ToolText:
    """Make a tool call from asynchronous code; see `call_tool`.

    Parameters
    ----------
    tools, name, arguments, call_id
        As in `call_tool`; tools of both kinds.

    Returns
    -------
    ToolText
        What to tell the model.
    """
    tool = tools.get(name)
    if tool is None or not tool.is_async:
        return call_tool(tools, name, arguments, call_id)
    try:
        return _told(await tool.invoke(arguments or {}, call_id=call_id), call_id)
    except NeverEmptyError:
        raise
    except Exception as error:
        return _raised(name, error)


def _told(result: Any, call_id: str) -> ToolText:
    doubt(call_id, result)
    if isinstance(result, FlaggedText):
        return ToolText(str.__str__(result), True)
    if hasattr(result, "to_model"):
        return ToolText(str(result.to_model()), isinstance(result, Err))
    return ToolText(result if isinstance(result, str) else to_json(result), False)


def _raised(name: str, error: Exception) -> ToolText:
    return ToolText(f"Error executing tool {name}: {type(error).__name__}: {error}", True)


def _unknown(tools: Mapping[str, Tool], name: str, arguments: Any, call_id: str) -> ToolText:
    known = ", ".join(sorted(tools)) or "none"
    text = Err("validation", f"there is no tool {name!r}; the tools are: {known}").to_model()
    tracer = owning_tracer(f"tool {name!r}")
    if tracer is not None:
        call = tracer.begin(name, {"arguments": jsonable(arguments)}, call_id)
        tracer.finish(call, "error", text, "validation", 0.0)
    return ToolText(text, True)
