"""The chat agent: the tool-calling loop against scripted endpoints."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from neverempty._errors import UsageError
from neverempty.agents import OpenAIChatAgent
from neverempty.faults import Arm
from neverempty.running import run
from neverempty.tools import tool


def _messages(client: Any, turn: int = -1) -> list[dict[str, Any]]:
    return client.requests[turn]["messages"]


@pytest.mark.parametrize("is_async", [False, True])
def test_the_loop_calls_the_tool_shows_its_result_and_returns_the_answer(
    make_case, search, client, says, is_async
):
    fake = client(says(None, ("search", '{"city": "Riga"}')), says("One welder job."), is_async=is_async)
    row = run(OpenAIChatAgent(fake, "small", [search]), [make_case()]).iloc[0]
    assert (row["answer"], row["status"], row["terminal_reason"]) == ("One welder job.", "ok", "completed")
    (call,) = row["calls"]
    assert (call.tool, call.args, call.truth, call.call_id) == ("search", {"city": "Riga"}, "data", "c0")
    assert _messages(fake)[-1] == {"role": "tool", "tool_call_id": "c0", "content": call.returned}
    assert (row["input_tokens"], row["output_tokens"], row["resolved_model"]) == (20, 6, "small-1")


def test_a_fault_is_seen_by_the_model(make_case, search, client, says):
    fake = client(says(None, ("search", '{"city": "Riga"}')), says("The search failed."))
    row = run(OpenAIChatAgent(fake, "small", [search]), [make_case(kind="timeout")]).iloc[0]
    assert row["fault_state"] == "seen"
    assert row["calls"][0].seen == _messages(fake)[-1]["content"]
    assert json.loads(row["calls"][0].seen)["kind"] == "timeout"


def test_parallel_calls_are_made_in_the_order_of_the_reply(make_case, search, client, says):
    calls = [("search", json.dumps({"city": city})) for city in ("Riga", "Oslo", "Rome")]
    fake = client(says(None, *calls), says("Three jobs."))
    row = run(OpenAIChatAgent(fake, "small", [search]), [make_case()]).iloc[0]
    assert [call.args["city"] for call in row["calls"]] == ["Riga", "Oslo", "Rome"]
    assert [m["tool_call_id"] for m in _messages(fake) if m["role"] == "tool"] == ["c0", "c1", "c2"]


def test_asynchronous_tools_are_awaited(make_case, client, says):
    @tool()
    async def search(city: str) -> list[str]:
        """Find jobs."""
        return [city]

    fake = client(says(None, ("search", '{"city": "Riga"}')), says("Done."))
    row = run(OpenAIChatAgent(fake, "small", [search]), [make_case()]).iloc[0]
    assert row["calls"][0].truth == "data"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", '{"city": "Ri', "no JSON object"),
        ("search", '["Riga"]', "no JSON object"),
        ("search", '{"town": "Riga"}', "town"),
        ("find", '{"city": "Riga"}', "there is no tool 'find'; the tools are: search"),
        ("", "{}", "there is no tool ''"),
    ],
)
def test_a_call_that_cannot_be_made_is_a_tool_error_which_the_model_can_mend(
    make_case, search, client, says, name, arguments, said
):
    fake = client(says(None, (name, arguments)), says("Sorry."))
    row = run(OpenAIChatAgent(fake, "small", [search]), [make_case()]).iloc[0]
    (call,) = row["calls"]
    assert (row["status"], call.truth, call.kind) == ("ok", "error", "validation")
    shown = _messages(fake)[-1]["content"]
    assert json.loads(shown)["status"] == "error"
    assert said in shown


def test_arguments_that_a_server_sends_as_an_object_are_taken(make_case, search, client, says):
    fake = client(says(None, ("search", {"city": "Riga"})), says("One."))
    row = run(OpenAIChatAgent(fake, "small", [search]), [make_case()]).iloc[0]
    assert row["calls"][0].args == {"city": "Riga"}


def test_a_call_without_an_id_gets_one_that_its_result_carries(make_case, search, client, says):
    first = says(None, ("search", '{"city": "Riga"}'))
    first["choices"][0]["message"]["tool_calls"][0]["id"] = None
    fake = client(first, says("One."))
    run(OpenAIChatAgent(fake, "small", [search]), [make_case()])
    *_, asked, shown = _messages(fake)
    assert asked["tool_calls"][0]["id"] == shown["tool_call_id"]


def test_native_exceptions_and_values_become_texts(make_case, client, says):
    @tool(returns="native")
    def count(city: str) -> int:
        """Count jobs."""
        return 4

    @tool(returns="native")
    def broken() -> str:
        """Fail."""
        raise ConnectionError("refused")

    fake = client(says(None, ("count", '{"city": "Riga"}'), ("broken", "")), says("Hm."))
    run(OpenAIChatAgent(fake, "small", [count, broken]), [make_case()])
    texts = [m["content"] for m in _messages(fake) if m["role"] == "tool"]
    assert texts == ["4", "Error executing tool broken: ConnectionError: refused"]


def test_a_model_that_never_stops_calling_ends_at_max_turns(make_case, search, client, says):
    fake = client(says(None, ("search", '{"city": "Riga"}')))
    row = run(OpenAIChatAgent(fake, "small", [search], max_turns=3), [make_case()]).iloc[0]
    assert (row["terminal_reason"], len(fake.requests), len(row["calls"])) == ("max_turns", 3, 3)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_says_why(make_case, search, client, says, reason):
    row = run(OpenAIChatAgent(client(says("One w", finish=reason)), "small", [search]), [make_case()]).iloc[0]
    assert row["terminal_reason"] == reason


def test_a_conversation_with_earlier_turns_is_sent_whole(make_case, search, client, says):
    turns = [
        {"role": "user", "content": "Any jobs in Oslo?"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "And in Riga?"},
    ]
    fake = client(says("One too."))
    run(OpenAIChatAgent(fake, "small", [search], system="Be brief."), [make_case(input={"messages": turns})])
    assert _messages(fake) == [{"role": "system", "content": "Be brief."}, *turns]


def test_a_payload_is_asked_as_the_user(make_case, client, says):
    fake = client(says("One."))
    run(OpenAIChatAgent(fake, "small"), [make_case(input={"payload": "Any jobs?"})])
    assert _messages(fake) == [{"role": "user", "content": "Any jobs?"}]
    assert "tools" not in fake.requests[0]


def test_an_arm_brings_its_prompt_model_and_params(make_case, search, client, says):
    fake = client(says("One."))
    agent = OpenAIChatAgent(
        fake, "small", [search], system="A", params={"temperature": 1}, prompts={"strict": "Be strict."}
    )
    arms = [
        Arm(name="named", prompt="strict", model="large", params={"temperature": 0, "wording": "short"}),
        Arm(name="literal", prompt="Say it plainly."),
        Arm(name="own"),
    ]
    run(agent, [make_case()], arms=arms, concurrency=1)
    assert [request["messages"][0]["content"] for request in fake.requests] == [
        "Be strict.",
        "Say it plainly.",
        "A",
    ]
    assert [(r["model"], r["temperature"]) for r in fake.requests] == [
        ("large", 0),
        ("small", 1),
        ("small", 1),
    ]
    assert "wording" not in fake.requests[0]


def test_tools_are_offered_with_their_schema(make_case, search, client, says):
    fake = client(says("One."))
    run(OpenAIChatAgent(fake, "small", [search]), [make_case()])
    (offered,) = fake.requests[0]["tools"]
    assert offered["function"]["name"] == "search"
    assert offered["function"]["description"] == "Find jobs by city."
    assert offered["function"]["parameters"]["required"] == ["city"]


@pytest.mark.parametrize("response", [{}, {"choices": []}, "oops", None])
def test_a_reply_that_is_no_chat_completion_is_an_error_of_the_row(make_case, client, response):
    row = run(OpenAIChatAgent(client(response), "small"), [make_case()]).iloc[0]
    assert row["status"] == "agent_error"
    assert "chat-completions endpoint" in row["error_message"]


def test_objects_are_read_like_dicts(make_case, client):
    message = SimpleNamespace(content="Two.", tool_calls=None)
    response = SimpleNamespace(
        model="m", choices=[SimpleNamespace(message=message, finish_reason="stop")], usage=None
    )
    row = run(OpenAIChatAgent(client(response), "small"), [make_case()]).iloc[0]
    assert (row["answer"], row["resolved_model"]) == ("Two.", "m")


def test_a_replay_needs_no_client(make_case, search, client, says, tmp_path):
    fake = client(says(None, ("search", '{"city": "Riga"}')), says("One welder job."))
    live = run(OpenAIChatAgent(fake, "small", [search]), [make_case()], record=tmp_path / "r.jsonl")
    again = run(OpenAIChatAgent(None, "small", [search]), [make_case()], replay=tmp_path / "r.jsonl")
    assert again["answer"].tolist() == live["answer"].tolist() == ["One welder job."]


def test_a_budget_stops_the_loop(make_case, search, client, says):
    fake = client(says(None, ("search", '{"city": "Riga"}')))
    agent = OpenAIChatAgent(fake, "small", [search])
    with pytest.warns(UserWarning, match="budget_tokens of 20"):
        traces = run(agent, [make_case(str(at)) for at in range(4)], budget_tokens=20, concurrency=1)
    assert set(traces["status"]) == {"budget_stopped"}
    assert len(fake.requests) == 2


@pytest.mark.parametrize("turns", [0, -1])
def test_max_turns_below_one_is_refused(turns):
    with pytest.raises(UsageError, match="max_turns"):
        OpenAIChatAgent(None, "small", max_turns=turns)


def test_two_tools_of_one_name_are_refused(search):
    with pytest.raises(UsageError, match="two tools are called 'search'"):
        OpenAIChatAgent(None, "small", [search, search])


class _Endpoint(BaseHTTPRequestHandler):
    """Answers chat completions over HTTP: first a tool call, then a text that quotes the tool's result."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = request["messages"][-1]
        if last["role"] == "tool":
            message: dict[str, Any] = {"content": "The tool says " + json.loads(last["content"])["status"]}
        else:
            function = {"name": "search", "arguments": '{"city": "Riga"}'}
            message = {"content": None, "tool_calls": [{"id": "x", "type": "function", "function": function}]}
        body = json.dumps({"model": "http-1", "choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def endpoint() -> Iterator[Callable[..., Any]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    opener = build_opener(ProxyHandler({}))

    def create(**request: Any) -> Any:
        url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
        with opener.open(Request(url, json.dumps(request).encode()), timeout=10) as response:
            return json.load(response)

    yield create
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_endpoint_over_http_is_measured_end_to_end(make_case, search, endpoint):
    http = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=endpoint)))
    cases = [make_case("fails", "upstream"), make_case("works")]
    traces = run(OpenAIChatAgent(http, "small", [search]), cases)
    assert traces["answer"].tolist() == ["The tool says error", "The tool says ok"]
    assert traces["fault_state"].tolist() == ["seen", "none"]
