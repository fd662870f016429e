"""An agent out of a model, tools and a prompt: the ordinary tool-calling loop over any chat endpoint."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from neverempty._errors import NeverEmptyError, UsageError
from neverempty.results import Err, to_json
from neverempty.tools import Tool
from neverempty.traces import AgentReply, ModelReply, Tracer

_OWN_PARAMS: Final = frozenset({"wording"})


class EndpointError(NeverEmptyError, RuntimeError):
    """The endpoint's reply is not what the chat-completions interface promises."""


class OpenAIChatAgent:
    """Lets a chat model call tools until it answers.

    Model calls go through ``tracer.model_call``: they can be recorded and replayed, count towards the budget,
    and tell which tool results the model has read. Tool calls of one reply are made one after the other, in
    the order in which the model names them, so that a fault meets the same call in every run.

    Parameters
    ----------
    client : object
        With ``client.chat.completions.create(...)`` as in the package ``openai``, synchronous or not. No
        package is imported. A synchronous one is called in a thread.
    model : str
        Name of the model, unless the arm names one.
    tools : iterable of Tool
        What the model may call.
    system : str, optional
        System prompt, unless the arm has a prompt.
    max_turns : int, default 8
        Most model calls per repeat; then the repeat ends with ``terminal_reason="max_turns"``.
    params : dict, optional
        More arguments of the request, such as ``temperature``; the arm's ``params`` come on top.
    prompts : mapping of str to str, optional
        System prompts by name: an arm whose ``prompt`` is one of the names gets that text; any other prompt
        of an arm is the text itself.

    Raises
    ------
    UsageError
        For two tools of one name, or a `max_turns` below 1.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        tools: Iterable[Tool] = (),
        system: str | None = None,
        max_turns: int = 8,
        params: Mapping[str, Any] | None = None,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        self.client = client
        self.model = model
        self.tools = _by_name(tools)
        self.system = system
        if max_turns < 1:
            raise UsageError(f"max_turns must be at least 1, got {max_turns!r}")
        self.max_turns = max_turns
        self.params = dict(params or {})
        self.prompts = dict(prompts or {})

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
            The answer, and why the conversation ended.

        Raises
        ------
        EndpointError
            Where the endpoint's reply cannot be used.
        """
        messages = self._opening(case, tracer)
        params = self._params(tracer)
        offered = [_function(tool) for tool in self.tools.values()] or None
        reply: ModelReply = {}
        for turn in range(self.max_turns):
            reply = await tracer.model_call(messages, offered, params, call=self._request)
            wanted = reply.get("tool_calls") or []
            if not wanted:
                return AgentReply(reply.get("content"), terminal_reason=_ended(reply))
            named = [_with_id(call, f"call_{turn}_{at}") for at, call in enumerate(wanted)]
            said = {"role": "assistant", "content": reply.get("content"), "tool_calls": named}
            messages = [*messages, said]
            for call in named:
                text = await self._tool_text(call, tracer)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return AgentReply(reply.get("content"), terminal_reason="max_turns")

    def _opening(self, case: Any, tracer: Tracer) -> list[dict[str, Any]]:
        messages = case.messages or [{"role": "user", "content": case.prompt}]
        prompt = tracer.arm.prompt
        system = self.system if prompt is None else self.prompts.get(prompt, prompt)
        return messages if system is None else [{"role": "system", "content": system}, *messages]

    def _params(self, tracer: Tracer) -> dict[str, Any]:
        own = {key: value for key, value in tracer.arm.params.items() if key not in _OWN_PARAMS}
        return {"model": tracer.arm.model or self.model, **self.params, **own}

    async def _request(self, messages: Sequence[Any], tools: Any, params: Mapping[str, Any]) -> ModelReply:
        create = self.client.chat.completions.create
        arguments = {**params, "messages": list(messages), **({"tools": tools} if tools else {})}
        if inspect.iscoroutinefunction(inspect.unwrap(create)):
            return _read(await create(**arguments))
        response = await asyncio.to_thread(create, **arguments)
        return _read(await response if inspect.isawaitable(response) else response)

    async def _tool_text(self, call: Mapping[str, Any], tracer: Tracer) -> str:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        tool = self.tools.get(name)
        if tool is None:
            return _unknown_tool(name, arguments, call["id"], sorted(self.tools), tracer)
        try:
            if tool.is_async:
                result = await tool.invoke(arguments or "{}", call_id=call["id"])
            else:
                result = await asyncio.to_thread(tool.invoke, arguments or "{}", call_id=call["id"])
        except NeverEmptyError:
            raise
        except Exception as error:  # a tool with native returns lets its own exceptions through
            return f"Error executing tool {name}: {type(error).__name__}: {error}"
        if hasattr(result, "to_model"):
            return str(result.to_model())
        return result if isinstance(result, str) else to_json(result)


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in found:
            raise UsageError(f"two tools are called {tool.name!r}; give one of them another name")
        found[tool.name] = tool
    return found


def _function(tool: Tool) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": described}


def _unknown_tool(name: str, arguments: Any, call_id: str, known: list[str], tracer: Tracer) -> str:
    """Answer a call of a tool that does not exist, on record like any other failed call."""
    error = Err("validation", f"there is no tool {name!r}; the tools are: {', '.join(known) or 'none'}")
    text = error.to_model()
    call = tracer.begin(name, {"arguments": arguments}, call_id)
    tracer.finish(call, "error", text, "validation", 0.0)
    return text


def _with_id(call: Mapping[str, Any], fallback: str) -> dict[str, Any]:
    return {**call, "id": call.get("id") or fallback}


def _ended(reply: ModelReply) -> str:
    reason = reply.get("finish_reason")
    return "completed" if reason in (None, "stop", "tool_calls") else str(reason)


def _get(holder: Any, name: str) -> Any:
    """Read a field of a response, which clients give as objects or as plain dicts."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _read(response: Any) -> ModelReply:
    choices = _get(response, "choices")
    message = _get(choices[0], "message") if isinstance(choices, Sequence) and choices else None
    if message is None:
        raise EndpointError(
            f"the endpoint's reply ({type(response).__name__}) holds no choices[0].message; is it a "
            "chat-completions endpoint?"
        )
    usage = _get(response, "usage")
    return {
        "content": _get(message, "content"),
        "tool_calls": [_read_call(call) for call in _get(message, "tool_calls") or []],
        "model": _get(response, "model"),
        "input_tokens": _get(usage, "prompt_tokens"),
        "output_tokens": _get(usage, "completion_tokens"),
        "finish_reason": _get(choices[0], "finish_reason"),
    }


def _read_call(call: Any) -> dict[str, Any]:
    function = _get(call, "function")
    arguments = _get(function, "arguments")
    return {
        "id": _get(call, "id"),
        "type": "function",
        "function": {
            "name": str(_get(function, "name") or ""),
            # Some servers send the arguments as an object; the interface promises JSON text.
            "arguments": arguments if isinstance(arguments, str) or arguments is None else to_json(arguments),
        },
    }
