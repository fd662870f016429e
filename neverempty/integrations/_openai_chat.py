"""Chat completions of the ``openai`` client: requests, responses and streams read and rebuilt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neverempty.integrations._clients import Endpoint
from neverempty.integrations._shared import library
from neverempty.traces.seam import ModelReply


def _request(
    asked: dict[str, Any], so_far: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    messages = asked.pop("messages", None) or []
    # A response's own message, sent back, carries all its fields that are not set.
    return [{key: value for key, value in said.items() if value is not None} for said in messages], asked


def _reply(whole: Mapping[str, Any]) -> ModelReply:
    choices = whole.get("choices") or [{}]
    message = choices[0].get("message") or {}
    usage = whole.get("usage") or {}
    return {
        "content": message.get("content") or message.get("refusal"),
        "tool_calls": message.get("tool_calls") or [],
        "model": whole.get("model"),
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "finish_reason": choices[0].get("finish_reason"),
    }


def _joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    whole: dict[str, Any] = {}
    finish = None
    for event in events:
        whole["model"] = event.get("model") or whole.get("model")
        whole["usage"] = event.get("usage") or whole.get("usage")
        for choice in event.get("choices") or ():
            if choice.get("index"):
                continue
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta") or {}
            if delta.get("content"):
                message["content"] = (message["content"] or "") + delta["content"]
            for part in delta.get("tool_calls") or ():
                _add_call(calls, part)
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    return {**whole, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _add_call(calls: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> None:
    call = calls.setdefault(
        part.get("index") or 0, {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
    )
    call["id"] = part.get("id") or call["id"]
    for key in ("name", "arguments"):
        call["function"][key] += (part.get("function") or {}).get(key) or ""


def _rebuild(whole: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    return library("openai.types.chat", "openai").ChatCompletion.model_construct(**whole)


def _rebuild_parsed(whole: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    omitted = library("openai", "openai").NOT_GIVEN
    return library("openai.lib._parsing", "openai").parse_chat_completion(
        response_format=given.get("response_format", omitted),
        input_tools=given.get("tools", omitted),
        chat_completion=_rebuild(whole, given),
    )


def _event(event: Mapping[str, Any]) -> Any:
    return library("openai.types.chat", "openai").ChatCompletionChunk.model_construct(**event)


CHAT = Endpoint(_request, _reply, _rebuild, _joined, _event)
CHAT_PARSED = replace(CHAT, rebuild=_rebuild_parsed)
