"""The anthropic client in a user's own loop, offline through its own transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import anthropic
import pytest

import neverempty as ne
from neverempty.integrations import anthropic as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks


def _search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


@pytest.fixture(params=["result", "native"])
def search(request: pytest.FixtureRequest) -> Any:
    return ne.wrap(_search, "search", returns=request.param)


class Server:
    """Answers as a model would that calls the tool once; keeps what it was sent."""

    def __init__(self, says: Callable[[str], str]) -> None:
        self.says = says
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: Any) -> tuple[dict[str, Any], bool]:
        body = json.loads(request.content)
        self.requests.append(body)
        last = body["messages"][-1]["content"]
        block: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": "search", "input": {"city": "Riga"}}
        if not isinstance(last, str):
            block = {"type": "text", "text": self.says(last[0]["content"])}
        usage = {"input_tokens": 7, "output_tokens": 2}
        base = {"id": "m1", "type": "message", "role": "assistant", "model": "large-1", "usage": usage}
        whole = {**base, "content": [block], "stop_reason": "end_turn", "stop_sequence": None}
        return whole, bool(body.get("stream"))


def _events(whole: dict[str, Any]) -> str:
    """Write a message as the server-sent events of a stream."""
    (block,) = whole["content"]
    if block["type"] == "text":
        begun: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in block["text"].partition(" ")]
    else:
        begun = {**block, "input": {}}
        text = json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in (text[:5], text[5:])]
    events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


@pytest.fixture
def server(says) -> Server:
    return Server(says)


def _loop(client: Any, tool: Any) -> Callable[..., Any]:
    def agent(case: Any, tracer: Any) -> str:
        messages = list(case.messages)
        while True:
            message = client.messages.create(
                model="m", max_tokens=99, system="Be brief.", messages=messages, tools=bound.functions([tool])
            )
            results = bound.tool_results(message, [tool])
            if not results:
                return str(message.content[0].text)
            messages += [{"role": "assistant", "content": message.content}, *results]

    return agent


def _async_loop(client: Any, tool: Any) -> Callable[..., Any]:
    async def agent(case: Any, tracer: Any) -> str:
        messages = list(case.messages)
        while True:
            message = await client.messages.create(model="m", max_tokens=99, messages=messages)
            results = await bound.atool_results(message, [tool])
            if not results:
                return str(message.content[0].text)
            messages += [{"role": "assistant", "content": message.content}, *results]

    return agent


@pytest.fixture
def client(server, transport) -> Any:
    http = transport("anthropic", server, _events, is_async=False)
    return bound.wrap(anthropic.Anthropic(api_key="none", http_client=http))


@pytest.fixture(params=["sync", "async"])
def agent(request: pytest.FixtureRequest, client, server, transport, search) -> Callable[..., Any]:
    if request.param == "sync":
        return _loop(client, search)
    http = transport("anthropic", server, _events, is_async=True)
    return _async_loop(bound.wrap(anthropic.AsyncAnthropic(api_key="none", http_client=http)), search)


def test_every_presentation_reaches_the_model_and_is_judged(agent, misreports):
    assert misreports(agent) == {
        "typed": "pass",
        "raised": "pass",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


def test_a_tool_that_says_that_it_failed_gives_a_block_with_the_flag(client, shown, server):
    calls = shown(_loop(client, ne.wrap(_search, "search")))
    assert {call.state for call in calls.values()} == {"seen"}
    blocks = [body["messages"][-1]["content"][0] for body in server.requests if len(body["messages"]) == 3]
    assert [block.get("is_error") for block in blocks] == [True, True, True, None, None]
    assert [block["content"] for block in blocks][1:] == [
        "Error executing tool search: TimeoutError: the request timed out after 30 seconds",
        "search failed: the request timed out after 30 seconds",
        '{"success": false, "error": "the request timed out after 30 seconds"}',
        "[]",
    ]
    assert [call.seen for call in calls.values()] == [block["content"] for block in blocks]


def test_the_text_of_a_typed_error_in_a_native_tool_carries_no_flag(client, shown, server):
    shown(_loop(client, ne.wrap(_search, "search", returns="native")))
    blocks = [body["messages"][-1]["content"][0] for body in server.requests if len(body["messages"]) == 3]
    assert [block.get("is_error") for block in blocks] == [None, True, True, None, None]


def test_a_replay_gives_the_recorded_replies_to_the_same_code(agent, make_case, server, tmp_path):
    path = tmp_path / "replies.jsonl"
    arms = ["typed", "flagged", "swallowed"]
    live = run(agent, [make_case()], arms=arms, record=path)
    asked = len(server.requests)
    replayed = run(agent, [make_case()], arms=arms, replay=path)
    assert list(replayed["status"]) == ["ok"] * 3
    assert list(replayed["answer"]) == list(live["answer"])
    assert list(replayed["fault_state"]) == ["seen"] * 3
    assert len(server.requests) == asked == 6


def test_usage_model_and_conversation_stand_in_the_trace(client, search, make_case):
    row = run(_loop(client, search), [make_case()], arms=["raised"]).iloc[0]
    assert (row["input_tokens"], row["output_tokens"], row["resolved_model"]) == (14, 4, "large-1")
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    assert row["messages"][2]["tool_calls"][0]["function"] == {
        "name": "search",
        "arguments": '{"city": "Riga"}',
    }
    assert row["messages"][3]["status"] == "error"


@pytest.mark.parametrize("wanted", ["text", "tool_use"])
def test_a_stream_is_handed_on_live_and_in_a_replay(client, make_case, server, tmp_path, wanted):
    def agent(case: Any, tracer: Any) -> str:
        said: list[Any] = [{"role": "user", "content": case.prompt}]
        if wanted == "text":
            said = [
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "[]"}]}
            ]
        stream = client.messages.create(model="m", max_tokens=9, messages=said, stream=True)
        deltas = [event.delta for event in stream if event.type == "content_block_delta"]
        return "".join(delta.text if wanted == "text" else delta.partial_json for delta in deltas)

    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case(kind=None)], record=path).iloc[0]
    text = "There are no welding jobs in Riga." if wanted == "text" else '{"city": "Riga"}'
    assert (live["answer"], live["input_tokens"], live["output_tokens"]) == (text, 7, 5)
    assert bool(live["messages"][-1].get("tool_calls")) == (wanted == "tool_use")
    assert run(agent, [make_case(kind=None)], replay=path).iloc[0]["answer"] == text
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, asked: client.messages.stream(**asked),
        lambda client, asked: client.messages.with_raw_response.create(**asked),
        lambda client, asked: client.beta.messages.create(**asked),
        lambda client, asked: client.beta.messages.tool_runner(**asked, tools=[]),
    ],
)
def test_a_way_around_the_seam_is_refused_inside_a_run(client, make_case, server, ask):
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    row = run(lambda case, tracer: str(ask(client, asked)), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert "would bypass the seam of the run" in row["terminal_reason"]
    assert server.requests == []


def test_outside_of_a_run_the_copy_is_like_the_client_and_the_client_is_left_alone(transport, server):
    http = transport("anthropic", server, _events, is_async=False)
    plain = anthropic.Anthropic(api_key="none", http_client=http)
    copy = bound.wrap(plain)
    assert "create" not in vars(plain.messages)
    said = [{"role": "user", "content": "Hi"}]
    for one in (plain, copy):
        assert one.messages.create(model="m", max_tokens=9, messages=said).content[0].id == "c1"
        with one.messages.stream(model="m", max_tokens=9, messages=said) as stream:
            assert stream.get_final_message().content[0].name == "search"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ('{"content": [{"type": "text", "text": "no"}], "isError": true}', ("no", True)),
        ('{"content": [{"type": "text", "text": "yes"}], "isError": false}', None),
        ('{"content": "broken', None),
        ('{"content": 3}', None),
        ("\ud835\x00<b>", None),
    ],
)
def test_the_result_of_a_failed_mcp_call_hands_its_flag_on(text, block):
    tool = ne.wrap(lambda: text, "fetch", returns="native")
    asked = SimpleNamespace(content=[SimpleNamespace(type="tool_use", name="fetch", input={}, id="c1")])
    ((result,),) = [message["content"] for message in bound.tool_results(asked, [tool])]
    assert (result["content"], result.get("is_error")) == (block or (text, None))
    assert bound.tool_results(SimpleNamespace(content=[]), [tool]) == []


def test_an_asynchronous_tool_is_awaited_and_refused_where_it_cannot_be():
    async def slow() -> str:
        return "Welder"

    tool = ne.wrap(slow, "fetch", returns="native")
    asked = SimpleNamespace(content=[SimpleNamespace(type="tool_use", name="fetch", input={}, id="c1")])
    (message,) = asyncio.run(bound.atool_results(asked, [tool]))
    assert message["content"][0]["content"] == "Welder"
    with pytest.raises(ne.UsageError, match="await atool_results"):
        bound.tool_results(asked, [tool])
    with pytest.raises(ne.UsageError, match="no message"):
        bound.tool_results("text", [tool])
