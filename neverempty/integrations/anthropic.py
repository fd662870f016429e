"""The ``anthropic`` client's messages: your own loop under faults, recorded and replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neverempty._errors import UsageError
from neverempty.integrations._clients import Endpoint, copy_of, refuse, through_seam
from neverempty.integrations._shared import library
from neverempty.integrations._tool_calls import (
    ToolText,
    acall_tool,
    as_user_message,
    by_name,
    call_tool,
    unwrapped,
)
from neverempty.results import to_json
from neverempty.tools.tool import Tool
from neverempty.traces.seam import ModelReply, text_of

__all__ = ["atool_results", "functions", "tool_results", "wrap"]


def wrap(client: Any) -> Any:
    """Copy a client so that its model calls go through the run that they belong to.

    Calls of ``messages.create`` can then be recorded, replayed and budgeted, and it is known which tool
    results the model has read. Outside of a run the copy is like the client. A stream is read to its end
    before its first event is handed on; methods that would bypass the seam are refused inside a run.

    Parameters
    ----------
    client : Anthropic or AsyncAnthropic
        Also one for another platform.

    Returns
    -------
    Anthropic or AsyncAnthropic
        The copy, which shares the connections.

    Raises
    ------
    UsageError
        For what is no such client.

    Examples
    --------
    >>> from neverempty.integrations import anthropic
    >>> def make(client_class):
    ...     return anthropic.wrap(client_class())
    """
    if not hasattr(client, "copy") or not hasattr(client, "messages"):
        raise UsageError(f"{type(client).__name__} is no client of the package anthropic")
    copied = copy_of(client, wrap)
    copied.messages.create = through_seam(copied.messages.create, _MESSAGES)
    refuse(copied.messages, ("parse", "stream"), "messages.create()")
    refuse(copied.beta.messages, ("create", "parse", "stream", "tool_runner"), "messages.create()")
    return copied


def functions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Describe tools as a request offers them.

    Parameters
    ----------
    tools : sequence of Tool
        The tools.

    Returns
    -------
    list of dict
        For the argument ``tools``.

    Examples
    --------
    >>> from neverempty.tools import wrap
    >>> sorted(functions([wrap(abs, "size")])[0])
    ['description', 'input_schema', 'name']
    """
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        for tool in by_name(tools).values()
    ]


def tool_results(response: Any, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Make the tool calls that a message asks for, one after the other.

    A tool that says that it failed, by an `Err`, an exception or the flag of an MCP result, gives a block
    with ``is_error``. A failure that is declined or swallowed gives a block like any success.

    Parameters
    ----------
    response : Message
        What ``create`` returned.
    tools : sequence of Tool
        The tools that the model was offered.

    Returns
    -------
    list of dict
        One user message with the results; empty where the model asked for none.

    Raises
    ------
    UsageError
        For an asynchronous tool; `atool_results` calls both kinds.

    Examples
    --------
    >>> from types import SimpleNamespace as S
    >>> from neverempty.tools import wrap
    >>> call = S(type="tool_use", name="shout", input={"self": "hi"}, id="c1")
    >>> tool_results(S(content=[call]), [wrap(str.upper, "shout", returns="native")])[0]["content"]
    [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'HI'}]
    """
    known = by_name(tools)
    return as_user_message(
        [_block(call.id, call_tool(known, call.name, call.input, call.id)) for call in _asked(response)]
    )


async def atool_results(response: Any, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Make the tool calls that a message asks for, from asynchronous code; see `tool_results`.

    Parameters
    ----------
    response, tools
        As for `tool_results`.

    Returns
    -------
    list of dict
        As from `tool_results`.
    """
    known = by_name(tools)
    return as_user_message(
        [
            _block(call.id, await acall_tool(known, call.name, call.input, call.id))
            for call in _asked(response)
        ]
    )


def _asked(response: Any) -> list[Any]:
    content = getattr(response, "content", None)
    if not isinstance(content, list):
        raise UsageError(f"a {type(response).__name__} is no message of the package anthropic")
    return [block for block in content if block.type == "tool_use"]


def _block(call_id: str, told: ToolText) -> dict[str, Any]:
    told = unwrapped(told)
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": told.text}
    return {**block, "is_error": True} if told.is_error else block


# ---------------------------------------------------------------------------------- reading and rebuilding


def _request(
    asked: dict[str, Any], so_far: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    messages = [said for message in asked.pop("messages", None) or [] for said in _chat_messages(message)]
    if asked.get("system"):
        messages.insert(0, {"role": "system", "content": text_of(asked.pop("system"))})
    return messages, asked


def _chat_messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Write a message as chat completions do: each tool result on its own, tool calls beside the text."""
    content = message.get("content")
    if not isinstance(content, list):
        yield {"role": message.get("role"), "content": content}
        return
    blocks = [
        block if isinstance(block, Mapping) else {"type": "text", "text": str(block)} for block in content
    ]
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {
                "role": "tool",
                "tool_call_id": block.get("tool_use_id"),
                "content": block.get("content"),
                **({"status": "error"} if block.get("is_error") else {}),
            }
    calls = [_chat_call(block) for block in blocks if block.get("type") == "tool_use"]
    rest = [block for block in blocks if block.get("type") not in ("tool_result", "tool_use")]
    if rest or calls:
        only_text = all(block.get("type") == "text" for block in rest)
        said = {"role": message.get("role"), "content": text_of(rest) if only_text else rest}
        yield {**said, "tool_calls": calls} if calls else said


def _chat_call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": block.get("name"), "arguments": to_json(block.get("input"))}
    return {"id": block.get("id"), "type": "function", "function": function}


def _reply(whole: Mapping[str, Any]) -> ModelReply:
    blocks = whole.get("content") or []
    usage = whole.get("usage") or {}
    return {
        "content": text_of([block for block in blocks if block.get("type") == "text"]) or None,
        "tool_calls": [_chat_call(block) for block in blocks if block.get("type") == "tool_use"],
        "model": whole.get("model"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "finish_reason": whole.get("stop_reason"),
    }


def _joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    arguments: dict[int, str] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            whole = dict(event.get("message") or {})
        elif kind == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            delta, at = event["delta"], event["index"]
            if delta.get("type") == "text_delta":
                blocks[at]["text"] = (blocks[at].get("text") or "") + delta["text"]
            elif delta.get("type") == "input_json_delta":
                arguments[at] = arguments.get(at, "") + delta["partial_json"]
        elif kind == "message_delta":
            whole["stop_reason"] = event["delta"].get("stop_reason")
            counted = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
            whole["usage"] = {**(whole.get("usage") or {}), **counted}
    for at, text in arguments.items():
        blocks[at]["input"] = json.loads(text or "{}")
    return {**whole, "content": [blocks[at] for at in sorted(blocks)]}


def _rebuild(whole: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    return library("anthropic.types", "anthropic").Message.model_construct(**whole)


def _event(event: Mapping[str, Any]) -> Any:
    from pydantic import TypeAdapter

    kind = library("anthropic.types", "anthropic").RawMessageStreamEvent
    return TypeAdapter(kind).validate_python(event)


_MESSAGES = Endpoint(_request, _reply, _rebuild, _joined, _event)
