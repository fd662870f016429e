"""What an agent hands back, and how its failures read in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from neverempty._io import jsonable
from neverempty._suggest import did_you_mean
from neverempty.traces.seam import AgentReply

_KEYS: Final = tuple(AgentReply.__dataclass_fields__)
_NOTHING: Final = AgentReply(None, terminal_reason="completed: the agent returned nothing")


class BadReplyError(TypeError):
    """An agent returned something that is no reply."""


def read_reply(result: Any) -> AgentReply:
    """Read an agent's return value.

    Parameters
    ----------
    result : str, AgentReply, dict or None
        What it returned.

    Returns
    -------
    AgentReply
        With plain texts and JSON values only, so that it is the same after a file there and back.

    Raises
    ------
    BadReplyError
        For anything else; says what would have been accepted.

    Examples
    --------
    >>> read_reply({"answer": "Two jobs.", "route": "jobs"}).route
    'jobs'
    """
    if type(result) is str:
        return AgentReply(result)
    if isinstance(result, str):
        return AgentReply(str.__str__(result))
    if result is None:
        return _NOTHING
    if isinstance(result, Mapping):
        unknown = [key for key in result if key not in _KEYS]
        if unknown:
            hint = did_you_mean(str(unknown[0]), _KEYS)
            raise BadReplyError(f"the agent returned a dict with the key {unknown[0]!r:.80}{hint}")
        result = AgentReply(**result)
    if not isinstance(result, AgentReply):
        raise BadReplyError(
            f"the agent returned {type(result).__name__}; return a text, an AgentReply, a dict with "
            "its keys, or None"
        )
    return AgentReply(
        _text(result.answer, "answer"),
        _text(result.route, "route"),
        None if result.structured is None else jsonable(result.structured),
        _messages(result.messages),
        _text(result.terminal_reason, "terminal_reason") or None,
        _share(result.confidence),
    )


def _text(value: Any, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadReplyError(f"the agent's {name} is {type(value).__name__}, not a text or None")
    return str.__str__(value)


def _messages(value: Any) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    plain = jsonable(value)
    if not isinstance(plain, list) or not all(isinstance(message, dict) for message in plain):
        raise BadReplyError("the agent's messages are no list of dicts")
    return plain


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise BadReplyError(f"the agent's confidence is {value!r:.40}, not a number from 0 to 1")
    return float(value)


def describe(error: BaseException) -> str:
    """Write an exception as one text, even where its own text fails.

    Parameters
    ----------
    error : BaseException
        Any exception.

    Returns
    -------
    str
        Its type's name and its text.

    Examples
    --------
    >>> describe(ValueError("no such city"))
    'ValueError: no such city'
    """
    try:
        text = str(error)
    except BaseException as second:  # an agent's own code, which may do anything, sys.exit() included
        text = f"<its text raised {type(second).__name__}>"
    name = type(error).__name__
    return f"{name}: {text}" if text else name
