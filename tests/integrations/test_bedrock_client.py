"""The boto3 client of Bedrock's Converse in a user's own loop, answered below its own serializers."""

from __future__ import annotations

import asyncio
import io
import json
import struct
import zlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse

import neverempty as ne
from neverempty.integrations import bedrock as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_MODEL = "some.large-v1:0"


def _search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


@pytest.fixture(params=["result", "native"])
def search(request: pytest.FixtureRequest) -> Any:
    return ne.wrap(_search, "search", returns=request.param)


class Raw(io.BytesIO):
    """A body as the connection would give it."""

    def stream(self, amt: int = 1024, decode_content: bool = False) -> Any:
        return iter(lambda: self.read(amt), b"")


def _event(kind: str, body: dict[str, Any]) -> bytes:
    """Write one event in the binary framing of the service's streams."""
    headers = b""
    for name, value in ((":message-type", "event"), (":event-type", kind), (":content-type", "text/json")):
        headers += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value))
        headers += value.encode()
    payload = json.dumps(body).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", zlib.crc32(message))


def _events(block: dict[str, Any], usage: dict[str, int]) -> bytes:
    at = {"contentBlockIndex": 0}
    if "text" in block:
        deltas: list[Any] = [{"text": part} for part in block["text"].partition(" ")]
        begun = b""
    else:
        use = {key: block["toolUse"][key] for key in ("toolUseId", "name")}
        text = json.dumps(block["toolUse"]["input"])
        deltas = [{"toolUse": {"input": part}} for part in (text[:5], text[5:])]
        begun = _event("contentBlockStart", {**at, "start": {"toolUse": use}})
    return b"".join(
        [
            _event("messageStart", {"role": "assistant"}),
            begun,
            *(_event("contentBlockDelta", {**at, "delta": delta}) for delta in deltas),
            _event("contentBlockStop", at),
            _event("messageStop", {"stopReason": "end_turn"}),
            _event("metadata", {"usage": usage, "metrics": {"latencyMs": 3}}),
        ]
    )


class Server:
    """Answers as a model would that calls the tool once; keeps what it was sent."""

    def __init__(self, says: Callable[[str], str]) -> None:
        self.says = says
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        body = json.loads(request.body)
        self.requests.append(body)
        last = body["messages"][-1]["content"][0]
        block: dict[str, Any] = {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"city": "Riga"}}}
        if "toolResult" in last:
            block = {"text": self.says(last["toolResult"]["content"][0]["text"])}
        usage = {"inputTokens": 7, "outputTokens": 2, "totalTokens": 9}
        if request.url.endswith("converse-stream"):
            kind = {"content-type": "application/vnd.amazon.eventstream"}
            return AWSResponse(request.url, 200, kind, Raw(_events(block, usage)))
        whole = {
            "output": {"message": {"role": "assistant", "content": [block]}},
            "stopReason": "end_turn",
            "usage": usage,
            "metrics": {"latencyMs": 3},
        }
        kind = {"content-type": "application/json"}
        return AWSResponse(request.url, 200, kind, Raw(json.dumps(whole).encode()))


@pytest.fixture
def server(says) -> Server:
    return Server(says)


@pytest.fixture
def plain(server) -> Any:
    client = boto3.client(
        "bedrock-runtime", region_name="eu-west-1", aws_access_key_id="none", aws_secret_access_key="none"
    )
    client.meta.events.register("before-send.bedrock-runtime.*", server)
    return client


@pytest.fixture
def client(plain) -> Any:
    return bound.wrap(plain)


def _messages(case: Any) -> list[dict[str, Any]]:
    return [{"role": said["role"], "content": [{"text": said["content"]}]} for said in case.messages]


def _loop(client: Any, tool: Any) -> Callable[..., Any]:
    def agent(case: Any, tracer: Any) -> str:
        messages = _messages(case)
        while True:
            response = client.converse(
                modelId=_MODEL,
                system=[{"text": "Be brief."}],
                messages=messages,
                toolConfig={"tools": bound.functions([tool])},
            )
            results = bound.tool_results(response, [tool])
            if not results:
                return str(response["output"]["message"]["content"][0]["text"])
            messages += [response["output"]["message"], *results]

    return agent


def _async_loop(client: Any, tool: Any) -> Callable[..., Any]:
    async def agent(case: Any, tracer: Any) -> str:
        messages = _messages(case)
        while True:
            response = await asyncio.to_thread(client.converse, modelId=_MODEL, messages=messages)
            results = await bound.atool_results(response, [tool])
            if not results:
                return str(response["output"]["message"]["content"][0]["text"])
            messages += [response["output"]["message"], *results]

    return agent


@pytest.fixture(params=[_loop, _async_loop])
def agent(request: pytest.FixtureRequest, client, search) -> Callable[..., Any]:
    made: Callable[..., Any] = request.param(client, search)
    return made


def _results(server: Server) -> list[dict[str, Any]]:
    """List the tool results that the model was sent."""
    last = [body["messages"][-1]["content"][0] for body in server.requests]
    return [block["toolResult"] for block in last if "toolResult" in block]


def test_every_presentation_reaches_the_model_and_is_judged(agent, misreports):
    assert misreports(agent) == {
        "typed": "pass",
        "raised": "pass",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


def test_a_tool_that_says_that_it_failed_gives_a_result_of_status_error(client, shown, server):
    calls = shown(_loop(client, ne.wrap(_search, "search")))
    assert {call.state for call in calls.values()} == {"seen"}
    results = _results(server)
    assert [result.get("status") for result in results] == ["error", "error", "error", None, None]
    texts = [result["content"][0]["text"] for result in results]
    assert texts[1:] == [
        "Error executing tool search: TimeoutError: the request timed out after 30 seconds",
        "search failed: the request timed out after 30 seconds",
        '{"success": false, "error": "the request timed out after 30 seconds"}',
        "[]",
    ]
    assert [call.seen for call in calls.values()] == texts


def test_the_text_of_a_typed_error_in_a_native_tool_has_no_status(client, shown, server):
    shown(_loop(client, ne.wrap(_search, "search", returns="native")))
    assert [result.get("status") for result in _results(server)] == [None, "error", "error", None, None]


def test_a_replay_gives_the_recorded_replies_to_the_same_code(agent, make_case, server, tmp_path):
    path = tmp_path / "replies.jsonl"
    arms = ["typed", "flagged", "swallowed"]
    live = run(agent, [make_case()], arms=arms, record=path)
    replayed = run(agent, [make_case()], arms=arms, replay=path)
    assert list(replayed["status"]) == ["ok"] * 3
    assert list(replayed["answer"]) == list(live["answer"])
    assert list(replayed["fault_state"]) == ["seen"] * 3
    assert len(server.requests) == 6


def test_usage_model_and_conversation_stand_in_the_trace(client, search, make_case):
    row = run(_loop(client, search), [make_case()], arms=["raised"]).iloc[0]
    assert (row["input_tokens"], row["output_tokens"], row["resolved_model"]) == (14, 4, _MODEL)
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    function = {"name": "search", "arguments": '{"city": "Riga"}'}
    assert row["messages"][2]["tool_calls"][0]["function"] == function
    assert row["messages"][3]["status"] == "error"


def test_pictures_and_hostile_texts_are_recorded_and_replayed(client, server, make_case, tmp_path):
    odd = "\x00 <b>NaN</b> \u2028 {city}"
    server.says = lambda text: text + odd

    def agent(case: Any, tracer: Any) -> str:
        image = {"image": {"format": "png", "source": {"bytes": b"\x89PNG\x00\xff"}}}
        result = {"toolUseId": "c1", "content": [{"text": odd}, {"json": {"left": None}}]}
        messages = [
            {"role": "user", "content": [{"text": "What is this?"}, image]},
            {"role": "user", "content": [{"toolResult": result}, {"text": "Well?"}]},
        ]
        response = client.converse(modelId=_MODEL, messages=messages)
        return str(response["output"]["message"]["content"][0]["text"])

    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case(kind=None)], record=path).iloc[0]
    assert (live["status"], live["answer"]) == ("ok", odd + odd)
    assert [message["role"] for message in live["messages"]] == ["user", "tool", "user", "assistant"]
    assert live["messages"][1]["content"] == odd + '\n{"left": null}'
    assert run(agent, [make_case(kind=None)], replay=path).iloc[0]["answer"] == live["answer"]
    assert len(server.requests) == 1


def _joined(stream: Any) -> dict[str, Any]:
    """Put a message together from a stream, as a user's own code does."""
    block: dict[str, Any] = {}
    for event in stream:
        if "contentBlockStart" in event:
            block = {"toolUse": {**event["contentBlockStart"]["start"]["toolUse"], "input": ""}}
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        if "text" in delta:
            block["text"] = block.get("text", "") + delta["text"]
        elif "toolUse" in delta:
            block["toolUse"]["input"] += delta["toolUse"]["input"]
    if "toolUse" in block:
        block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return {"role": "assistant", "content": [block]}


def test_a_stream_is_handed_on_live_and_in_a_replay(client, search, make_case, server, tmp_path):
    def agent(case: Any, tracer: Any) -> str:
        messages = _messages(case)
        while True:
            with client.converse_stream(modelId=_MODEL, messages=messages)["stream"] as stream:
                message = _joined(stream)
            results = bound.tool_results(message, [search])
            if not results:
                return str(message["content"][0]["text"])
            messages += [message, *results]

    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case()], arms=["swallowed"], record=path).iloc[0]
    assert (live["answer"], live["fault_state"]) == ("There are no welding jobs in Riga.", "seen")
    assert (live["input_tokens"], live["output_tokens"], live["resolved_model"]) == (14, 4, _MODEL)
    assert live["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"city": "Riga"}'
    assert run(agent, [make_case()], arms=["swallowed"], replay=path).iloc[0]["answer"] == live["answer"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("method", ["invoke_model", "invoke_model_with_response_stream"])
def test_a_way_around_the_seam_is_refused_inside_a_run(client, make_case, server, method):
    row = run(lambda case, tracer: str(getattr(client, method)(modelId=_MODEL)), [make_case(kind=None)]).iloc[
        0
    ]
    assert row["status"] == "harness_error"
    assert f"{method}() would bypass the seam of the run" in row["terminal_reason"]
    assert server.requests == []


def test_outside_of_a_run_the_copy_is_like_the_client_and_the_client_is_left_alone(plain, client):
    assert isinstance(client, type(plain))
    assert "converse" not in vars(plain)
    said = [{"role": "user", "content": [{"text": "Hi"}]}]
    for one in (plain, client):
        response = one.converse(modelId=_MODEL, messages=said)
        assert response["ResponseMetadata"]["HTTPStatusCode"] == 200
        streamed = one.converse_stream(modelId=_MODEL, messages=said)
        assert streamed["ResponseMetadata"]["HTTPStatusCode"] == 200
        assert _joined(streamed["stream"]) == response["output"]["message"]
    with pytest.raises(AttributeError, match="has no attribute 'converze'"):
        _ = client.converze


@pytest.mark.parametrize("client", [None, object(), {"converse": 1}, SimpleNamespace(meta=None)])
def test_what_is_no_such_client_is_refused(client):
    with pytest.raises(ne.UsageError, match=r"no client for Bedrock's models; give boto3\.client"):
        bound.wrap(client)


def test_a_client_of_another_service_or_an_asynchronous_one_is_refused(plain):
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    with pytest.raises(ne.UsageError, match="S3 is no client"):
        bound.wrap(boto3.client("s3", region_name="eu-west-1", **keys))

    async def call(*_: Any) -> None:
        """Stand for what the asynchronous libraries put here."""

    plain._make_api_call = call
    with pytest.raises(ne.UsageError, match="asynchronous client"):
        bound.wrap(plain)
