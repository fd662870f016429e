"""Bedrock's Converse by the client of ``boto3``: your own loop under faults, recorded and replayed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.integrations._bedrock_converse import converse
from neverempty.integrations._clients import refuse, through_seam
from neverempty.integrations._tool_calls import (
    ToolText,
    acall_tool,
    as_user_message,
    by_name,
    call_tool,
    unwrapped,
)
from neverempty.tools.tool import Tool
from neverempty.traces.active import owning_tracer

__all__ = ["atool_results", "functions", "tool_results", "wrap"]

_AROUND: Final = (
    "invoke_model",
    "invoke_model_with_response_stream",
    "invoke_model_with_bidirectional_stream",
    "start_async_invoke",
)


def wrap(client: Any) -> Any:
    """Copy a client so that its model calls go through the run that they belong to.

    Calls of ``converse`` and ``converse_stream`` can then be recorded, replayed and budgeted, and it is known
    which tool results the model has read. Outside of a run the copy is like the client. A stream is read to
    its end before its first event is handed on; ``invoke_model`` and its like are refused inside a run.

    Parameters
    ----------
    client : BedrockRuntime
        What ``boto3.client("bedrock-runtime")`` makes.

    Returns
    -------
    BedrockRuntime
        The copy, which shares the connections.

    Raises
    ------
    UsageError
        For what is no such client.

    Examples
    --------
    >>> from neverempty.integrations import bedrock
    >>> def make(boto3):
    ...     return bedrock.wrap(boto3.client("bedrock-runtime"))
    """
    service = getattr(getattr(getattr(client, "meta", None), "service_model", None), "service_name", None)
    if service != "bedrock-runtime":
        raise UsageError(
            f"{type(client).__name__} is no client for Bedrock's models; give boto3.client('bedrock-runtime')"
        )
    if inspect.iscoroutinefunction(client._make_api_call):
        raise UsageError("an asynchronous client cannot be wrapped; give boto3.client('bedrock-runtime')")
    # made without __init__, and not by copy.copy(): until a client has its service model it looks up
    # every missing attribute in it, without end
    copied = object.__new__(type(client))
    vars(copied).update(vars(client))
    vars(copied).update(converse=_whole(client), converse_stream=_streamed(client))
    refuse(copied, _AROUND, "converse()")
    return copied


def _whole(client: Any) -> Any:
    def asked(**arguments: Any) -> Any:
        return through_seam(client.converse, converse(arguments.get("modelId")))(**arguments)

    return asked


def _streamed(client: Any) -> Any:
    def events(stream: bool, **arguments: Any) -> Any:
        return client.converse_stream(**arguments)["stream"]

    def asked(**arguments: Any) -> Any:
        if owning_tracer("the model") is None:
            return client.converse_stream(**arguments)
        heard = through_seam(events, converse(arguments.get("modelId")))
        return {"stream": heard(stream=True, **arguments)}

    return asked


def functions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Describe tools as a request offers them.

    Parameters
    ----------
    tools : sequence of Tool
        The tools.

    Returns
    -------
    list of dict
        For ``toolConfig={"tools": ...}``.

    Examples
    --------
    >>> from neverempty.tools import wrap
    >>> sorted(functions([wrap(abs, "size")])[0]["toolSpec"])
    ['description', 'inputSchema', 'name']
    """
    return [{"toolSpec": _spec(tool)} for tool in by_name(tools).values()]


def _spec(tool: Tool) -> dict[str, Any]:
    spec = {"name": tool.name, "inputSchema": {"json": tool.schema}}
    # an empty description is refused by the service
    return {**spec, "description": tool.description} if tool.description else spec


def tool_results(response: Any, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Make the tool calls that a response asks for, one after the other.

    A tool that says that it failed, by an `Err`, an exception or the flag of an MCP result, gives a
    ``toolResult`` of status ``"error"``, which not every model on Bedrock takes. A failure that is declined
    or swallowed gives one without a status, which means success.

    Parameters
    ----------
    response : dict
        What ``converse`` returned, or the message put together from a stream.
    tools : sequence of Tool
        The tools that the model was offered.

    Returns
    -------
    list of dict
        One user message with the results; empty where the model asked for none.

    Raises
    ------
    UsageError
        For an asynchronous tool; `atool_results` calls both kinds. For what is no response.

    Examples
    --------
    >>> from neverempty.tools import wrap
    >>> asked = {"role": "assistant", "content": [
    ...     {"toolUse": {"toolUseId": "c1", "name": "shout", "input": {"self": "hi"}}}]}
    >>> tool_results(asked, [wrap(str.upper, "shout", returns="native")])[0]["content"]
    [{'toolResult': {'toolUseId': 'c1', 'content': [{'text': 'HI'}]}}]
    """
    known = by_name(tools)
    return as_user_message(
        [
            _block(use["toolUseId"], call_tool(known, use["name"], use.get("input"), use["toolUseId"]))
            for use in _asked(response)
        ]
    )


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
    return as_user_message(
        [
            _block(use["toolUseId"], await acall_tool(known, use["name"], use.get("input"), use["toolUseId"]))
            for use in _asked(response)
        ]
    )


def _asked(response: Any) -> list[Mapping[str, Any]]:
    """List the calls that are the agent's to make; those of the service's own tools are made there."""
    message = response
    if isinstance(response, Mapping) and "output" in response:
        message = response["output"].get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        raise UsageError(f"a {type(response).__name__} is no response of converse()")
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    return [use for use in uses if use.get("type") != "server_tool_use"]


def _block(call_id: str, told: ToolText) -> dict[str, Any]:
    told = unwrapped(told)
    result: dict[str, Any] = {"toolUseId": call_id, "content": [{"text": told.text}]}
    return {"toolResult": {**result, "status": "error"} if told.is_error else result}
