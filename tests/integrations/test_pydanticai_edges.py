"""Agents of pydantic-ai: several calls at once, calls that wait for somebody, hostile texts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests, RunContext
from pydantic_ai.capabilities import Hooks
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

import neverempty as ne
from neverempty.integrations import pydantic_ai as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_ODD = "\ud835 \x00 <b>NaN</b> \u2028 {city}"


def search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


def _asking(*cities: str, answer: str = "Done.") -> FunctionModel:
    """Ask for all these cities at once, then answer."""

    def model(messages: list[Any], info: Any) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse(parts=[TextPart(answer)])
        calls = [ToolCallPart("search", {"city": city}, f"c{at}") for at, city in enumerate(cities)]
        return ModelResponse(parts=calls)

    return FunctionModel(model)


@pytest.mark.parametrize("tool", [search, ne.wrap(search, "search", returns="native")])
def test_calls_that_are_made_at_once_keep_their_ids_and_results(make_case, tool):
    cities = ["Riga", "Oslo", "Turku", "Bergen"]
    agent = bound.target(Agent(_asking(*cities), tools=[tool]))
    row = run(agent, [make_case(kind=None)]).iloc[0]
    asked = {call.call_id: call.args["city"] for call in row["calls"]}
    assert asked == {f"c{at}": city for at, city in enumerate(cities)}
    assert {call.args["city"] in call.seen for call in row["calls"]} == {True}


def test_a_fault_of_one_call_meets_one_of_several(make_case):
    fault = {"tool": "search", "kind": "timeout", "for_calls": 1}
    agent = bound.target(Agent(_asking("Riga", "Oslo"), tools=[search]))
    row = run(agent, [make_case(faults=[fault])], arms=["swallowed"]).iloc[0]
    assert sorted(call.truth for call in row["calls"]) == ["data", "error"]


def test_a_call_that_waits_for_somebody_is_no_failure_of_the_tool(make_case):
    def search(ctx: RunContext[None], city: str) -> str:
        raise CallDeferred

    agent = bound.target(Agent(_asking("Riga"), tools=[search], output_type=[str, DeferredToolRequests]))
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["terminal_reason"]) == ("ok", "ended with tool calls that wait for somebody")
    assert row["answer"] is None or row["answer"] != row["answer"]
    assert [call.truth for call in row["calls"]] == ["unknown"]


def test_hostile_texts_are_recorded_and_replayed(make_case, tmp_path):
    def search(city: str) -> str:
        return city

    agent = bound.target(Agent(_asking("\x00<b>{city}", answer=_ODD), tools=[search]))
    path = tmp_path / "replies.jsonl"
    live = run(agent, [make_case(kind=None)], record=path).iloc[0]
    assert (live["status"], live["answer"]) == ("ok", _ODD)
    assert live["calls"][0].seen == "\x00<b>{city}"
    assert run(agent, [make_case(kind=None)], replay=path).iloc[0]["answer"] == _ODD


def test_a_conversation_without_a_last_word_of_the_user_is_gone_on_from(make_case):
    said = [{"role": "user", "content": "Hi"}, {"role": "system", "content": "Answer in one word."}]
    agent = bound.target(Agent(_asking("Riga"), tools=[search]))
    row = run(agent, [make_case(kind=None, input={"messages": said})]).iloc[0]
    assert row["status"] == "ok"
    shown = [message["content"] for message in row["messages"][:2]]
    assert shown[0] == "Hi"
    assert "Answer in one word." in shown[1]


def test_earlier_tool_calls_and_their_results_are_part_of_the_history(make_case):
    call = {"id": "e1", "type": "function", "function": {"name": "search", "arguments": '{"city": "Oslo"}'}}
    said = [
        {"role": "user", "content": "Any jobs in Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "e1", "content": "[]"},
        {"role": "assistant", "content": "None."},
        {"role": "user", "content": "And in Riga?"},
    ]

    def model(messages: list[Any], info: Any) -> ModelResponse:
        return ModelResponse(parts=[TextPart("I do not know.")])

    agent = bound.target(Agent(FunctionModel(model), tools=[search]))
    row = run(agent, [make_case(kind=None, input={"messages": said})]).iloc[0]
    assert row["status"] == "ok"
    assert row["messages"][:-1] == said
    assert row["calls"] == []


def test_a_tool_with_typed_results_that_is_known_only_in_a_run_stops_it(make_case):
    typed = ne.wrap(search, "search")
    agent = bound.target(Agent(_asking("Riga"), toolsets=[lambda ctx: FunctionToolset([typed])]))
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert "make it with returns='native'" in row["terminal_reason"]


def test_a_model_that_an_arm_names_is_asked(make_case):
    agent = bound.target(Agent(_asking("Riga"), tools=[search]))
    arm = ne.Arm(name="other", presentation="typed", model="test")
    row = run(agent, [make_case(kind=None)], arms=[arm]).iloc[0]
    assert (row["status"], row["resolved_model"]) == ("ok", "test")


def test_a_capability_of_the_options_is_kept(make_case):
    asked: list[str] = []

    async def note(ctx: Any, *, call: Any, args: Any, **_: Any) -> Any:
        asked.append(call.tool_name)
        return args

    options = {"capabilities": [Hooks(before_tool_execute=note)]}
    agent = bound.target(Agent(_asking("Riga"), tools=[search]), options=options)
    assert run(agent, [make_case()], arms=["flagged"]).iloc[0]["fault_state"] == "seen"
    assert asked == ["search"]
