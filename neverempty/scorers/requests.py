"""Which tool calls a model asked for: those that ran, and those that never reached a tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from neverempty._io import JsonError, loads_strict
from neverempty.traces.model import Trace


class Requested(NamedTuple):
    """A tool call that was asked for.

    Parameters
    ----------
    tool : str
        The name that was given.
    args : object
        The arguments: a mapping; None where they are no JSON object.
    """

    tool: str
    args: Any


def requested_calls(trace: Trace) -> list[Requested]:
    """List the tool calls of a repeat: what ran, and what stands in the messages beside that.

    A call to a tool that does not exist, or with arguments that cannot be parsed, runs nowhere: only the
    assistant's message has it. The shapes of chat completions, LangChain, Anthropic and Bedrock are known.

    Parameters
    ----------
    trace : Trace
        The repeat.

    Returns
    -------
    list of Requested
        In order, the calls that ran first.

    Examples
    --------
    >>> call = {"id": "c1", "function": {"name": "serch", "arguments": "{}"}}
    >>> requested_calls(Trace("s", "a", "typed", 0, messages=[{"role": "assistant", "tool_calls": [call]}]))
    [Requested(tool='serch', args={})]
    """
    found = [Requested(call.tool, call.args) for call in trace.calls]
    ran = {call.call_id for call in trace.calls if call.call_id}
    unnamed = [call.tool for call in trace.calls if not call.call_id]
    for message in trace.messages:
        for call_id, asked in _asked(message):
            if call_id in ran:
                continue
            if asked.tool in unnamed:  # it ran, and the framework handed no id on
                unnamed.remove(asked.tool)
                continue
            found.append(asked)
    return found


def _asked(message: dict[str, Any]) -> Iterator[tuple[Any, Requested]]:
    if message.get("role") not in ("assistant", "ai"):
        return
    for call in _listed(message.get("tool_calls")):
        function = call.get("function")
        named = function if isinstance(function, dict) else call
        if isinstance(named.get("name"), str):
            yield call.get("id"), Requested(named["name"], _parsed(named.get("arguments", named.get("args"))))
    for block in _listed(message.get("content")):
        bedrock = block.get("toolUse")
        used = bedrock if isinstance(bedrock, dict) else block if block.get("type") == "tool_use" else {}
        if isinstance(used.get("name"), str):
            yield used.get("id", used.get("toolUseId")), Requested(used["name"], _parsed(used.get("input")))


def _listed(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _parsed(arguments: Any) -> Any:
    if isinstance(arguments, str):
        try:
            arguments = loads_strict(arguments or "{}")
        except JsonError:
            return None
    return arguments if isinstance(arguments, dict) else {} if arguments is None else None
