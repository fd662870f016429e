"""Agents that LangChain builds, and chains of any make, as targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from neverempty._errors import UsageError
from neverempty.integrations import langchain, langgraph
from neverempty.running import run

pytestmark = pytest.mark.frameworks


class Scripted(BaseChatModel):
    """Calls the tool ``search`` once and answers what ``says`` makes of its result."""

    says: Callable[[str], str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[{"name": one.name} for one in tools])

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        said = AIMessage("", tool_calls=[{"name": "search", "args": {"city": "Riga"}, "id": "c1"}])
        if messages[-1].type == "tool":
            said = AIMessage(self.says(str(messages[-1].content)))
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def search(city: str) -> str:
    """Find jobs by city."""
    return f"Welder in {city}"


def test_an_agent_that_langchain_built_is_measured_as_it_is(says, misreports):
    agent = langgraph.target(create_agent(Scripted(says=says), [search], system_prompt="Be brief."))
    assert sorted(agent.layers) == ["search"]
    # its tool node handles no exception, so there is no answer to judge
    assert misreports(agent) == {
        "typed": "pass",
        "raised": "no_signal",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


def test_a_chain_is_measured_through_its_tools_and_its_model(says, make_case):
    model = Scripted(says=says)

    def answer(prompt: str) -> Any:
        asked = model.invoke(prompt)
        found = [search.invoke(call) for call in asked.tool_calls]
        return model.invoke([("user", prompt), asked, *found])

    chain = RunnableLambda(lambda case: case.prompt) | RunnableLambda(answer)
    agent = langchain.target(chain, inputs=lambda case, tracer: case)
    row = run(agent, [make_case()], arms=["swallowed"]).iloc[0]
    assert (row["answer"], row["fault_state"]) == ("There are no welding jobs in Riga.", "seen")
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert row["answer"] == "There is one job: Welder in Riga."


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("Two jobs.", "Two jobs."),
        ({"output": "Two jobs."}, "Two jobs."),
        (AIMessage("Two jobs."), "Two jobs."),
        ([AIMessage("One."), AIMessage("Two jobs.")], "Two jobs."),
        ({"messages": [AIMessage([{"type": "text", "text": "Two jobs."}])]}, "Two jobs."),
    ],
)
def test_the_answer_is_read_from_whatever_a_chain_returns(make_case, output, answer):
    chain = RunnableLambda(lambda _: output)
    assert run(langchain.target(chain), [make_case(kind=None)]).iloc[0]["answer"] == answer


@pytest.mark.parametrize("output", [None, 3, [], {}, {"messages": []}, {"answer": "Two jobs."}])
def test_an_output_without_an_answer_is_an_error_and_no_empty_answer(make_case, output):
    chain = RunnableLambda(lambda _: output)
    row = run(langchain.target(chain), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "agent_error"
    assert "give answer=lambda output" in row["error_message"]


def test_what_cannot_be_run_is_refused():
    with pytest.raises(UsageError, match="no runnable"):
        langchain.target(lambda prompt: "Two jobs.")


def test_a_chains_own_callbacks_and_config_are_kept(make_case):
    got: list[Any] = []
    chain = RunnableLambda(lambda _, config: got.append(config["metadata"]) or "Two jobs.")
    agent = langchain.target(chain, config={"metadata": {"who": "me"}, "callbacks": []})
    assert run(agent, [make_case(kind=None)]).iloc[0]["status"] == "ok"
    assert got[0]["who"] == "me"
