"""The seam between agent and model: what passes through it, and which tool results the model has read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypedDict

from neverempty.traces.model import ToolCall

_ID_KEYS: Final = ("tool_call_id", "tool_use_id", "toolCallId", "call_id")
# A shorter text, "[]" above all, stands inside other texts by chance; it must be the whole content.
_TELLING_LENGTH: Final = 16


class ModelReply(TypedDict, total=False):
    """What a model answered, in the shape that is recorded and replayed.

    Parameters
    ----------
    content : str or None
        The text.
    tool_calls : list of dict
        The calls that the model asks for, as the agent's client writes them.
    model : str or None
        The model that really answered.
    input_tokens, output_tokens : int or None
        What it used; None where the provider does not say.
    finish_reason : str or None
        Why it stopped.
    """

    content: str | None
    tool_calls: list[dict[str, Any]]
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    finish_reason: str | None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model.

    Parameters
    ----------
    index : int
        Order within the trace, from 0.
    messages : sequence of dict
        The conversation so far.
    tools : object
        The tools offered, as the agent's client writes them.
    params : dict
        Temperature and the like.
    """

    index: int
    messages: Sequence[Any]
    tools: Any
    params: Mapping[str, Any]


class Seam(Protocol):
    """What a run does around each model call: budget, record, replay."""

    def before(self, request: ModelRequest) -> ModelReply | None:
        """Answer from a recording, let the live call happen, or raise to stop it.

        Parameters
        ----------
        request : ModelRequest
            What the agent asks.

        Returns
        -------
        ModelReply or None
            The recorded reply; None for a live call.
        """

    def after(self, request: ModelRequest, reply: ModelReply) -> None:
        """Take note of the reply to a live call; not called for replies that `before` gave.

        Parameters
        ----------
        request : ModelRequest
            What the agent asked.
        reply : ModelReply
            What came back.
        """


@dataclass(slots=True)
class AgentReply:
    """What an agent returns where a plain text is not enough.

    Parameters
    ----------
    answer : str or None
        The text for the user.
    route : str, optional
        Which route the agent chose.
    structured : object, optional
        Structured output beside or instead of the text.
    messages : list of dict, optional
        The conversation, where no seam recorded it.
    terminal_reason : str, optional
        Why the agent stopped.
    confidence : float, optional
        How sure the agent says it is, 0 to 1.

    Examples
    --------
    >>> AgentReply("I could not check this.", route="jobs").route
    'jobs'
    """

    answer: str | None = None
    route: str | None = None
    structured: Any = None
    messages: list[dict[str, Any]] | None = None
    terminal_reason: str | None = None
    confidence: float | None = None


def text_of(content: Any) -> str:
    """Read the text of a message's content.

    Parameters
    ----------
    content : str, list or None
        A text, or parts of which some hold text.

    Returns
    -------
    str
        The texts of the parts, one a line.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        inner = content.get("text", content.get("content"))
        return text_of(inner)
    if isinstance(content, (list, tuple)):
        return "\n".join(text for text in map(text_of, content) if text)
    return ""


def _tool_texts(messages: Sequence[Any]) -> Iterator[tuple[str | None, str]]:
    """Yield id and text of every tool result in a conversation, whichever client's shape it has."""
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        if message.get("role", message.get("type")) in ("tool", "function"):
            yield _id_of(message), text_of(message.get("content"))
        elif message.get("type") == "function_call_output":
            yield _id_of(message), text_of(message.get("output"))
        elif isinstance(message.get("content"), (list, tuple)):
            for part in message["content"]:
                if isinstance(part, Mapping) and part.get("type") == "tool_result":
                    yield _id_of(part), text_of(part.get("content"))


def _id_of(holder: Mapping[str, Any]) -> str | None:
    for key in _ID_KEYS:
        found = holder.get(key)
        if isinstance(found, str):
            return found
    return None


def _prompt_texts(messages: Sequence[Any]) -> list[str]:
    """Return what the model read outside of tool messages and of its own words."""
    return [
        text_of(message.get("content"))
        for message in messages
        if isinstance(message, Mapping)
        and message.get("role", message.get("type")) not in ("tool", "function", "assistant", "ai")
    ]


def _stands_in(needle: str, text: str) -> bool:
    if needle.strip() == text.strip():
        return True
    return len(needle) >= _TELLING_LENGTH and (
        needle in text or json.dumps(needle, ensure_ascii=False)[1:-1] in text
    )


def mark_seen(calls: Sequence[ToolCall], messages: Sequence[Any], raised: Mapping[int, str]) -> None:
    """Note on each tool call the text by which the model has read it.

    A tool message belongs to the call with its id, else to the first call whose text it holds; each message
    to one call only. A text of 16 characters or more also counts where it stands in another message that
    the agent wrote, as in a completion prompt.

    Parameters
    ----------
    calls : sequence of ToolCall
        The trace's calls, changed in place: `seen`, and a `state` of ``"fired"`` becomes ``"seen"``.
    messages : sequence of dict
        What the model was sent.
    raised : mapping of int to str
        By call number, the text of an exception that the tool raised, which a framework writes out.
    """
    if not calls:
        return
    results = list(_tool_texts(messages))
    free = set(range(len(results)))
    prompts: list[str] | None = None
    waiting: list[ToolCall] = []
    for call in calls:
        place = next((at for at in free if call.call_id and results[at][0] == call.call_id), None)
        if place is None:
            waiting.append(call)
        else:
            free.discard(place)
            _mark(call, results[place][1])
    for call in waiting:
        needle = call.returned if call.returned is not None else raised.get(call.call)
        if not needle:
            continue
        place = next((at for at in sorted(free) if _stands_in(needle, results[at][1])), None)
        if place is not None:
            free.discard(place)
            _mark(call, results[place][1])
        elif len(needle) >= _TELLING_LENGTH:
            prompts = _prompt_texts(messages) if prompts is None else prompts
            if any(_stands_in(needle, text) for text in prompts):
                _mark(call, needle)


def _mark(call: ToolCall, text: str) -> None:
    if call.seen is None:
        call.seen = text
    if call.state == "fired":
        call.state = "seen"
