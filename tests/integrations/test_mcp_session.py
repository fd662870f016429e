"""Client sessions of MCP in a user's own loop, against a server in the same process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import mcp
import pytest
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import neverempty as ne
from neverempty.integrations import mcp as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_ASKED = {"id": "c1", "function": {"name": "search", "arguments": '{"city": "Riga"}'}}
_NOTHING = {"search": {"empty_when": lambda jobs: jobs == []}}


@pytest.fixture
def server() -> MCPServer:
    made = MCPServer("jobs")

    @made.tool()
    def search(city: str) -> list[dict[str, str]]:
        """Find jobs by city."""
        if city == "Nowhere":
            raise TimeoutError("the request timed out after 30 seconds")
        if city == "Atlantis":
            raise ToolError("there is no such city")
        return [] if city == "Ghost" else [{"title": "Welder", "city": city}]

    return made


def _text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


def _loop(server: MCPServer, says: Callable[[str], str], on: str = "session", **declared: Any) -> Any:
    """Ask a scripted model, which calls the tool once and answers by what it reads."""

    async def agent(case: Any, tracer: Any) -> str:
        async def model(messages: Any, *_: Any) -> Any:
            if messages[-1]["role"] == "tool":
                return {"content": says(messages[-1]["content"])}
            return {"content": None, "tool_calls": [_ASKED]}

        async with mcp.Client(server) as client:
            session = bound.wrap(client if on == "client" else client.session, **declared)
            messages = list(case.messages)
            reply = await tracer.model_call(messages, call=model)
            (asked,) = reply["tool_calls"]
            arguments = json.loads(asked["function"]["arguments"])
            result = await session.call_tool(asked["function"]["name"], arguments)
            said = {"role": "tool", "tool_call_id": asked["id"], "content": _text(result)}
            return str((await tracer.model_call([*messages, said], call=model))["content"])

    return agent


def _calling(server: MCPServer, *cities: str, **declared: Any) -> Any:
    """Call the tool without a model, and keep what it returned."""
    results: list[Any] = []

    async def agent(case: Any, tracer: Any) -> str:
        async with mcp.Client(server) as client:
            session = bound.wrap(client.session, **declared)
            results.extend([await session.call_tool("search", {"city": city}) for city in cities])
        return "Done."

    return agent, results


@pytest.mark.parametrize("on", ["session", "client"])
def test_every_presentation_reaches_the_model_and_is_judged(server, says, misreports, on):
    assert misreports(_loop(server, says, on)) == {
        "typed": "pass",
        "raised": "pass",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


def test_every_presentation_is_seen_as_the_text_of_a_result(server, says, shown):
    calls = shown(_loop(server, says))
    assert {call.state for call in calls.values()} == {"seen"}
    assert {call.call_id for call in calls.values()} == {"c1"}
    assert [call.seen for call in calls.values()][1:] == [
        "Error executing tool search: TimeoutError: the request timed out after 30 seconds",
        "search failed: the request timed out after 30 seconds",
        '{"success": false, "error": "the request timed out after 30 seconds"}',
        "[]",
    ]


def test_a_fault_is_flagged_where_a_server_would_flag_it(server, make_case):
    agent, results = _calling(server, "Riga")
    arms = ["typed", "raised", "flagged", "declined", "swallowed"]
    run(agent, [make_case()], arms=arms, concurrency=1)
    assert [result.is_error for result in results] == [False, True, True, False, False]
    told = {"success": False, "error": "the request timed out after 30 seconds"}
    structured = [result.structured_content for result in results]
    assert structured == [None, None, None, told, {"result": []}]
    assert {type(result) for result in results} == {mcp.types.CallToolResult}


def test_a_server_shows_a_tool_that_raised_as_a_flagged_result(server, make_case):
    """What the library really does, without any fault: nothing is raised in the client."""
    agent, results = _calling(server, "Nowhere", "Atlantis")
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert [result.is_error for result in results] == [True, True]
    assert [_text(result).startswith("Error executing tool search") for result in results] == [True, True]
    assert [(call.truth, call.kind) for call in row["calls"]] == [("error", "exception")] * 2
    assert [call.returned for call in row["calls"]] == [_text(result) for result in results]


def test_a_server_shows_an_empty_list_as_a_result_without_content(server, make_case):
    agent, results = _calling(server, "Ghost", declared=_NOTHING)
    (call,) = run(agent, [make_case(kind=None)]).iloc[0]["calls"]
    assert (results[0].content, results[0].structured_content) == ([], {"result": []})
    assert (call.truth, results[0].is_error) == ("empty", False)


def test_an_empty_result_that_nobody_declared_stops_the_run(server, make_case):
    agent, _ = _calling(server, "Ghost")
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert "tool 'search' returned [], which may mean that nothing matched" in row["terminal_reason"]


def test_a_result_of_the_server_goes_through_as_it_is(server, make_case):
    agent, results = _calling(server, "Riga")
    (call,) = run(agent, [make_case(kind=None)]).iloc[0]["calls"]
    assert results[0].structured_content == {"result": [{"title": "Welder", "city": "Riga"}]}
    assert (call.truth, call.args, call.returned) == ("data", {"city": "Riga"}, _text(results[0]))


def test_a_degrading_fault_takes_from_what_the_tool_returned(server, make_case):
    agent, results = _calling(server, "Riga")
    (call,) = run(agent, [make_case(kind="schema_drift")]).iloc[0]["calls"]
    assert (call.state, call.kind) == ("fired", "schema_drift")
    assert results[0].structured_content != {"result": [{"title": "Welder", "city": "Riga"}]}
    assert json.loads(_text(results[0])) == results[0].structured_content["result"]


def test_a_stub_stands_in_for_the_server(server, make_case):
    agent, results = _calling(server, "Riga", declared={"search": {"side_effect": True}})
    row = run(agent, [make_case(kind=None)], stubs={"search": lambda city: f"Cook in {city} \ud835"}).iloc[0]
    assert (row["status"], _text(results[0])) == ("ok", "Cook in Riga \\ud835")
    assert run(agent, [make_case(kind=None)]).iloc[0]["status"] == "harness_error"


def test_a_declaration_of_a_tool_that_the_server_lacks_is_refused(server, make_case):
    agent, results = _calling(server, "Riga", declared={"serach": {"never_empty": True}})
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert (row["status"], results) == ("harness_error", [])
    assert "'serach', which the server does not have" in row["terminal_reason"]
    assert "did you mean 'search'" in row["terminal_reason"]


def test_outside_of_a_run_the_copy_is_like_the_session_which_is_left_alone(server):
    async def main() -> tuple[Any, Any]:
        plain = mcp.Client(server)
        wrapped = bound.wrap(plain, declared={"search": {"never_empty": True}})
        assert isinstance(wrapped, mcp.Client)
        async with wrapped:
            assert type(plain) is mcp.Client
            assert [tool.name for tool in (await wrapped.list_tools()).tools] == ["search"]
            return [await one.call_tool("search", {"city": "Ghost"}) for one in (plain, wrapped)]

    first, second = asyncio.run(main())
    assert first == second


@pytest.mark.parametrize("session", [None, object(), {"call_tool": 1}])
def test_what_is_no_session_is_refused(session):
    with pytest.raises(ne.UsageError, match="no client session of the package mcp"):
        bound.wrap(session)


def test_a_session_is_wrapped_once(server):
    with pytest.raises(ne.UsageError, match="wrapped already"):
        bound.wrap(bound.wrap(mcp.Client(server)))


def test_a_group_of_sessions_is_wrapped_like_one(server, make_case):
    class Group(mcp.ClientSessionGroup):
        """A group that has connected to one server."""

        tools = property(lambda self: {"search": None})

        async def call_tool(self, name: str, arguments: Any = None, **_: Any) -> Any:
            async with mcp.Client(server) as client:
                return await client.call_tool(name, arguments)

    async def agent(case: Any, tracer: Any) -> str:
        return _text(await bound.wrap(Group(), declared=_NOTHING).call_tool("search", {"city": "Riga"}))

    row = run(agent, [make_case()], arms=["flagged"]).iloc[0]
    assert row["answer"] == "search failed: the request timed out after 30 seconds"
