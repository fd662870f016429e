"""Tool calls for agents that do not choose them: the case names tools and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neverempty._errors import UsageError
from neverempty.tools import Tool


def planned_calls(case: Any) -> Sequence[Any]:
    """Return the tool calls that a case names, for agents that do not choose them.

    Parameters
    ----------
    case : Case
        The case.

    Returns
    -------
    sequence of ExpectedCall
        Tool and arguments of each.

    Raises
    ------
    UsageError
        Where it names none.
    """
    expected = case.expect.tool_calls
    if expected is None or not expected.calls:
        raise UsageError(
            f"case {case.id!r} does not say which tool to call; this agent makes the calls in "
            "expect.tool_calls"
        )
    return tuple(expected.calls)


async def make_call(tools: Mapping[str, Tool], case: Any, call: Any) -> Any:
    """Make one of the calls that a case names.

    Parameters
    ----------
    tools : mapping of str to Tool
        By name.
    case : Case
        For the message.
    call : ExpectedCall
        Tool and arguments.

    Returns
    -------
    object
        What the tool returns, awaited where it is asynchronous.

    Raises
    ------
    UsageError
        Where there is no such tool.
    """
    tool = tools.get(call.tool)
    if tool is None:
        raise UsageError(
            f"case {case.id!r} names the tool {call.tool!r}, which this agent was not given; it has "
            f"{', '.join(sorted(tools)) or 'none'}"
        )
    result = tool(**{name: arg.value for name, arg in call.args.items()})
    return await result if tool.is_async else result
