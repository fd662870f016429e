"""The Responses interface of the ``openai`` client: requests, responses and streams read and rebuilt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from neverempty.integrations._clients import Endpoint
from neverempty.integrations._shared import library
from neverempty.traces.seam import ModelReply, text_of

_FINAL = ("response.completed", "response.incomplete", "response.failed")


def _request(
    asked: dict[str, Any], so_far: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    items = asked.pop("input", None) or []
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    messages = list(_chat_messages(items))
    if asked.get("instructions"):
        messages.insert(0, {"role": "system", "content": asked.pop("instructions")})
    if asked.get("previous_response_id") or asked.get("conversation"):
        # The server knows what was said before; the trace does too.
        messages = [*so_far, *messages]
    return messages, asked


def _chat_messages(items: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in items:
        kind = item.get("type")
        if kind == "function_call":
            yield {"role": "assistant", "content": None, "tool_calls": [_chat_call(item)]}
        elif kind == "function_call_output":
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
        elif "role" in item:
            yield {"role": item["role"], "content": _content(item.get("content"))}
        else:  # reasoning and the provider's own tools, as they are
            yield {key: value for key, value in item.items() if value is not None}


def _content(content: Any) -> Any:
    """Write text parts as one text; content with other parts stays as it is."""
    texts = isinstance(content, list) and all(
        isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in content
    )
    return "".join(part["text"] for part in content) if texts else content


def _chat_call(item: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _reply(whole: Mapping[str, Any]) -> ModelReply:
    output = whole.get("output") or []
    said = [text_of(_content(item.get("content"))) for item in output if item.get("type") == "message"]
    usage = whole.get("usage") or {}
    details = whole.get("incomplete_details") or {}
    return {
        "content": "\n".join(text for text in said if text) or None,
        "tool_calls": [_chat_call(item) for item in output if item.get("type") == "function_call"],
        "model": whole.get("model"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "finish_reason": details.get("reason") or whole.get("status"),
    }


def _joined(events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    for event in reversed(events):
        if event.get("type") in _FINAL:
            whole: Mapping[str, Any] = event.get("response") or {}
            return whole
    return {}


def _rebuild(whole: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    return library("openai.types.responses", "openai").Response.model_construct(**whole)


def _rebuild_parsed(whole: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    omitted = library("openai", "openai").NOT_GIVEN
    return library("openai.lib._parsing._responses", "openai").parse_response(
        text_format=given.get("text_format", omitted),
        input_tools=given.get("tools", omitted),
        response=_rebuild(whole, given),
    )


def _event(event: Mapping[str, Any]) -> Any:
    from pydantic import TypeAdapter

    kind = library("openai.types.responses", "openai").ResponseStreamEvent
    return TypeAdapter(kind).validate_python(event)


RESPONSES = Endpoint(_request, _reply, _rebuild, _joined, _event)
RESPONSES_PARSED = replace(RESPONSES, rebuild=_rebuild_parsed)
