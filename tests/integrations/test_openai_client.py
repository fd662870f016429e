"""The openai client in a user's own loop, chat completions and Responses, offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import openai
import pytest
from pydantic import BaseModel

import neverempty as ne
from neverempty.integrations import openai as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_CALL = {"name": "search", "arguments": '{"city": "Riga"}'}


def _search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


@pytest.fixture(params=["result", "native"])
def search(request: pytest.FixtureRequest) -> Any:
    return ne.wrap(_search, "search", returns=request.param)


class Server:
    """Answers both interfaces as a model would that calls the tool once; keeps what it was sent."""

    def __init__(self, says: Callable[[str], str]) -> None:
        self.says = says
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: Any) -> tuple[dict[str, Any] | str, bool]:
        body = json.loads(request.content)
        self.requests.append(body)
        made = self._chat(body) if "messages" in body else self._response(body)
        return made, bool(body.get("stream"))

    def _chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        last = body["messages"][-1]
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if last["role"] == "tool":
            message["content"] = self.says(last["content"])
        else:
            message["tool_calls"] = [{"id": "c1", "type": "function", "function": _CALL}]
        usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        base = {"id": "x", "created": 1, "model": "small-1", "usage": usage}
        return {**base, "object": "chat.completion", "choices": [choice]}

    def _response(self, body: Mapping[str, Any]) -> dict[str, Any]:
        last = {} if isinstance(body["input"], str) else body["input"][-1]
        item: dict[str, Any] = {
            "type": "function_call",
            "id": "f1",
            "call_id": "c1",
            "status": "completed",
            **_CALL,
        }
        if last.get("type") == "function_call_output":
            text = {"type": "output_text", "annotations": [], "text": self.says(last["output"])}
            item = {
                "type": "message",
                "id": "m1",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        usage = {
            "input_tokens": 7,
            "output_tokens": 2,
            "total_tokens": 9,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        base = {"id": "r1", "created_at": 1, "model": "small-1", "status": "completed", "usage": usage}
        plain = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return {**base, **plain, "object": "response", "output": [item]}


def _events(whole: dict[str, Any]) -> str:
    """Write a response as the server-sent events of a stream."""
    if whole["object"] == "response":
        events = [{"type": "response.completed", "sequence_number": 0, "response": whole}]
    else:
        events = list(_chunks(whole))
    lines = [f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join([*lines, "data: [DONE]\n\n"])


def _chunks(whole: dict[str, Any]) -> Any:
    message = whole["choices"][0]["message"]
    base = {"id": "x", "created": 1, "model": "small-1", "object": "chat.completion.chunk"}
    deltas: list[dict[str, Any]] = [
        {"content": part} for part in (message["content"] or "").partition(" ") if part
    ]
    for at, call in enumerate(message.get("tool_calls", ())):
        half = len(call["function"]["arguments"]) // 2
        named = {"name": call["function"]["name"], "arguments": call["function"]["arguments"][:half]}
        deltas.append(
            {"tool_calls": [{"index": at, "id": call["id"], "type": "function", "function": named}]}
        )
        rest = {"arguments": call["function"]["arguments"][half:]}
        deltas.append({"tool_calls": [{"index": at, "function": rest}]})
    for delta in deltas:
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield {**base, "choices": [], "usage": whole["usage"]}


@pytest.fixture
def server(says) -> Server:
    return Server(says)


@pytest.fixture
def client(server, transport) -> Any:
    return bound.wrap(
        openai.OpenAI(api_key="none", http_client=transport("openai", server, _events, is_async=False))
    )


@pytest.fixture
def async_client(server, transport) -> Any:
    return bound.wrap(
        openai.AsyncOpenAI(api_key="none", http_client=transport("openai", server, _events, is_async=True))
    )


def _chat_agent(client: Any, tool: Any) -> Callable[..., Any]:
    def agent(case: Any, tracer: Any) -> str:
        messages = list(case.messages)
        while True:
            response = client.chat.completions.create(
                model="m", messages=messages, tools=bound.functions([tool])
            )
            results = bound.tool_results(response, [tool])
            if not results:
                return str(response.choices[0].message.content)
            messages += [response.choices[0].message, *results]

    return agent


def _responses_agent(client: Any, tool: Any) -> Callable[..., Any]:
    offered = bound.functions([tool], responses=True)

    async def agent(case: Any, tracer: Any) -> str:
        items = list(case.messages)
        while True:
            response = await client.responses.create(
                model="m", input=items, tools=offered, instructions="Be brief."
            )
            results = await bound.atool_results(response, [tool])
            if not results:
                return str(response.output_text)
            items += [*response.output, *results]

    return agent


@pytest.fixture(params=["chat", "responses"])
def agent(request: pytest.FixtureRequest, client, async_client, search) -> Callable[..., Any]:
    return _chat_agent(client, search) if request.param == "chat" else _responses_agent(async_client, search)


def test_every_presentation_reaches_the_model_and_is_judged(agent, misreports):
    assert misreports(agent) == {
        "typed": "pass",
        "raised": "pass",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


def test_the_interface_has_no_flag_and_the_model_reads_exactly_the_text_of_the_fault_table(
    agent, shown, server
):
    table = {row["presentation"]: row["text"] for row in ne.fault_table() if row["kind"] == "timeout"}
    calls = shown(agent)
    assert {arm: call.seen for arm, call in calls.items()} == table
    assert {call.state for call in calls.values()} == {"seen"}
    sent = [(body.get("messages") or body["input"])[-1] for body in server.requests]
    keys = {
        tuple(sorted(item)) for item in sent if item.get("type", item.get("role")) not in ("user", "message")
    }
    assert keys in ({("content", "role", "tool_call_id")}, {("call_id", "output", "type")})


def test_a_replay_gives_the_recorded_replies_to_the_same_code(agent, make_case, server, tmp_path):
    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case()], arms=["typed", "swallowed"], record=path)
    asked = len(server.requests)
    replayed = run(agent, [make_case()], arms=["typed", "swallowed"], replay=path)
    assert list(replayed["status"]) == ["ok", "ok"]
    assert list(replayed["answer"]) == list(live["answer"])
    assert list(replayed["fault_state"]) == ["seen", "seen"]
    assert len(server.requests) == asked == 4


def test_usage_model_and_conversation_stand_in_the_trace(agent, make_case):
    row = run(agent, [make_case()]).iloc[0]
    assert (row["input_tokens"], row["output_tokens"], row["resolved_model"]) == (14, 4, "small-1")
    said = [message for message in row["messages"] if message["role"] != "system"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant"]
    assert said[1]["tool_calls"][0]["function"]["name"] == "search"


@pytest.mark.parametrize("interface", ["chat", "responses"])
def test_a_stream_is_handed_on_live_and_in_a_replay(client, make_case, server, tmp_path, interface):
    def agent(case: Any, tracer: Any) -> str:
        if interface == "responses":
            with client.responses.create(model="m", input=case.prompt, stream=True) as stream:
                (event,) = list(stream)
            return str(event.response.output[0].name)
        stream = client.chat.completions.create(
            model="m",
            messages=[*case.messages, {"role": "tool", "tool_call_id": "c", "content": "[]"}],
            stream=True,
        )
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)

    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case(kind=None)], record=path).iloc[0]
    assert live["answer"] == ("There are no welding jobs in Riga." if interface == "chat" else "search")
    assert (live["input_tokens"], live["output_tokens"]) == (7, 2)
    assert run(agent, [make_case(kind=None)], replay=path).iloc[0]["answer"] == live["answer"]
    assert len(server.requests) == 1


def test_tool_calls_of_a_stream_are_put_together(client, make_case):
    def agent(case: Any, tracer: Any) -> str:
        for _ in client.chat.completions.create(model="m", messages=case.messages, stream=True):
            pass
        return "Done."

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert row["messages"][-1]["tool_calls"] == [{"id": "c1", "type": "function", "function": _CALL}]


def test_an_asynchronous_stream_is_handed_on(async_client, make_case, tmp_path):
    async def agent(case: Any, tracer: Any) -> str:
        said = [*case.messages, {"role": "tool", "tool_call_id": "c", "content": "[]"}]
        stream = await async_client.chat.completions.create(model="m", messages=said, stream=True)
        async with stream:
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case(kind=None)], record=path).iloc[0]
    assert live["answer"] == "There are no welding jobs in Riga."
    assert run(agent, [make_case(kind=None)], replay=path).iloc[0]["answer"] == live["answer"]


def test_what_the_server_remembers_stands_in_the_trace_too(client, make_case, search):
    def agent(case: Any, tracer: Any) -> str:
        first = client.responses.create(model="m", input=case.prompt)
        results = bound.tool_results(first, [search])
        second = client.responses.create(model="m", input=results, previous_response_id=first.id)
        return str(second.output_text)

    row = run(agent, [make_case()], arms=["swallowed"]).iloc[0]
    assert (row["answer"], row["fault_state"]) == ("There are no welding jobs in Riga.", "seen")
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.chat.completions.stream(model="m", messages=[]),
        lambda client: client.completions.create(model="m", prompt="Hi"),
        lambda client: client.responses.stream(model="m", input="Hi"),
    ],
)
def test_a_way_around_the_seam_is_refused_inside_a_run(client, make_case, server, ask):
    row = run(lambda case, tracer: str(ask(client)), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert "would bypass the seam" in row["terminal_reason"]
    assert server.requests == []


def test_a_raw_response_is_refused_inside_a_run(client, make_case, server):
    def agent(case: Any, tracer: Any) -> str:
        return str(client.chat.completions.with_raw_response.create(model="m", messages=case.messages))

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert server.requests == []


def test_outside_of_a_run_the_copy_is_like_the_client_and_the_client_is_left_alone(transport, server):
    plain = openai.OpenAI(api_key="none", http_client=transport("openai", server, _events, is_async=False))
    copy = bound.wrap(plain)
    assert "create" not in vars(plain.chat.completions)
    said = [{"role": "user", "content": "Hi"}]
    for one in (plain, copy):
        assert (
            one.chat.completions.create(model="m", messages=said).choices[0].message.tool_calls[0].id == "c1"
        )
        chunks = list(one.chat.completions.create(model="m", messages=said, stream=True))
        assert chunks[0].choices[0].delta.tool_calls[0].function.name == "search"


class Found(BaseModel):
    text: str


@pytest.mark.parametrize("interface", ["chat", "responses"])
def test_a_parsed_response_is_the_same_live_and_in_a_replay(make_case, transport, tmp_path, interface):
    server = Server(lambda text: '{"text": "There are no welding jobs in Riga."}')
    client = bound.wrap(
        openai.OpenAI(api_key="none", http_client=transport("openai", server, _events, is_async=False))
    )

    def agent(case: Any, tracer: Any) -> str:
        if interface == "chat":
            said = [*case.messages, {"role": "tool", "tool_call_id": "c", "content": "[]"}]
            parsed = client.chat.completions.parse(model="m", messages=said, response_format=Found)
            return str(parsed.choices[0].message.parsed.text)
        said = [{"type": "function_call_output", "call_id": "c", "output": "[]"}]
        return str(client.responses.parse(model="m", input=said, text_format=Found).output_parsed.text)

    path = tmp_path / "replies.jsonl"
    for source in ({"record": path}, {"replay": path}):
        row = run(agent, [make_case(kind=None)], **source).iloc[0]
        assert (row["answer"], row["input_tokens"]) == ("There are no welding jobs in Riga.", 7)
    assert len(server.requests) == 1


def test_a_copy_of_the_copy_goes_through_the_seam_too(client, make_case):
    def agent(case: Any, tracer: Any) -> str:
        patient = client.with_options(timeout=9).copy(max_retries=0)
        patient.chat.completions.create(model="m", messages=case.messages)
        return str(patient.max_retries)

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert (row["answer"], row["input_tokens"]) == ("0", 7)
