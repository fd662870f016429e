"""LangChain's chat models through the seam of a run, wherever they are held."""

from __future__ import annotations

import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from neverempty._io import jsonable
from neverempty.integrations._langchain_messages import as_messages, chat_messages, message_of, reply_of
from neverempty.integrations._shared import library
from neverempty.traces.active import owning_tracer
from neverempty.traces.seam import ModelReply
from neverempty.traces.tracer import Tracer

_NAMES: Final = ("generate", "agenerate", "stream", "astream")
_LOCK: Final = threading.Lock()
INSIDE: Final[ContextVar[bool]] = ContextVar("neverempty_langchain_model", default=False)
"""Whether the code of this context runs inside of a model call that went through the seam already."""
_ORIGINALS: Final[dict[str, Any]] = {}
_users = 0


@contextmanager
def models_through_seam() -> Iterator[None]:
    """Send the calls of every chat model through the tracer that they belong to, for the time of a block.

    Calls outside of a run are as ever. Blocks may overlap; the last to end restores the methods.
    """
    _enter(library("langchain_core.language_models", "langchain").BaseChatModel)
    try:
        yield
    finally:
        _leave(library("langchain_core.language_models", "langchain").BaseChatModel)


def _enter(base: Any) -> None:
    global _users
    with _LOCK:
        _users += 1
        if _users == 1:
            for name, make in zip(_NAMES, (_generate, _agenerate, _stream, _astream), strict=True):
                _ORIGINALS[name] = getattr(base, name)
                setattr(base, name, functools.wraps(_ORIGINALS[name])(make(_ORIGINALS[name])))


def _leave(base: Any) -> None:
    global _users
    with _LOCK:
        _users -= 1
        if _users == 0:
            for name in _NAMES:
                setattr(base, name, _ORIGINALS.pop(name))


def _tracer() -> Tracer | None:
    """Return the tracer to ask; None inside a call that went through it already."""
    return None if INSIDE.get() else owning_tracer("the chat model")


def _asked(model: Any, stop: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read tools and params of a request: what of the model and the call can change its reply."""
    params = {key: value for key, value in options.items() if key != "tools"}
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    own = {"model": name, "temperature": getattr(model, "temperature", None), "stop": stop}
    params |= {key: value for key, value in own.items() if value is not None}
    return jsonable(options.get("tools")), jsonable(params)


def _generate(original: Callable[..., Any]) -> Callable[..., Any]:
    def generate(self: Any, messages: Any, stop: Any = None, callbacks: Any = None, **options: Any) -> Any:
        tracer = _tracer()
        if tracer is None:
            return original(self, messages, stop, callbacks, **options)
        results = []
        for prompt in messages:
            live: list[Any] = []

            def call(*_: Any, prompt: Any = prompt, live: list[Any] = live) -> ModelReply:
                with _inside():
                    live.append(original(self, [prompt], stop, callbacks, **options))
                return result_reply(live[0])

            reply = tracer.model_call_sync(
                chat_messages(prompt), *_asked(self, stop, _own(options)), call=call
            )
            results.append(live[0] if live else _result(reply))
        return _merged(results)

    return generate


def _agenerate(original: Callable[..., Any]) -> Callable[..., Any]:
    async def agenerate(
        self: Any, messages: Any, stop: Any = None, callbacks: Any = None, **options: Any
    ) -> Any:
        tracer = _tracer()
        if tracer is None:
            return await original(self, messages, stop, callbacks, **options)
        results = []
        for prompt in messages:
            live: list[Any] = []

            async def call(*_: Any, prompt: Any = prompt, live: list[Any] = live) -> ModelReply:
                with _inside():
                    live.append(await original(self, [prompt], stop, callbacks, **options))
                return result_reply(live[0])

            asked = _asked(self, stop, _own(options))
            reply = await tracer.model_call(chat_messages(prompt), *asked, call=call)
            results.append(live[0] if live else _result(reply))
        return _merged(results)

    return agenerate


def _stream(original: Callable[..., Any]) -> Callable[..., Any]:
    def stream(
        self: Any, input: Any, config: Any = None, *, stop: Any = None, **options: Any
    ) -> Iterator[Any]:
        tracer = _tracer()
        if tracer is None:
            yield from original(self, input, config, stop=stop, **options)
            return
        live: list[Any] = []

        def call(*_: Any) -> ModelReply:
            with _inside():
                live.extend(original(self, input, config, stop=stop, **options))
            return reply_of(functools.reduce(lambda whole, chunk: whole + chunk, live))

        prompt = chat_messages(as_messages(input))
        reply = tracer.model_call_sync(prompt, *_asked(self, stop, options), call=call)
        yield from live or [_chunk(reply)]

    return stream


def _astream(original: Callable[..., Any]) -> Callable[..., Any]:
    async def astream(
        self: Any, input: Any, config: Any = None, *, stop: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        tracer = _tracer()
        if tracer is None:
            async for chunk in original(self, input, config, stop=stop, **options):
                yield chunk
            return
        live: list[Any] = []

        async def call(*_: Any) -> ModelReply:
            with _inside():
                live.extend([chunk async for chunk in original(self, input, config, stop=stop, **options)])
            return reply_of(functools.reduce(lambda whole, chunk: whole + chunk, live))

        prompt = chat_messages(as_messages(input))
        reply = await tracer.model_call(prompt, *_asked(self, stop, options), call=call)
        for chunk in live or [_chunk(reply)]:
            yield chunk

    return astream


@contextmanager
def _inside() -> Iterator[None]:
    token = INSIDE.set(True)
    try:
        yield
    finally:
        INSIDE.reset(token)


def _own(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what only names or tags the call."""
    return {
        key: value for key, value in options.items() if key not in ("tags", "metadata", "run_name", "run_id")
    }


def result_reply(result: Any) -> ModelReply:
    """Read what a chat model's ``generate`` returns for one prompt.

    Parameters
    ----------
    result : LLMResult
        The result.

    Returns
    -------
    ModelReply
        Its first message, with the usage that the provider tells.
    """
    generation = result.generations[0][0]
    reply = reply_of(generation.message)
    told = result.llm_output or {}
    usage = told.get("token_usage") or {}
    reply["model"] = reply.get("model") or told.get("model_name")
    for ours, theirs in (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")):
        if reply.get(ours) is None:
            reply[ours] = usage.get(theirs)  # type: ignore[literal-required]  # one of the two names above
    return reply


def _result(reply: ModelReply) -> Any:
    outputs = library("langchain_core.outputs", "langchain")
    return outputs.LLMResult(generations=[[outputs.ChatGeneration(message=message_of(reply))]])


def _merged(results: Sequence[Any]) -> Any:
    """Join the results of the prompts of one batch, nearly always a single one."""
    if len(results) == 1:
        return results[0]
    outputs = library("langchain_core.outputs", "langchain")
    generations = [generation for result in results for generation in result.generations]
    return outputs.LLMResult(generations=generations)


def _chunk(reply: ModelReply) -> Any:
    message = message_of(reply)
    chunk = library("langchain_core.messages", "langchain").AIMessageChunk
    return chunk(content=message.content, tool_calls=message.tool_calls, id=message.id)
