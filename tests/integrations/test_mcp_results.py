"""Results of MCP tools in every spelling: what stands in the record about them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mcp
import pytest
from mcp import types

import neverempty as ne
from neverempty.integrations import _mcp_calls as calls
from neverempty.integrations import anthropic
from neverempty.integrations import mcp as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks


class Scripted(mcp.ClientSession):
    """A session whose server is a list of what comes back."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)

    async def call_tool(self, name: str, arguments: Any = None, *_: Any, **__: Any) -> Any:
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result if hasattr(result, "model_dump") else types.CallToolResult.model_validate(result)


def _texts(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts], **more}


def _record(make_case: Any, *results: Any) -> Any:
    """Call one tool in a run, and give its row."""

    async def agent(case: Any, tracer: Any) -> str:
        session = bound.wrap(Scripted(*results))
        return repr(await session.call_tool("fetch", {"id": 1}))

    return run(agent, [make_case(kind=None)]).iloc[0]


@pytest.mark.parametrize(
    ("result", "truth"),
    [
        (_texts("denied", isError=True), "error"),
        (_texts("denied", is_error=True), "error"),
        (_texts(isError=True), "error"),
        (_texts('{"error": "transfer failed (exit 1)"}'), "unknown"),
        (_texts('{"success": false, "error_code": "SQL", "error": "no table"}'), "unknown"),
        (_texts('{"status": "error", "reason": "1 validation error"}', isError=False), "unknown"),
        (_texts("Done.", structuredContent={"status": "error"}), "unknown"),
        (_texts("Traceback (most recent call last):\n ..."), "unknown"),
        (_texts("Error executing tool fetch"), "unknown"),
        (_texts('{"jobs": [{"error": "none that we know"}]}'), "data"),
        (_texts("No errors were found."), "data"),
        (_texts(""), "data"),
        (_texts("{" * 100_000), "data"),
        (_texts("\x00<b>NaN</b>"), "data"),
        ({"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}, "data"),
    ],
)
def test_a_failure_inside_of_a_result_is_not_recorded_as_data(make_case, result, truth):
    row = _record(make_case, result)
    assert (row["status"], [call.truth for call in row["calls"]]) == ("ok", [truth])
    live = types.CallToolResult.model_validate(result)
    assert row["answer"] == repr(live)


def test_an_error_of_the_connection_is_raised_as_ever_and_on_record(make_case):
    row = _record(make_case, mcp.MCPError(-32001, "the request timed out"))
    assert row["status"] == "agent_error"
    assert "the request timed out" in row["error_message"]
    assert [call.truth for call in row["calls"]] == ["error"]


def test_what_is_no_tool_result_goes_through(make_case):
    asks = types.InputRequiredResult.model_validate({"resultType": "input_required", "requestState": "s"})
    row = _record(make_case, asks)
    assert (row["status"], row["answer"]) == ("ok", repr(asks))


@pytest.mark.parametrize(
    ("result", "payload"),
    [
        (_texts("1", structuredContent={"result": [1]}), [1]),
        (_texts("1", structuredContent={"result": 1, "more": 2}), {"result": 1, "more": 2}),
        (_texts("1", structuredContent={}), {}),
        (_texts("[]"), []),
        (_texts('{"a": 1}'), {"a": 1}),
        (_texts("[broken"), "[broken"),
        (_texts("null"), "null"),
        (_texts("one", "two"), ["one", "two"]),
        (_texts(), []),
    ],
)
def test_what_a_tool_returned_is_read_from_its_result(make_case, result, payload):
    given: list[Any] = []
    declared = {"fetch": {"empty_when": lambda value: given.append(value) or True}}

    async def agent(case: Any, tracer: Any) -> str:
        session = bound.wrap(Scripted(result), declared=declared)
        session.list_tools = _listing
        return repr(await session.call_tool("fetch"))

    (call,) = run(agent, [make_case(kind=None)]).iloc[0]["calls"]
    assert (given, call.truth) == ([payload], "empty")


async def _listing() -> Any:
    tool = {"name": "fetch", "inputSchema": {"type": "object"}}
    return types.ListToolsResult.model_validate({"tools": [tool]})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"id": "c1", "function": {"name": "fetch", "arguments": '{"id": 1}'}}, "c1"),
        ({"id": "c1", "name": "jobs__fetch", "input": {"id": 1}}, "c1"),
        ({"id": "c1", "name": "jobs.fetch", "args": {"id": 1}}, "c1"),
        ({"id": "c0", "name": "fetch", "input": {"id": 1}}, None),
        ({"id": "c1", "name": "prefetch", "input": {"id": 1}}, None),
        ({"id": "c1", "name": "fetch", "input": {"id": 2}}, None),
        ({"id": "c1", "function": {"name": "fetch", "arguments": "{broken"}}, None),
        ({"id": 7, "name": "fetch", "input": {"id": 1}}, None),
        ("fetch", None),
    ],
)
def test_the_models_id_of_a_call_is_found_in_its_last_reply(asked, expected):
    earlier = [SimpleNamespace(call_id="c0"), SimpleNamespace(call_id=None)]
    tracer: Any = SimpleNamespace(calls=earlier, messages=[{"role": "assistant", "tool_calls": [asked]}])
    assert calls.call_id_of(tracer, "fetch", {"id": 1}) == expected
    tracer.messages = []
    assert calls.call_id_of(tracer, "fetch", {"id": 1}) is None


@pytest.mark.parametrize(("flag", "truth"), [("isError", "error"), ("is_error", "error"), ("meta", "data")])
def test_a_users_own_tool_that_returns_a_result_of_mcp_keeps_its_flag(make_case, flag, truth):
    result = types.CallToolResult.model_validate({**_texts("denied"), flag: True if flag != "meta" else None})
    tool = ne.wrap(lambda: result, "fetch", returns="native")
    asked = SimpleNamespace(content=[SimpleNamespace(type="tool_use", name="fetch", input={}, id="c1")])

    def agent(case: Any, tracer: Any) -> str:
        ((block,),) = [message["content"] for message in anthropic.tool_results(asked, [tool])]
        assert block.get("is_error") == (True if truth == "error" else None)
        return "Done."

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert (row["status"], [call.truth for call in row["calls"]]) == ("ok", [truth])
