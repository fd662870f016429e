"""LangChain's messages and results as the chat-completions dicts of a trace, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from neverempty._io import jsonable
from neverempty.integrations._shared import library
from neverempty.results import to_json
from neverempty.traces.seam import ModelReply, text_of

_ROLES: Final = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
_WHOLE: Final = "langchain_message"


def chat_messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Write LangChain messages as chat-completions dicts.

    Parameters
    ----------
    messages : sequence of BaseMessage
        The conversation.

    Returns
    -------
    list of dict
        Tool messages keep ``"status": "error"``, which chat completions have no place for.
    """
    return [_chat_message(message) for message in messages]


def _chat_message(message: Any) -> dict[str, Any]:
    role = getattr(message, "role", None) or _ROLES.get(message.type, message.type)
    said: dict[str, Any] = {"role": role, "content": jsonable(message.content)}
    if getattr(message, "tool_calls", None):
        said["tool_calls"] = [_chat_call(call) for call in message.tool_calls]
    if message.type == "tool":
        said["tool_call_id"] = message.tool_call_id
        if getattr(message, "status", None) == "error":
            said["status"] = "error"
    return said


def _chat_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": to_json(call["args"])}
    return {"id": call.get("id"), "type": "function", "function": function}


def reply_of(message: Any) -> ModelReply:
    """Read a model's message.

    Parameters
    ----------
    message : AIMessage
        What the model answered.

    Returns
    -------
    ModelReply
        With the whole message under a key of its own, from which `message_of` rebuilds it.
    """
    usage = getattr(message, "usage_metadata", None) or {}
    about = getattr(message, "response_metadata", None) or {}
    reply: dict[str, Any] = {
        "content": text_of(message.content),
        "tool_calls": [_chat_call(call) for call in getattr(message, "tool_calls", None) or ()],
        "model": about.get("model_name") or about.get("model"),
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "finish_reason": about.get("finish_reason") or about.get("stop_reason"),
        _WHOLE: jsonable(message.model_dump()),
    }
    return reply  # type: ignore[return-value]  # a reply with one key more


def message_of(reply: ModelReply) -> Any:
    """Rebuild a model's message from a recorded reply.

    Parameters
    ----------
    reply : ModelReply
        Recorded here, or of any other agent.

    Returns
    -------
    AIMessage
        The message.
    """
    messages = library("langchain_core.messages", "langchain")
    whole: Any = reply.get(_WHOLE)
    if isinstance(whole, Mapping):
        kept = {key: value for key, value in whole.items() if key != "type" and "chunk" not in key}
        return messages.AIMessage(**kept)
    calls = [
        {
            "name": call["function"]["name"],
            "args": json.loads(call["function"]["arguments"]),
            "id": call["id"],
        }
        for call in reply.get("tool_calls") or ()
    ]
    return messages.AIMessage(content=reply.get("content") or "", tool_calls=calls)


def as_messages(prompt: Any) -> list[Any]:
    """Bring whatever a chat model takes as its input into messages.

    Parameters
    ----------
    prompt : str, PromptValue or list
        The input.

    Returns
    -------
    list of BaseMessage
        The messages.
    """
    if isinstance(prompt, str):
        prompt = [("user", prompt)]
    if hasattr(prompt, "to_messages"):
        return list(prompt.to_messages())
    return list(library("langchain_core.messages", "langchain").convert_to_messages(prompt))
