"""The tool calls of an openai response: what the model is told, and what stands in the record."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [("find", "{}", "the tools are: search"), ("search", '{"ci', "no JSON object"), ("search", "", "city")],
)
def test_a_call_that_cannot_be_made_is_a_failed_call_on_record(make_case, search, name, arguments, said):
    call = SimpleNamespace(id="c9", function=SimpleNamespace(name=name, arguments=arguments))
    message = SimpleNamespace(tool_calls=[call])
    response = SimpleNamespace(choices=[SimpleNamespace(message=message)])

    def agent(case: Any, tracer: Any) -> str:
        (result,) = bound.tool_results(response, [search])
        assert result["tool_call_id"] == "c9"
        return str(result["content"])

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert said in row["answer"]
    assert [(call.tool, call.truth, call.kind) for call in row["calls"]] == [(name, "error", "validation")]


def test_an_asynchronous_tool_is_awaited_and_refused_where_it_cannot_be(make_case):
    async def slow(city: str) -> str:
        """Find jobs."""
        return "Welder"

    tool = ne.wrap(slow, "search", returns="native")
    response = {"output": [{"type": "function_call", "call_id": "c1", **_CALL}]}
    item = {"type": "function_call_output", "call_id": "c1", "output": "Welder"}
    assert asyncio.run(bound.atool_results(response, [tool])) == [item]
    with pytest.raises(ne.UsageError, match="await atool_results"):
        bound.tool_results(response, [tool])


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        ('{"success": false, "error": "locked"}', "unknown"),
        ({"status": "error", "reason": "bad input"}, "unknown"),
        ({"content": [{"type": "text", "text": "denied"}], "isError": True}, "error"),
        ({"content": [{"type": "text", "text": "denied"}], "is_error": True}, "error"),
        ({"jobs": ["Welder"], "error": None}, "data"),
    ],
)
@pytest.mark.parametrize("returns", ["result", "native"])
def test_a_failure_of_the_tools_own_is_not_recorded_as_data(make_case, value, truth, returns):
    tool = ne.wrap(lambda city: value, "search", returns=returns)
    response = {"output": [{"type": "function_call", "call_id": "c1", **_CALL}]}
    row = run(lambda case, tracer: str(bound.tool_results(response, [tool])), [make_case(kind=None)]).iloc[0]
    assert [call.truth for call in row["calls"]] == [truth]
    row = run(lambda case, tracer: str(bound.tool_results(response, [tool])), [make_case()]).iloc[0]
    assert [(call.truth, call.kind) for call in row["calls"]] == [("error", "timeout")]


@pytest.mark.parametrize("response", [None, {}, "text", {"choices": []}])
def test_what_is_no_response_is_refused(response):
    with pytest.raises(ne.UsageError, match="no response of chat completions"):
        bound.tool_results(response, [])
    with pytest.raises(ne.UsageError, match="is no tool"):
        bound.functions([len])
