"""The tool calls of a provider's response, made one after the other, and what the model is told of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neverempty._errors import NeverEmptyError, UsageError
from neverempty._io import jsonable
from neverempty.faults.present import FlaggedText
from neverempty.integrations._shared import doubt
from neverempty.results import Err, to_json
from neverempty.tools.tool import Tool
from neverempty.traces.active import owning_tracer
from neverempty.traces.seam import text_of


@dataclass(frozen=True, slots=True)
class ToolText:
    """How a tool call ended, as it is told to the model.

    Parameters
    ----------
    text : str
        The text.
    is_error : bool
        Whether the tool said that it failed: by an `Err`, an exception, or a flag.
    """

    text: str
    is_error: bool


def by_name(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Index tools by their names.

    Parameters
    ----------
    tools : sequence of Tool
        The tools.

    Returns
    -------
    dict
        By name.

    Raises
    ------
    UsageError
        For what is no tool of this package.
    """
    for item in tools:
        if not isinstance(item, Tool):
            raise UsageError(f"{item!r:.80} is no tool; make it one with neverempty.tool or neverempty.wrap")
    return {item.name: item for item in tools}


def as_user_message(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the results of tool calls into the one user message in which a provider wants them.

    Parameters
    ----------
    blocks : list of dict
        One block per call.

    Returns
    -------
    list of dict
        One message; none where there is no block.
    """
    return [{"role": "user", "content": blocks}] if blocks else []


def call_tool(tools: Mapping[str, Tool], name: str, arguments: Any, call_id: str) -> ToolText:
    """Make a tool call that a model asks for.

    Parameters
    ----------
    tools : mapping of str to Tool
        By name.
    name, arguments, call_id
        As the model wrote them.

    Returns
    -------
    ToolText
        What to tell the model; also where there is no such tool, or the tool raised.

    Raises
    ------
    UsageError
        For an asynchronous tool, which `acall_tool` calls.
    """
    tool = tools.get(name)
    if tool is None:
        return _unknown(tools, name, arguments, call_id)
    if tool.is_async:
        raise UsageError(f"tool {name!r} is asynchronous; await atool_results(...) instead")
    try:
        return _told(tool.invoke(arguments or {}, call_id=call_id), call_id)
    except NeverEmptyError:
        raise
    except Exception as error:
        return _raised(name, error)


async def acall_tool(tools: Mapping[str, Tool], name: str, arguments: Any, call_id: str) -> ToolText:
    """Make a tool call from asynchronous code; see `call_tool`.

    Parameters
    ----------
    tools, name, arguments, call_id
        As in `call_tool`; tools of both kinds.

    Returns
    -------
    ToolText
        What to tell the model.
    """
    tool = tools.get(name)
    if tool is None or not tool.is_async:
        return call_tool(tools, name, arguments, call_id)
    try:
        return _told(await tool.invoke(arguments or {}, call_id=call_id), call_id)
    except NeverEmptyError:
        raise
    except Exception as error:
        return _raised(name, error)


def unwrapped(told: ToolText) -> ToolText:
    """Take the text out of the result of a failed MCP call, for messages that have such a flag themselves.

    Parameters
    ----------
    told : ToolText
        How a call ended.

    Returns
    -------
    ToolText
        The text inside with the flag; any other text as it is.
    """
    if not told.text.startswith('{"'):
        return told
    try:
        body = json.loads(told.text)
    except (ValueError, RecursionError):
        return told
    failed = body.get("isError") is True or body.get("is_error") is True
    return ToolText(text_of(body["content"]), True) if failed and "content" in body else told


def _told(result: Any, call_id: str) -> ToolText:
    doubt(call_id, result)
    if isinstance(result, FlaggedText):
        return ToolText(str.__str__(result), True)
    if hasattr(result, "to_model"):
        return ToolText(str(result.to_model()), isinstance(result, Err))
    return ToolText(result if isinstance(result, str) else to_json(result), False)


def _raised(name: str, error: Exception) -> ToolText:
    return ToolText(f"Error executing tool {name}: {type(error).__name__}: {error}", True)


def _unknown(tools: Mapping[str, Tool], name: str, arguments: Any, call_id: str) -> ToolText:
    known = ", ".join(sorted(tools)) or "none"
    text = Err("validation", f"there is no tool {name!r}; the tools are: {known}").to_model()
    tracer = owning_tracer(f"tool {name!r}")
    if tracer is not None:
        call = tracer.begin(name, {"arguments": jsonable(arguments)}, call_id)
        tracer.finish(call, "error", text, "validation", 0.0)
    return ToolText(text, True)
