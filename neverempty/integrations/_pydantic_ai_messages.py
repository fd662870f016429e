"""Messages, tools and responses of pydantic-ai as the chat-completions dicts of a trace, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from neverempty._io import jsonable
from neverempty.integrations._shared import library
from neverempty.results import to_json
from neverempty.traces.seam import ModelReply, text_of

_WHOLE: Final = "pydantic_ai_message"
# How a request is sent, not what is asked.
_TRANSPORT: Final = ("timeout", "extra_headers")


def chat_messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """Write a conversation as chat-completions dicts.

    Parameters
    ----------
    messages : sequence of ModelMessage
        The conversation.

    Returns
    -------
    list of dict
        The instructions of the last request first. Results of tools that failed, or that ask to try again,
        keep ``"status": "error"``, which chat completions have no place for.
    """
    told = [message.instructions for message in messages if message.kind == "request"]
    said: list[dict[str, Any]] = [{"role": "system", "content": told[-1]}] if told and told[-1] else []
    for message in messages:
        said += [_reply_message(message)] if message.kind == "response" else _request_messages(message)
    return said


def _request_messages(message: Any) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        if part.part_kind == "tool-return":
            body = {
                "role": "tool",
                "tool_call_id": part.tool_call_id,
                "content": part.model_response_str(wrap_if_error=False),
            }
            yield body if part.outcome == "success" else {**body, "status": "error"}
        elif part.part_kind in ("system-prompt", "user-prompt"):
            yield {"role": part.part_kind.removesuffix("-prompt"), "content": _user_content(part.content)}
        elif hasattr(part, "model_response"):
            yield {"role": "user", "content": part.model_response()}


def _user_content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    items = [{"type": "text", "text": item} if isinstance(item, str) else jsonable(item) for item in content]
    return text_of(items) if all(isinstance(item, str) for item in content) else items


def _reply_message(message: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": _text(message)}
    calls = _calls(message)
    return {**said, "tool_calls": calls} if calls else said


def _text(response: Any) -> str | None:
    return "".join(part.content for part in response.parts if part.part_kind == "text") or None


def _calls(response: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {
                "name": part.tool_name,
                "arguments": part.args if isinstance(part.args, str) else to_json(part.args or {}),
            },
        }
        for part in response.parts
        if part.part_kind == "tool-call"
    ]


def request_of(model: Any, settings: Any, parameters: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Read the tools and params of a request: what of the model and the call can change its reply.

    Parameters
    ----------
    model : Model
        The model that is asked.
    settings : dict or None
        Temperature and the like.
    parameters : ModelRequestParameters
        The tools, those for structured output among them.

    Returns
    -------
    tools : list of dict
        As chat completions offer them.
    params : dict
        The rest.
    """
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters_json_schema,
            },
        }
        for tool in [*parameters.function_tools, *parameters.output_tools]
    ]
    given = {key: value for key, value in (settings or {}).items() if key not in _TRANSPORT}
    if parameters.native_tools:
        given["native_tools"] = parameters.native_tools
    return jsonable(tools), jsonable({"model": model.model_name, **given})


def reply_of(response: Any) -> ModelReply:
    """Read a model's response.

    Parameters
    ----------
    response : ModelResponse
        What the model answered.

    Returns
    -------
    ModelReply
        With the whole response under a key of its own, from which `response_of` rebuilds it. A usage of
        nothing at all is one that the provider did not tell.
    """
    usage = response.usage
    known = bool(usage.input_tokens or usage.output_tokens)
    reply: dict[str, Any] = {
        "content": _text(response),
        "tool_calls": _calls(response),
        "model": response.model_name,
        "input_tokens": usage.input_tokens if known else None,
        "output_tokens": usage.output_tokens if known else None,
        "finish_reason": response.finish_reason,
        _WHOLE: jsonable(_adapter().dump_python([response], mode="json")[0]),
    }
    return reply  # type: ignore[return-value]  # a reply with one key more


def response_of(reply: ModelReply) -> Any:
    """Rebuild a model's response from a recorded reply.

    Parameters
    ----------
    reply : ModelReply
        As from `reply_of`.

    Returns
    -------
    ModelResponse
        The response.
    """
    recorded: Any = reply
    return _adapter().validate_python([recorded[_WHOLE]])[0]


def _adapter() -> Any:
    return library("pydantic_ai.messages", "pydantic-ai").ModelMessagesTypeAdapter


def history_of(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Write what was said before as the messages that an agent goes on from.

    Parameters
    ----------
    messages : sequence of mapping
        In the chat-completions shape; tool calls and their results among them.

    Returns
    -------
    list of ModelMessage
        Requests and responses.
    """
    made = library("pydantic_ai.messages", "pydantic-ai")
    names: dict[Any, str] = {}
    history: list[Any] = []
    for message in messages:
        text, role = text_of(message.get("content")), message.get("role")
        if role == "assistant":
            calls = [(call.get("id"), call.get("function") or {}) for call in message.get("tool_calls") or ()]
            names.update((call_id, function.get("name", "")) for call_id, function in calls)
            asked = [
                made.ToolCallPart(function.get("name", ""), function.get("arguments"), str(call_id))
                for call_id, function in calls
            ]
            history.append(made.ModelResponse(parts=[made.TextPart(text), *asked] if text else asked))
        elif role == "tool":
            call_id = message.get("tool_call_id")
            name = message.get("name") or names.get(call_id, "")
            history.append(made.ModelRequest(parts=[made.ToolReturnPart(name, text, str(call_id))]))
        else:
            part = made.SystemPromptPart if role in ("system", "developer") else made.UserPromptPart
            history.append(made.ModelRequest(parts=[part(text)]))
    return history
