"""Model calls through the tracer: recording, usage, and which tool results the model has read."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty._errors import UsageError
from neverempty.faults import Arm, FaultPlan
from neverempty.traces.tracer import ModelReply, ModelRequest, TraceClosedError, Tracer

LONG = '{"status": "error", "kind": "timeout", "note": "it failed"}'
TEXT_PART = {"type": "text", "text": LONG}
KEYS = ["role", "content", "type", "text"]
REPLY: ModelReply = {
    "content": "hello",
    "tool_calls": [],
    "model": "m-1",
    "input_tokens": 5,
    "output_tokens": 2,
    "finish_reason": "stop",
}


class Seam:
    """A seam that notes what passes, and answers from a list as long as that lasts."""

    def __init__(self, *recorded: ModelReply) -> None:
        self.recorded = list(recorded)
        self.asked: list[ModelRequest] = []
        self.answered: list[ModelReply] = []

    def before(self, request: ModelRequest) -> ModelReply | None:
        self.asked.append(request)
        return self.recorded.pop(0) if self.recorded else None

    def after(self, request: ModelRequest, reply: ModelReply) -> None:
        self.answered.append(reply)


def make(seam: Seam | None = None) -> Tracer:
    return Tracer(SimpleNamespace(suite="s", id="c1"), Arm.of("typed"), plan=FaultPlan(), seam=seam)


def live(messages: Any, tools: Any, params: Any) -> ModelReply:
    return REPLY


def called(tracer: Tracer, returned: str | None = LONG, call_id: str | None = None, **end: Any) -> Any:
    call = tracer.begin("search", {}, call_id)
    tracer.finish(call, "error", returned, "timeout", 1.0, 1, "fired", "tool", "typed", **end)
    return call


def tool_message(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": text} | more


# ------------------------------------------------------------------------------------------------ the seam


def test_a_live_call_passes_the_seam_and_is_written_down() -> None:
    seam = Seam()
    tracer = make(seam)
    messages = [{"role": "user", "content": "hi"}]
    seen: list[Any] = []

    async def call(messages: Any, tools: Any, params: Any) -> ModelReply:
        seen.append((messages, tools, params))
        return REPLY

    async def main() -> ModelReply:
        return await tracer.model_call(messages, ["t"], {"temperature": 0}, call=call)

    assert asyncio.run(main()) == REPLY
    assert seen == [(messages, ["t"], {"temperature": 0})]
    assert [(request.index, request.params) for request in seam.asked] == [(0, {"temperature": 0})]
    assert seam.answered == [REPLY]
    assert tracer.usages == [("m-1", 5, 2)]
    assert tracer.messages == [*messages, {"role": "assistant", "content": "hello"}]
    messages[0]["content"] = "changed later"
    assert tracer.messages[0] == {"role": "user", "content": "hi"}


def test_a_recorded_reply_replaces_the_live_call() -> None:
    seam = Seam(REPLY)
    tracer = make(seam)

    def never(*_: Any) -> ModelReply:
        raise AssertionError("a live call in a replay")

    assert tracer.model_call_sync([], call=never) == REPLY
    assert asyncio.run(make(Seam(REPLY)).model_call([], call=never)) == REPLY
    assert seam.answered == []
    assert tracer.usages == [("m-1", 5, 2)]


def test_a_seam_that_stops_the_call_stops_it() -> None:
    class Stop(Seam):
        def before(self, request: ModelRequest) -> ModelReply | None:
            raise KeyboardInterrupt

    tracer = make(Stop())
    call = called(tracer)
    with pytest.raises(KeyboardInterrupt):
        tracer.model_call_sync([tool_message(LONG)], call=live)
    assert (call.state, tracer.usages) == ("fired", [])


def test_a_model_call_may_be_answered_at_once_or_awaitable() -> None:
    assert asyncio.run(make().model_call([], call=live)) == REPLY


def test_unknown_usage_is_noted_as_unknown_not_as_nothing() -> None:
    tracer = make()
    tracer.model_call_sync([], call=lambda *_: {"content": "x"})
    assert tracer.usages == [(None, None, None)]


def test_a_reply_of_another_shape_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match="returned str; return a dict"):
        make().model_call_sync([], call=lambda *_: "hello")  # type: ignore[arg-type,return-value]


def test_tool_calls_of_the_reply_stand_in_the_conversation() -> None:
    tracer = make()
    asked = [{"id": "1", "function": {"name": "search", "arguments": "{}"}}]
    tracer.model_call_sync([], call=lambda *_: {"content": None, "tool_calls": asked})
    assert tracer.messages == [{"role": "assistant", "content": None, "tool_calls": asked}]


def test_after_the_end_no_model_is_asked() -> None:
    tracer = make()
    tracer.close()
    with pytest.raises(TraceClosedError, match="the model was called"):
        tracer.model_call_sync([], call=live)


def test_a_reply_that_comes_after_the_end_is_dropped() -> None:
    tracer = make()

    def slow(*_: Any) -> ModelReply:
        tracer.close()
        return REPLY

    assert tracer.model_call_sync([], call=slow) == REPLY
    assert (tracer.messages, tracer.usages) == ([], [])


# ---------------------------------------------------------------------------------------- what was read


@pytest.mark.parametrize(
    "message",
    [
        tool_message(LONG),
        tool_message(f"Observation: {LONG}\n"),
        tool_message([{"type": "text", "text": LONG}]),
        tool_message(json.dumps({"result": LONG})),
        {"type": "tool", "content": LONG, "tool_call_id": "x"},
        {"role": "function", "name": "search", "content": LONG},
        {"type": "function_call_output", "call_id": "x", "output": LONG},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": LONG}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": [TEXT_PART]}]},
        {"role": "user", "content": f"Q: cooks in Pune?\nTool: {LONG}\nA:"},
    ],
)  # fmt: skip
def test_a_result_that_stands_in_what_the_model_was_sent_was_seen(message: dict[str, Any]) -> None:
    tracer = make()
    call = called(tracer)
    tracer.model_call_sync([{"role": "user", "content": "hi"}, message], call=live)
    assert call.state == "seen"
    assert "it failed" in call.seen


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": LONG},
        tool_message("something else"),
        tool_message(None),
        tool_message(LONG[:30]),
        "no message at all",
    ],
)
def test_a_result_that_stands_nowhere_was_not_seen(message: Any) -> None:
    tracer = make()
    call = called(tracer)
    tracer.model_call_sync([message], call=live)
    assert (call.state, call.seen) == ("fired", None)


@pytest.mark.parametrize("key", ["tool_call_id", "toolCallId"])
def test_the_calls_id_counts_whatever_the_framework_made_of_the_text(key: str) -> None:
    tracer = make()
    first, second = called(tracer, "[]", "id-1"), called(tracer, "[]", "id-2")
    tracer.model_call_sync([tool_message("Error: it broke", **{key: "id-2"})], call=live)
    assert (first.state, first.seen) == ("fired", None)
    assert (second.state, second.seen) == ("seen", "Error: it broke")


def test_a_short_result_must_be_the_whole_content() -> None:
    tracer = make()
    call = called(tracer, "[]")
    tracer.model_call_sync([tool_message('{"rows": []}'), {"role": "user", "content": "[]"}], call=live)
    assert call.state == "fired"
    tracer.model_call_sync([tool_message(" []\n")], call=live)
    assert (call.state, call.seen) == ("seen", " []\n")


def test_one_message_stands_for_one_call_only() -> None:
    tracer = make()
    first = called(tracer, "[]")
    tracer.model_call_sync([tool_message("[]")], call=live)
    second = called(tracer, "[]")
    tracer.model_call_sync([tool_message("[]")], call=live)
    assert (first.state, second.state) == ("seen", "fired")
    tracer.model_call_sync([tool_message("[]"), tool_message("[]")], call=live)
    assert second.state == "seen"


def test_a_raised_error_is_recognised_by_its_text() -> None:
    tracer = make()
    call = called(tracer, None, raised="the request timed out after 30 seconds")
    text = "Error: TimeoutError('the request timed out after 30 seconds')\n Please fix your mistakes."
    tracer.model_call_sync([tool_message(text)], call=live)
    assert (call.state, call.seen) == ("seen", text)


def test_a_clean_result_is_seen_but_has_no_fault_to_be_seen() -> None:
    tracer = make()
    call = tracer.begin("search", {})
    tracer.finish(call, "data", LONG, None, 1.0)
    tracer.model_call_sync([tool_message(LONG)], call=live)
    assert (call.state, call.seen) == ("none", LONG)


def test_a_failed_model_call_has_read_nothing() -> None:
    def broken(*_: Any) -> ModelReply:
        raise ConnectionError

    tracer = make()
    call = called(tracer)
    with pytest.raises(ConnectionError):
        tracer.model_call_sync([tool_message(LONG)], call=broken)
    assert call.state == "fired"


@given(st.recursive(
    st.none() | st.text() | st.integers() | st.sampled_from(["tool", "user", LONG]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
))  # fmt: skip
def test_messages_of_any_shape_do_not_break_a_trace(message: Any) -> None:
    tracer = make()
    call = called(tracer)
    tracer.model_call_sync([message], call=live)
    assert len(tracer.messages) == 2
    assert call.state in ("fired", "seen")
