"""Providers' clients through the seam of a run: recorded, replayed, budgeted."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty._io import jsonable
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
        ``rebuild(whole, arguments)`` makes the client's own response of such a dict.
    joined : callable
        Makes a whole response of the events of a stream, all as dicts.
    event : callable
        Makes the client's own event of such a dict.
    """

    request: Callable[[dict[str, Any], list[dict[str, Any]]], tuple[list[dict[str, Any]], dict[str, Any]]]
    reply: Callable[[Mapping[str, Any]], ModelReply]
    rebuild: Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
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
        self._given = given
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

    def returned(self, reply: ModelReply, stream: Callable[[list[Any]], Any]) -> Any:
        """Give the agent what its client would have given."""
        recorded: Any = reply
        if self.streamed:
            events = self._live
            if events is None:
                events = [self.endpoint.event(event) for event in recorded.get(_EVENTS) or ()]
            return stream(events)
        return self._live if self._live is not None else self.endpoint.rebuild(recorded[_WHOLE], self._given)


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
        self.close()

    def close(self) -> None:
        """Do nothing: the connection is closed."""


class PlayedAsync:
    """A stream of an asynchronous client that has ended already; see `Played`.

    Parameters
    ----------
    events : list
        Its events.
    """

    def __init__(self, events: list[Any]) -> None:
        self._events = iter(events)

    def __aiter__(self) -> PlayedAsync:
        return self

    async def __anext__(self) -> Any:
        for event in self._events:
            return event
        raise StopAsyncIteration

    async def __aenter__(self) -> PlayedAsync:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Do nothing: the connection is closed."""


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
        return exchange.returned(reply, Played)

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
        return exchange.returned(reply, PlayedAsync)

    return asked_async if inspect.iscoroutinefunction(inspect.unwrap(create)) else asked


def copy_of(client: Any, wrap: Callable[[Any], Any]) -> Any:
    """Copy a client; copies of the copy, as by ``with_options``, are wrapped too.

    Parameters
    ----------
    client : object
        Of a library that has ``copy``.
    wrap : callable
        Wraps a client.

    Returns
    -------
    object
        The copy.
    """
    copied = client.copy()
    copied.copy = copied.with_options = lambda **options: wrap(client.copy(**options))
    return copied


def refuse(holder: Any, names: Sequence[str], instead: str) -> None:
    """Refuse, inside of a run, methods that would bypass the run's seam; outside they are as ever.

    Parameters
    ----------
    holder : object
        The part of a client that has them; those that it lacks are passed over.
    names : sequence of str
        The methods.
    instead : str
        What to call instead.
    """
    for name in names:
        if hasattr(holder, name):
            setattr(holder, name, _refused(getattr(holder, name), instead))


def _refused(method: Callable[..., Any], instead: str) -> Callable[..., Any]:
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
    found = response.model_dump(mode="json", warnings=False) if hasattr(response, "model_dump") else response
    plain: dict[str, Any] = jsonable(found)
    return plain


def _is_given(value: Any) -> bool:
    return type(value).__name__ not in ("NotGiven", "Omit")
