"""Compiled graphs as agents: tools found and faulted in place, what ToolNode shows, threads, answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, interrupt

import neverempty as ne
from neverempty._errors import UsageError
from neverempty.integrations import langchain, langgraph
from neverempty.running import run

pytestmark = pytest.mark.frameworks


class Scripted(BaseChatModel):
    """Calls the first tool that it is bound to, then answers what ``says`` makes of the result."""

    says: Callable[[str], str]
    tool_name: str = "search"
    asked: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.asked.append(messages)
        last = messages[-1]
        if last.type == "tool":
            said = AIMessage(self.says(str(last.content)))
        else:
            said = AIMessage("", tool_calls=[{"name": self.tool_name, "args": {"city": "Riga"}, "id": "c1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


def _graph(model: Any, tools: Any, checkpointer: Any = None) -> Any:
    async def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("ask", ask)
    builder.add_node("tools", tools)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", tools_condition)
    builder.add_edge("tools", "ask")
    return builder.compile(checkpointer=checkpointer)


@pytest.fixture
def model(says) -> Scripted:
    return Scripted(says=says, asked=[])


def test_every_presentation_reaches_the_model_of_a_compiled_graph_and_is_judged(model, misreports):
    graph = _graph(model, ToolNode([search], handle_tool_errors=True))
    assert misreports(langgraph.target(graph)) == {
        "typed": "pass",
        "raised": "pass",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


def test_tool_node_shows_each_presentation_in_this_way_and_the_model_has_read_it(model, shown):
    calls = shown(langgraph.target(_graph(model, ToolNode([search], handle_tool_errors=True))))
    assert {arm: call.state for arm, call in calls.items()} == dict.fromkeys(calls, "seen")
    assert calls["typed"].seen.startswith('{"status": "error", "kind": "timeout"')
    assert calls["flagged"].seen == "search failed: the request timed out after 30 seconds"
    assert calls["declined"].seen == '{"success": false, "error": "the request timed out after 30 seconds"}'
    assert calls["swallowed"].seen == ""
    assert calls["raised"].seen == (
        "Error: TimeoutError('the request timed out after 30 seconds')\n Please fix your mistakes."
    )
    read = [messages[-1] for messages in model.asked if messages[-1].type == "tool" and messages[-1].content]
    assert {message.content[:8]: message.status for message in read} == {
        '{"status': "success",
        '{"succes': "success",
        "search f": "error",
        "Error: T": "error",
    }


def test_tool_node_lets_an_exception_end_the_graph_unless_told_otherwise(model, make_case):
    agent = langgraph.target(_graph(model, ToolNode([search])))
    traces = run(agent, [make_case()], arms=["raised"])
    row = traces.iloc[0]
    assert (row["status"], row["error_kind"], row["fault_state"]) == ("agent_error", "timeout", "fired")
    outcomes = ne.collapse(ne.score(traces, [make_case()]))
    verdict = outcomes[outcomes["metric"] == "misreport_as_empty"].iloc[0]
    assert (verdict["verdict"], verdict["reason"]) == ("no_signal", "agent_error")


def test_a_failed_tool_message_keeps_its_status_in_the_trace(model, make_case):
    agent = langgraph.target(_graph(model, ToolNode([search], handle_tool_errors=True)))
    row = run(agent, [make_case()], arms=["raised"]).iloc[0]
    assert [message.get("status") for message in row["messages"]] == [None, None, "error", None]
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_the_graph_is_as_ever_outside_of_a_run(model, make_case):
    graph = _graph(model, ToolNode([search]))
    before = dict(vars(search))
    agent = langgraph.target(graph)
    run(agent, [make_case(case_id=name) for name in "abcd"], concurrency=4)
    assert vars(search) == before
    asked = {"name": "search", "args": {"city": "Riga"}, "id": "c1", "type": "tool_call"}
    assert search.invoke(asked).content == '[{"title": "Welder", "city": "Riga"}]'


def test_a_hung_tool_gets_its_row_and_the_graph_is_given_back(model, make_case):
    let_go = threading.Event()

    @tool("search")
    def hangs(city: str) -> str:
        """Find jobs."""
        let_go.wait(20)
        return "Welder"

    graph = _graph(model, ToolNode([hangs]))
    cases = [make_case(case_id="slow", kind=None), make_case(case_id="quick")]
    traces = run(langgraph.target(graph), cases, timeout=0.5)
    let_go.set()
    assert dict(zip(traces["case_id"], traces["status"], strict=True)) == {
        "slow": "agent_timeout",
        "quick": "ok",
    }
    assert {"run", "arun", "_run", "_arun"}.isdisjoint(vars(hangs))


def test_many_repeats_at_once_keep_their_own_faults(model, make_case):
    kinds = ["timeout", None] * 20
    cases = [make_case(case_id=f"c{at}", kind=kind) for at, kind in enumerate(kinds)]
    traces = run(
        langgraph.target(_graph(model, ToolNode([search]))), cases, arms=["swallowed"], concurrency=16
    )
    truths = [[call.truth for call in calls] for calls in traces["calls"]]
    assert truths == [["error"] if kind else ["data"] for kind in kinds]


def _custom_node(used: Any) -> Callable[..., Any]:
    by_name = {used.name: used}

    def call(state: MessagesState) -> dict[str, Any]:
        return {
            "messages": [by_name[asked["name"]].invoke(asked) for asked in state["messages"][-1].tool_calls]
        }

    return call


def _global_node(state: MessagesState) -> dict[str, Any]:
    return {"messages": [search.invoke(asked) for asked in state["messages"][-1].tool_calls]}


async def _global_async_node(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await search.ainvoke(asked) for asked in state["messages"][-1].tool_calls]}


@pytest.mark.parametrize("node", [_custom_node(search), _global_node, _global_async_node])
def test_tools_are_found_in_nodes_of_ones_own(model, node, make_case):
    row = run(langgraph.target(_graph(model, node)), [make_case()], arms=["swallowed"]).iloc[0]
    assert (row["fault_state"], row["calls"][0].truth) == ("seen", "error")


def test_tools_are_found_in_a_graph_within_a_graph_and_in_a_tool_that_runs_one(model, make_case, says):
    inner = _graph(model, ToolNode([search]))

    @tool
    async def ask_expert(city: str) -> str:
        """Ask another agent."""
        return str((await inner.ainvoke({"messages": [("user", city)]}))["messages"][-1].content)

    outer_model = Scripted(says=says, tool_name="ask_expert", asked=[])
    agent = langgraph.target(_graph(outer_model, ToolNode([ask_expert])))
    assert sorted(agent.layers) == ["ask_expert", "search"]
    row = run(agent, [make_case()], arms=["swallowed"]).iloc[0]
    assert {call.tool: call.truth for call in row["calls"]} == {"ask_expert": "data", "search": "error"}
    builder = StateGraph(MessagesState)
    builder.add_node("sub", inner)
    builder.add_edge(START, "sub")
    builder.add_edge("sub", END)
    assert sorted(langgraph.target(builder.compile()).layers) == ["search"]


def test_a_graph_without_tools_is_refused_and_hidden_ones_can_be_named(model, make_case):
    hidden = StructuredTool.from_function(lambda city: "Welder", name="search", description="Find jobs.")
    registry = type("Registry", (), {"__slots__": (), "find": lambda self, name: hidden})()

    def call(state: MessagesState) -> dict[str, Any]:
        return {"messages": [registry.find(a["name"]).invoke(a) for a in state["messages"][-1].tool_calls]}

    graph = _graph(model, call)
    with pytest.raises(UsageError, match=r"no tool was found .* tools=\[\.\.\.\]"):
        langgraph.target(StateGraph(MessagesState).add_node("a", lambda s: s).add_edge(START, "a").compile())
    row = run(langgraph.target(graph, tools=[hidden]), [make_case()], arms=["swallowed"]).iloc[0]
    assert row["fault_state"] == "seen"


def test_a_fault_of_a_tool_that_is_not_there_is_an_error_of_the_set_up(model, make_case):
    case = make_case(faults=[{"tool": "serach", "kind": "timeout"}])
    row = run(langgraph.target(_graph(model, ToolNode([search]))), [case]).iloc[0]
    assert row["status"] == "harness_error"
    assert "'serach'" in row["terminal_reason"]
    assert "found: search" in row["terminal_reason"]


@pytest.mark.parametrize("graph", [None, "graph", StateGraph(MessagesState)])
def test_what_is_no_compiled_graph_is_refused(graph):
    with pytest.raises(UsageError, match="no compiled graph"):
        langgraph.target(graph)


def test_declarations_reach_the_graphs_tools_and_misspelt_ones_are_refused(model, make_case):
    @tool("search")
    def nothing(city: str) -> list[str]:
        """Find jobs."""
        return []

    graph = _graph(model, ToolNode([nothing]))
    declared = {"search": {"empty_when": lambda rows: rows == []}}
    row = run(langgraph.target(graph, declared=declared), [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["calls"][0].truth) == ("ok", "empty")
    row = run(langgraph.target(graph), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    with pytest.raises(UsageError, match=r"'serach', which was not found.*search"):
        langgraph.target(graph, declared={"serach": {}})


@pytest.mark.parametrize("config", [None, {"configurable": {"thread_id": "1"}}])
def test_a_repeat_does_not_go_on_with_the_conversation_of_another(model, make_case, config):
    agent = langgraph.target(_graph(model, ToolNode([search]), InMemorySaver()), config=config)
    traces = run(agent, [make_case(kind=None)], repeats=3)
    assert [len(messages) for messages in traces["messages"]] == [4, 4, 4]


def test_a_graph_is_recorded_and_replayed_with_its_tools_live(model, make_case, tmp_path):
    agent = langgraph.target(_graph(model, ToolNode([search], handle_tool_errors=True)))
    path = tmp_path / "replies.jsonl"
    arms = ["typed", "raised", "swallowed"]
    live = run(agent, [make_case()], arms=arms, record=path)
    asked = len(model.asked)
    replayed = run(agent, [make_case()], arms=arms, replay=path)
    assert list(replayed["answer"]) == list(live["answer"])
    assert list(replayed["fault_state"]) == ["seen"] * 3
    assert len(model.asked) == asked


def test_state_that_a_tool_is_injected_does_not_show_in_its_call(model, make_case):
    @tool("search")
    def reads_state(city: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Find jobs."""
        return f"Welder after {len(state['messages'])} messages"

    row = run(langgraph.target(_graph(model, ToolNode([reads_state]))), [make_case(kind=None)]).iloc[0]
    (call,) = row["calls"]
    assert (call.args, call.returned) == ({"city": "Riga"}, "Welder after 2 messages")


@pytest.mark.parametrize("handled", [True, False])
def test_a_call_with_arguments_that_the_tool_does_not_take_is_a_failed_call_on_record(
    model, make_case, handled
):
    @tool("search")
    def by_country(country: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Find jobs."""
        return "Welder"

    by_country.handle_validation_error = handled
    row = run(langgraph.target(_graph(model, ToolNode([by_country]))), [make_case(kind=None)]).iloc[0]
    (call,) = row["calls"]
    assert (call.truth, call.kind, call.args, call.call_id) == ("error", "validation", {"city": "Riga"}, "c1")
    assert (row["status"], row["answer"]) == ("ok", "I could not search: the tool failed.")
    assert call.seen == row["messages"][2]["content"]


def test_a_tool_with_side_effects_is_refused_before_the_run_unless_it_is_stubbed(model, make_case):
    graph = _graph(model, ToolNode([search]))
    agent = langgraph.target(graph, declared={"search": {"side_effect": True}})
    with pytest.raises(UsageError, match="search"):
        run(agent, [make_case(kind=None)])
    row = run(agent, [make_case(kind=None)], stubs={"search": lambda city: "Welder"}).iloc[0]
    assert row["answer"] == "There is one job: Welder in Riga."


def test_a_tool_that_declares_itself_is_not_declared_again(model):
    @ne.tool("search")
    def own(city: str) -> list[str]:
        """Find jobs."""
        return ["Welder"]

    def call(state: MessagesState) -> dict[str, Any]:
        asked = state["messages"][-1].tool_calls[0]
        return {"messages": [ToolMessage(own(**asked["args"]).to_model(), tool_call_id=asked["id"])]}

    graph = _graph(model, call)
    assert langgraph.target(graph).layers == {"search": own}
    with pytest.raises(UsageError, match="say there what its values mean"):
        langgraph.target(graph, declared={"search": {}})


def test_a_tool_that_was_wrapped_by_hand_keeps_its_declarations_and_is_met_once(model, make_case):
    wrapped = langchain.wrap(search, empty_when=lambda rows: rows == [])
    graph = _graph(model, ToolNode([wrapped]))
    for _ in range(2):
        row = run(langgraph.target(graph), [make_case()], arms=["swallowed"]).iloc[0]
        assert [(call.truth, call.state) for call in row["calls"]] == [("error", "seen")]
    with pytest.raises(UsageError, match="say there what its values mean"):
        langgraph.target(graph, declared={"search": {}})


def test_an_interrupt_is_no_failure_of_the_tool(model, make_case):
    @tool("search")
    def asks_first(city: str) -> str:
        """Find jobs."""
        return str(interrupt("May I?"))

    agent = langgraph.target(_graph(model, ToolNode([asks_first], handle_tool_errors=True), InMemorySaver()))
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["calls"][0].truth) == ("ok", "unknown")
    assert row["terminal_reason"] == "interrupted: the graph waits for a person"


def test_a_tool_may_return_a_command(model, make_case):
    @tool("search")
    def commands(city: str) -> Command[str]:
        """Find jobs."""
        return Command(update={"messages": [ToolMessage("Welder", tool_call_id="c1")]})

    row = run(langgraph.target(_graph(model, ToolNode([commands]))), [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["answer"]) == ("ok", "There is one job: Welder in Riga.")


def test_an_arms_prompt_comes_first_and_its_model_needs_somebody_to_hand_it_on(model, make_case):
    graph = _graph(model, ToolNode([search]))
    prompted = ne.Arm(name="brief", prompt="Be brief.")
    row = run(langgraph.target(graph), [make_case()], arms=[prompted]).iloc[0]
    assert row["messages"][0] == {"role": "system", "content": "Be brief."}
    large = ne.Arm(name="large", model="large")
    row = run(langgraph.target(graph), [make_case()], arms=[large]).iloc[0]
    assert row["status"] == "harness_error"
    assert "config=lambda case, tracer" in row["terminal_reason"]
    handed: list[str] = []

    def config(case: Any, tracer: Any) -> dict[str, Any]:
        handed.append(tracer.arm.model)
        return {"configurable": {"model": tracer.arm.model}}

    row = run(langgraph.target(graph, config=config), [make_case()], arms=[large]).iloc[0]
    assert (row["status"], handed) == ("ok", ["large"])


def test_a_graph_that_ends_without_words_answers_nothing_and_says_why(model, make_case):
    builder = StateGraph(MessagesState)
    builder.add_node("ask", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([search]))
    builder.add_edge(START, "ask")
    builder.add_edge("tools", END)
    row = run(langgraph.target(builder.compile()), [make_case(kind=None)]).iloc[0]
    assert (row["answer"], row["terminal_reason"]) == ("", "ended with tool calls that nobody made")


def test_an_output_that_holds_no_answer_says_how_to_read_it(model, make_case):
    agent = langgraph.target(
        _graph(model, ToolNode([search])), answer=lambda state: state["messages"][-1].content
    )
    assert run(agent, [make_case(kind=None)]).iloc[0]["answer"] == "There is one job: Welder in Riga."
