"""The ``openai`` client, chat completions and Responses: your own loop under faults and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neverempty._errors import UsageError
from neverempty.integrations._clients import copy_of, refuse, through_seam
from neverempty.integrations._openai_chat import CHAT, CHAT_PARSED
from neverempty.integrations._openai_responses import RESPONSES, RESPONSES_PARSED
from neverempty.integrations._tool_calls import ToolText, acall_tool, by_name, call_tool
from neverempty.tools.tool import Tool

__all__ = ["atool_results", "functions", "tool_results", "wrap"]


def wrap(client: Any) -> Any:
    """Copy a client so that its model calls go through the run that they belong to.

    Calls of ``create`` and ``parse``, of chat completions and of Responses, can then be recorded, replayed
    and budgeted, and it is known which tool results the model has read. Outside of a run the copy is like the
    client. A stream is read to its end before its first event is handed on; methods that would bypass the
    seam are refused inside a run.

    Parameters
    ----------
    client : OpenAI or AsyncOpenAI
        Also one for Azure or another endpoint.

    Returns
    -------
    OpenAI or AsyncOpenAI
        The copy, which shares the connections.

    Raises
    ------
    UsageError
        For what is no such client.

    Examples
    --------
    >>> from neverempty.integrations import openai
    >>> def make(client_class):
    ...     return openai.wrap(client_class())
    """
    if not hasattr(client, "copy") or not hasattr(client, "chat"):
        raise UsageError(f"{type(client).__name__} is no client of the package openai")
    copied = copy_of(client, wrap)
    completions, responses = copied.chat.completions, copied.responses
    completions.create = through_seam(completions.create, CHAT)
    completions.parse = through_seam(completions.parse, CHAT_PARSED)
    responses.create = through_seam(responses.create, RESPONSES)
    responses.parse = through_seam(responses.parse, RESPONSES_PARSED)
    refuse(completions, ("stream",), "chat.completions.create()")
    refuse(responses, ("stream", "connect"), "responses.create()")
    refuse(copied.completions, ("create",), "chat.completions.create()")
    return copied


def functions(tools: Sequence[Tool], *, responses: bool = False) -> list[dict[str, Any]]:
    """Describe tools as a request offers them.

    Parameters
    ----------
    tools : sequence of Tool
        The tools.
    responses : bool, default False
        In the shape of the Responses interface.

    Returns
    -------
    list of dict
        For the argument ``tools``.

    Examples
    --------
    >>> from neverempty.tools import wrap
    >>> functions([wrap(abs, "size")])[0]["function"]["name"]
    'size'
    """
    described = [
        {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        for tool in by_name(tools).values()
    ]
    if responses:
        return [{"type": "function", **function} for function in described]
    return [{"type": "function", "function": function} for function in described]


def tool_results(response: Any, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Make the tool calls that a response asks for, one after the other.

    This interface has no flag for a failed call: the model reads a failure only where the text says so.

    Parameters
    ----------
    response : ChatCompletion or Response
        What ``create`` returned.
    tools : sequence of Tool
        The tools that the model was offered.

    Returns
    -------
    list of dict
        The messages, or the items for ``input``, to send next; empty where the model asked for none.

    Raises
    ------
    UsageError
        For an asynchronous tool; `atool_results` calls both kinds.

    Examples
    --------
    >>> from types import SimpleNamespace as S
    >>> from neverempty.tools import wrap
    >>> call = S(type="function_call", name="shout", arguments='{"self": "hi"}', call_id="c1")
    >>> tool_results(S(output=[call]), [wrap(str.upper, "shout", returns="native")])
    [{'type': 'function_call_output', 'call_id': 'c1', 'output': 'HI'}]
    """
    known = by_name(tools)
    return [shape(call_id, call_tool(known, *asked, call_id)) for shape, call_id, asked in _asked(response)]


async def atool_results(response: Any, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Make the tool calls that a response asks for, from asynchronous code; see `tool_results`.

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
    return [
        shape(call_id, await acall_tool(known, *asked, call_id)) for shape, call_id, asked in _asked(response)
    ]


_Shape = Callable[[str, ToolText], dict[str, Any]]


def _asked(response: Any) -> list[tuple[_Shape, str, tuple[str, Any]]]:
    """List the calls of a response of either interface."""
    output = _get(response, "output")
    if output is not None:
        calls = [item for item in output if _get(item, "type") == "function_call"]
        return [
            (_item, _get(call, "call_id"), (_get(call, "name"), _get(call, "arguments"))) for call in calls
        ]
    choices = _get(response, "choices")
    if not choices:
        raise UsageError(f"a {type(response).__name__} is no response of chat completions or Responses")
    asked = _get(_get(choices[0], "message"), "tool_calls") or ()
    return [
        (
            _message,
            _get(call, "id"),
            (_get(_get(call, "function"), "name"), _get(_get(call, "function"), "arguments")),
        )
        for call in asked
    ]


def _message(call_id: str, told: ToolText) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": told.text}


def _item(call_id: str, told: ToolText) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": told.text}


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
