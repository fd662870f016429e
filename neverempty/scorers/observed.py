"""Was there an answer to score at all? What crashed or ran out of time is no signal, never a pass."""

from __future__ import annotations

from typing import Any, Final

from neverempty.traces.model import Trace

# Beginnings of the terminal reasons after which an empty answer is the agent's own last word.
_NORMAL_ENDS: Final = ("completed", "stop", "end_turn", "done", "success", "finished")


def unobserved(trace: Trace) -> str | None:
    """Say why a repeat shows nothing about the agent's answer.

    Parameters
    ----------
    trace : Trace
        One repeat.

    Returns
    -------
    str or None
        The status of a repeat that did not end well (``"agent_timeout"``, ``"replay_miss"``, ...); for an
        empty answer, ``"ended_in_tool_call"`` where the conversation stops at a call that was never answered
        and ``"ended: REASON"`` after an abnormal end; else None.

    Examples
    --------
    >>> unobserved(Trace("s", "a", "typed", 0, status="agent_timeout", terminal_reason="timeout after 30 s"))
    'agent_timeout'
    >>> unobserved(Trace("s", "a", "typed", 0, answer="")) is None
    True
    """
    if trace.status != "ok":
        return trace.status
    if not is_blank(trace.answer):
        return None
    if _ends_in_tool_call(trace.messages):
        return "ended_in_tool_call"
    reason = trace.terminal_reason
    if reason and not reason.lower().startswith(_NORMAL_ENDS):
        return f"ended: {reason[:80]}"
    return None


def unanswered(trace: Trace) -> str | None:
    """Say why a repeat has no answer whose words could be checked.

    Parameters
    ----------
    trace : Trace
        One repeat.

    Returns
    -------
    str or None
        As `unobserved`, or ``"empty_answer"``.

    Examples
    --------
    >>> unanswered(Trace("s", "a", "typed", 0, answer=""))
    'empty_answer'
    """
    return unobserved(trace) or ("empty_answer" if is_blank(trace.answer) else None)


def is_blank(answer: str | None) -> bool:
    r"""Say whether an answer has no visible content.

    Parameters
    ----------
    answer : str or None
        The answer.

    Returns
    -------
    bool
        True for None, white space, and invisible characters alone.

    Examples
    --------
    >>> is_blank(None), is_blank(" \u200b\n"), is_blank("0")
    (True, True, False)
    """
    # nearly every answer begins with a letter
    if answer and answer[0].isalnum():
        return False
    return not answer or not any(char.isprintable() and not char.isspace() for char in answer)


def _ends_in_tool_call(messages: list[dict[str, Any]]) -> bool:
    if not messages:
        return False
    last = messages[-1]
    return last.get("role") in ("assistant", "ai") and bool(last.get("tool_calls"))
