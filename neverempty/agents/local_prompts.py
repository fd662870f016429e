"""Prompts for a model too small to call tools: worked examples before the question, as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_JOBS: Final = """User: Are there any open data analyst roles in Leeds?
Tool: {"status": "ok", "data": [{"title": "Data Analyst", "employer": "Northbank"}], "truncated": false}
Assistant: Yes, there is one: Data Analyst at Northbank.
"""
_TRAINS: Final = """User: Which trains go to York tonight?
Tool: {"status": "ok", "data": [{"train": "18:04"}, {"train": "19:34"}], "truncated": false}
Assistant: Two trains go to York tonight, at 18:04 and 19:34.
"""
_TRAINS_FAILED: Final = """User: Which trains go to York tonight?
Tool: Error: connection refused
Assistant: I could not check the trains because the lookup failed, so I do not know whether there are any.
"""
_TASK: Final = "The assistant answers the user's question from the tool's reply, in one short sentence.\n\n"

PROMPTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "both_data": _JOBS + _TRAINS,
        "one_disclosed": _JOBS + _TRAINS_FAILED,
        "zero_shot": _TASK,
    }
)
"""By name: two examples that both have data; one of them a disclosed failure; no example but the task."""


def completion_prompt(question: str, tool_texts: list[str]) -> str:
    """Write the part of the prompt that changes from case to case.

    Parameters
    ----------
    question : str
        The user's question.
    tool_texts : list of str
        What the tools returned, one text per call.

    Returns
    -------
    str
        To be put behind one of `PROMPTS`; the model goes on after ``Assistant:``.

    Examples
    --------
    >>> print(completion_prompt("Any trains?", ["[]"]))
    User: Any trains?
    Tool: []
    Assistant:
    """
    # A line break would end the turn in the examples' format.
    tools = "".join(f"Tool: {' '.join(text.splitlines())}\n" for text in tool_texts)
    return f"User: {' '.join(question.splitlines())}\n{tools}Assistant:"
