"""The tool calls of a Converse response: what the model is told, and what stands in the record."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import neverempty as ne
from neverempty.integrations import bedrock as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks


def _asking(name: str = "fetch", **more: Any) -> dict[str, Any]:
    use = {"toolUseId": "c1", "name": name, "input": {}, **more}
    return {"output": {"message": {"role": "assistant", "content": [{"text": "Wait."}, {"toolUse": use}]}}}


def _result_of(sent: list[dict[str, Any]]) -> dict[str, Any]:
    (message,) = sent
    (block,) = message["content"]
    result: dict[str, Any] = block["toolResult"]
    return result


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('{"content": [{"type": "text", "text": "no"}], "isError": true}', "no"),
        ('{"content": [{"type": "text", "text": "no"}], "is_error": true}', "no"),
        ('{"meta": null, "content": [{"type": "text", "text": "no"}], "isError": true}', "no"),
        ('{"content": [{"type": "text", "text": "yes"}], "isError": false}', None),
        ('{"isError": true}', None),
        ('{"content": "broken', None),
        ('{"content": 3}', None),
        ("\ud835\x00<b>", None),
    ],
)
def test_the_result_of_a_failed_mcp_call_hands_its_flag_on(text, inside):
    tool = ne.wrap(lambda: text, "fetch", returns="native")
    result = _result_of(bound.tool_results(_asking(), [tool]))
    assert result["content"] == [{"text": text if inside is None else inside}]
    assert result.get("status") == (None if inside is None else "error")


@pytest.mark.parametrize(
    ("body", "truth"),
    [
        ({"content": [{"type": "text", "text": "denied"}], "isError": True}, "error"),
        ({"content": [{"type": "text", "text": "denied"}], "is_error": True}, "error"),
        ({"toolUseId": "x", "content": [{"text": "denied"}], "status": "error"}, "error"),
        ({"result": {"content": [{"text": '{"error": "no route"}'}]}, "isError": False}, "unknown"),
        ({"success": False, "error_code": "SQL", "error": "no table"}, "unknown"),
        ({"text": '{"status": "error"}', "data": {"status": "error"}, "is_error": False}, "unknown"),
        ({"output": None, "error": "boom", "error_code": 0, "success": True}, "error"),
        ({"jobs": ["Welder"]}, "data"),
    ],
)
@pytest.mark.parametrize("returns", ["result", "native"])
def test_a_failure_inside_of_a_success_is_not_recorded_as_data(make_case, body, truth, returns):
    tool = ne.wrap(lambda: body, "fetch", returns=returns)

    def agent(case: Any, tracer: Any) -> str:
        bound.tool_results(_asking(), [tool])
        return "Done."

    (call,) = run(agent, [make_case(kind=None)]).iloc[0]["calls"]
    assert call.truth == truth


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [("find", {}, "the tools are: fetch"), ("fetch", {"colour": 1}, "colour")],
)
def test_a_call_that_cannot_be_made_is_a_failed_call_on_record(make_case, name, given, said):
    tool = ne.wrap(lambda: "Welder", "fetch")

    def agent(case: Any, tracer: Any) -> str:
        result = _result_of(bound.tool_results(_asking(name, input=given), [tool]))
        assert (result["toolUseId"], result["status"]) == ("c1", "error")
        return str(result["content"][0]["text"])

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert said in row["answer"]
    assert [(call.tool, call.truth, call.kind) for call in row["calls"]] == [(name, "error", "validation")]


def test_a_tool_of_the_service_itself_is_not_called_here():
    tool = ne.wrap(lambda: "Welder", "fetch")
    assert bound.tool_results(_asking(type="server_tool_use"), [tool]) == []
    assert bound.tool_results({"role": "assistant", "content": [{"text": "Hi"}]}, [tool]) == []


def test_an_asynchronous_tool_is_awaited_and_refused_where_it_cannot_be():
    async def slow() -> str:
        return "Welder"

    tool = ne.wrap(slow, "fetch", returns="native")
    result = _result_of(asyncio.run(bound.atool_results(_asking(), [tool])))
    assert result == {"toolUseId": "c1", "content": [{"text": "Welder"}]}
    with pytest.raises(ne.UsageError, match="await atool_results"):
        bound.tool_results(_asking(), [tool])


@pytest.mark.parametrize("response", ["text", None, {}, {"output": {}}, {"content": "Hi"}])
def test_what_is_no_response_is_refused(response):
    with pytest.raises(ne.UsageError, match=r"is no response of converse\(\)"):
        bound.tool_results(response, [])


def test_a_tool_without_a_description_is_offered_without_one():
    (offered,) = bound.functions([ne.wrap(lambda city: city, "search")])
    assert "description" not in offered["toolSpec"]
    assert offered["toolSpec"]["inputSchema"]["json"]["required"] == ["city"]
