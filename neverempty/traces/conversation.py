"""The conversation of one repeat: model calls through the run's seam, their usage, and what was read."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from neverempty._errors import UsageError
from neverempty._io import jsonable
from neverempty.faults.spec import Arm
from neverempty.traces.active import TraceClosedError
from neverempty.traces.model import ToolCall
from neverempty.traces.seam import ModelReply, ModelRequest, Seam, mark_seen


class Conversation:
    """The model's side of a tracer; see `neverempty.traces.tracer.Tracer`."""

    __slots__ = (
        "_lock",
        "_raised",
        "arm",
        "calls",
        "case",
        "closed",
        "messages",
        "model_calls",
        "repeat",
        "seam",
        "usages",
    )  # fmt: skip

    def __init__(self, case: Any, arm: Arm, repeat: int, seam: Seam | None) -> None:
        self.case = case
        self.arm = arm
        self.repeat = repeat
        self.seam = seam
        self.calls: list[ToolCall] = []
        self.messages: list[dict[str, Any]] = []
        self.usages: list[tuple[str | None, int | None, int | None]] = []
        self.closed = False
        self._lock = threading.Lock()
        self._raised: dict[int, str] | None = None
        self.model_calls = 0

    async def model_call(
        self,
        messages: Sequence[Any],
        tools: Any = None,
        params: Mapping[str, Any] | None = None,
        *,
        call: Callable[[Sequence[Any], Any, Mapping[str, Any]], ModelReply | Awaitable[ModelReply]],
    ) -> ModelReply:
        """Ask the model through the seam, where a run records, replays and counts.

        Parameters
        ----------
        messages : sequence of dict
            The conversation so far.
        tools : object, optional
            The tools offered.
        params : dict, optional
            Temperature and the like.
        call : callable
            ``call(messages, tools, params)`` does the live request and returns a `ModelReply`, at once or
            awaitable. It is not called in a replay.

        Returns
        -------
        ModelReply
            The live or the recorded reply.

        Raises
        ------
        TraceClosedError
            Where the repeat is over.
        """
        request, reply = self._ask(messages, tools, params)
        if reply is None:
            answer = call(messages, tools, request.params)
            reply = self._live(request, await answer if inspect.isawaitable(answer) else answer)
        self._heard(request, reply)
        return reply

    def model_call_sync(
        self,
        messages: Sequence[Any],
        tools: Any = None,
        params: Mapping[str, Any] | None = None,
        *,
        call: Callable[[Sequence[Any], Any, Mapping[str, Any]], ModelReply],
    ) -> ModelReply:
        """Ask the model through the seam from synchronous code; see `model_call`.

        Parameters
        ----------
        messages, tools, params
            As in `model_call`.
        call : callable
            Does the live request and returns a `ModelReply`.

        Returns
        -------
        ModelReply
            The live or the recorded reply.
        """
        request, reply = self._ask(messages, tools, params)
        if reply is None:
            reply = self._live(request, call(messages, tools, request.params))
        self._heard(request, reply)
        return reply

    def _ask(
        self, messages: Sequence[Any], tools: Any, params: Mapping[str, Any] | None
    ) -> tuple[ModelRequest, ModelReply | None]:
        with self._lock:
            if self.closed:
                raise self.over("the model")
            request = ModelRequest(self.model_calls, messages, tools, params or {})
            self.model_calls += 1
        return request, None if self.seam is None else self.seam.before(request)

    def _live(self, request: ModelRequest, reply: Any) -> ModelReply:
        if not isinstance(reply, Mapping):
            raise UsageError(
                f"the call given to model_call returned {type(reply).__name__}; return a dict with content, "
                "tool_calls, model, input_tokens, output_tokens, finish_reason"
            )
        found: ModelReply = reply  # type: ignore[assignment]  # any mapping with these keys will do
        if self.seam is not None:
            self.seam.after(request, found)
        return found

    def _heard(self, request: ModelRequest, reply: ModelReply) -> None:
        answer: dict[str, Any] = {"role": "assistant", "content": reply.get("content")}
        if reply.get("tool_calls"):
            answer["tool_calls"] = reply.get("tool_calls")
        said = [dict(item) if isinstance(item, Mapping) else jsonable(item) for item in request.messages]
        with self._lock:
            if self.closed:
                return
            self.messages = [*said, answer]
            mark_seen(self.calls, said, self._raised or {})
        self.usage(reply.get("model"), reply.get("input_tokens"), reply.get("output_tokens"))

    def usage(self, model: str | None, input_tokens: int | None, output_tokens: int | None) -> None:
        """Write down what a model call used; `model_call` does it by itself.

        Parameters
        ----------
        model : str or None
            The model that answered.
        input_tokens, output_tokens : int or None
            None where unknown, which makes the trace's sum unknown too.
        """
        with self._lock:
            if not self.closed:
                self.usages.append((model, input_tokens, output_tokens))

    def over(self, what: str) -> TraceClosedError:
        """Make the error for a call that comes after the end.

        Parameters
        ----------
        what : str
            What was called.

        Returns
        -------
        TraceClosedError
            To be raised.
        """
        return TraceClosedError(
            f"{what} was called for case {self.case.id!r} (arm {self.arm.name!r}, repeat {self.repeat}) "
            "after this repeat had ended; nothing was done or recorded"
        )
