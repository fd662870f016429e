"""Requests, replies and streams of Bedrock's Converse in the shape of a trace."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neverempty.integrations._clients import Endpoint
from neverempty.results import to_json
from neverempty.traces.seam import ModelReply, text_of


def converse(model_id: Any) -> Endpoint:
    """Describe Converse as a request asks for it.

    Parameters
    ----------
    model_id : object
        The model that is asked, which no reply repeats.

    Returns
    -------
    Endpoint
        How to read the request, its reply and its stream.
    """

    def reply(whole: Mapping[str, Any]) -> ModelReply:
        return _reply(whole, model_id)

    return Endpoint(_request, reply, lambda whole, given: _own(whole), _joined, _own)


def _own(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Copy what was recorded: an agent may go on writing into a response."""
    return copy.deepcopy(dict(recorded))


def _request(
    asked: dict[str, Any], so_far: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    messages = [said for message in asked.pop("messages", None) or [] for said in _chat_messages(message)]
    if asked.get("system"):
        messages.insert(0, {"role": "system", "content": text_of(asked.pop("system"))})
    return messages, asked


def _chat_messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Write a message as chat completions do: each tool result on its own, tool calls beside the text."""
    blocks = message.get("content") or []
    for block in blocks:
        if "toolResult" in block:
            yield _tool_message(block["toolResult"])
    calls = [_chat_call(block["toolUse"]) for block in blocks if "toolUse" in block]
    rest = [block for block in blocks if "toolResult" not in block and "toolUse" not in block]
    if rest or calls:
        only_text = all("text" in block for block in rest)
        said = {"role": message.get("role"), "content": text_of(rest) if only_text else rest}
        yield {**said, "tool_calls": calls} if calls else said


def _tool_message(result: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "tool", "tool_call_id": result.get("toolUseId")}
    parts = result.get("content") or []
    said["content"] = "\n".join(to_json(part["json"]) if "json" in part else text_of(part) for part in parts)
    return {**said, "status": "error"} if result.get("status") == "error" else said


def _chat_call(use: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": use.get("name"), "arguments": to_json(use.get("input"))}
    return {"id": use.get("toolUseId"), "type": "function", "function": function}


def _reply(whole: Mapping[str, Any], model_id: Any) -> ModelReply:
    blocks = ((whole.get("output") or {}).get("message") or {}).get("content") or []
    usage = whole.get("usage") or {}
    router = (whole.get("trace") or {}).get("promptRouter") or {}
    return {
        "content": text_of([block for block in blocks if "text" in block]) or None,
        "tool_calls": [_chat_call(block["toolUse"]) for block in blocks if "toolUse" in block],
        "model": router.get("invokedModelId") or model_id,
        "input_tokens": usage.get("inputTokens"),
        "output_tokens": usage.get("outputTokens"),
        "finish_reason": whole.get("stopReason"),
    }


def _joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    arguments: dict[int, str] = {}
    for event in events:
        if "contentBlockStart" in event:
            begun = event["contentBlockStart"]
            blocks[begun["contentBlockIndex"]] = dict(begun.get("start") or {})
        elif "contentBlockDelta" in event:
            at, delta = event["contentBlockDelta"]["contentBlockIndex"], event["contentBlockDelta"]["delta"]
            block = blocks.setdefault(at, {})
            if "text" in delta:
                block["text"] = block.get("text", "") + delta["text"]
            elif "toolUse" in delta:
                arguments[at] = arguments.get(at, "") + delta["toolUse"].get("input", "")
        whole |= event.get("messageStop") or {}
        whole |= event.get("metadata") or {}
    for at, block in blocks.items():
        if "toolUse" in block:
            block["toolUse"] = {**block["toolUse"], "input": json.loads(arguments.get(at) or "{}")}
    content = [blocks[at] for at in sorted(blocks) if blocks[at]]
    return {**whole, "output": {"message": {"role": "assistant", "content": content}}}
