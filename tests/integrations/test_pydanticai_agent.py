"""An agent of pydantic-ai, as it is, with a scripted model."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, ToolFailed, ToolReturn
from pydantic_ai.capabilities import Hooks
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

import neverempty as ne
from neverempty.faults import Arm
from neverempty.integrations import pydantic_ai as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_ROWS = [{"title": "Welder", "city": "Riga"}]
_ASKED = {"city": "Riga"}


def search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


class Model:
    """Calls the tool once and answers by what it reads; keeps what it was sent."""

    def __init__(self, says: Callable[[str], str], arguments: Any = None, tool: str = "search") -> None:
        self.says = says
        self.arguments = _ASKED if arguments is None else arguments
        self.tool = tool
        self.read: list[list[Any]] = []
        self.infos: list[Any] = []

    def __call__(self, messages: list[Any], info: Any) -> ModelResponse:
        self.read.append(messages)
        self.infos.append(info)
        part = messages[-1].parts[-1]
        if part.part_kind == "user-prompt":
            return ModelResponse(parts=[ToolCallPart(self.tool, self.arguments, tool_call_id="c1")])
        return ModelResponse(parts=[TextPart(self.says(part.model_response_str(wrap_if_error=False)))])

    async def stream(self, messages: list[Any], info: Any) -> Any:
        (part,) = self(messages, info).parts
        if isinstance(part, TextPart):
            for text in part.content.partition(" "):
                yield text
        else:
            yield {0: DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)}


@pytest.fixture
def model(says) -> Model:
    return Model(says)


async def _try_again(ctx: Any, *, error: Exception, **_: Any) -> Any:
    """Handle a tool's exception as authors do who do not want it to end the run."""
    raise ModelRetry(f"The search failed: {error}") from error


def _agent(model: Model, tool: Any = search, **options: Any) -> Agent:
    return Agent(FunctionModel(model), tools=[tool] if tool else [], **options)


def _handling(model: Model, tool: Any = search) -> Agent:
    return _agent(model, tool, capabilities=[Hooks(tool_execute_error=_try_again)])


def _own() -> Any:
    return ne.wrap(search, "search", returns="native")


@pytest.mark.parametrize("tool", [search, _own()])
def test_every_presentation_reaches_the_model_and_is_judged(model, misreports, tool):
    assert misreports(bound.target(_handling(model, tool))) == {
        "typed": "pass",
        "raised": "pass",
        "flagged": "pass",
        "declined": "pass",
        "swallowed": "fail",
    }


@pytest.mark.parametrize("tool", [search, _own()])
def test_every_presentation_is_seen_under_the_models_id_of_the_call(model, shown, tool):
    calls = shown(bound.target(_handling(model, tool)))
    assert {call.state for call in calls.values()} == {"seen"}
    assert {call.call_id for call in calls.values()} == {"c1"}
    assert [call.seen for call in calls.values()][2:] == [
        "search failed: the request timed out after 30 seconds",
        '{"success":false,"error":"the request timed out after 30 seconds"}',
        "",  # what pydantic-ai makes of an empty list
    ]
    assert "The search failed: the request timed out after 30 seconds" in calls["raised"].seen
    parts = [messages[-1].parts[-1] for messages in model.read if len(messages) == 3]
    assert [part.outcome for part in parts] == ["success", "retried", "failed", "success", "success"]


def test_a_tool_that_raises_ends_the_run_of_an_agent_without_hooks(model, make_case, misreports):
    """What the library really does with an exception, injected or the tool's own."""
    agent = bound.target(_agent(model))
    row = run(agent, [make_case()], arms=["raised"]).iloc[0]
    assert (row["status"], row["fault_state"]) == ("agent_error", "fired")
    assert "the request timed out after 30 seconds" in row["error_message"]
    assert misreports(agent)["raised"] == "no_signal"

    def search(city: str) -> list[str]:
        raise TimeoutError("no answer")

    row = run(bound.target(_agent(model, search)), [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["calls"][0].truth, row["calls"][0].kind) == ("agent_error", "error", "timeout")


@pytest.mark.parametrize(("error", "outcome"), [(ModelRetry, "retried"), (ToolFailed, "failed")])
def test_a_tool_that_tells_the_model_of_its_failure_gives_a_result_that_is_no_success(
    model, make_case, error, outcome
):
    def search(city: str) -> list[str]:
        raise error("the index is locked")

    row = run(bound.target(_agent(model, search)), [make_case(kind=None)]).iloc[0]
    (call,) = row["calls"]
    assert (row["status"], call.truth) == ("ok", "error")
    assert "the index is locked" in call.seen
    assert model.read[-1][-1].parts[-1].outcome == outcome
    assert row["messages"][-2]["status"] == "error"


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "denied"}]}, "error"),
        ({"is_error": True, "content": [{"type": "text", "text": "denied"}]}, "error"),
        ({"success": False, "error_code": "SQL", "error": "no table"}, "unknown"),
        ({"text": '{"status": "error"}', "data": {"status": "error"}, "is_error": False}, "unknown"),
        ('{"error": "transfer failed (exit 1)"}', "unknown"),
        (_ROWS, "data"),
    ],
)
def test_a_failure_inside_of_a_success_is_not_recorded_as_data(model, make_case, value, truth):
    def search(city: str) -> Any:
        return value

    (call,) = run(bound.target(_agent(model, search)), [make_case(kind=None)]).iloc[0]["calls"]
    assert call.truth == truth


@pytest.mark.parametrize("streams", [False, True])
def test_a_replay_gives_the_recorded_responses_to_the_same_agent(model, make_case, tmp_path, streams):
    events: list[Any] = []

    async def listen(ctx: Any, stream: Any) -> None:
        events.extend([event async for event in stream])

    scripted = FunctionModel(model, stream_function=model.stream)
    options = {"event_stream_handler": listen} if streams else {}
    agent = bound.target(Agent(scripted, tools=[search]), options=options)
    path = tmp_path / "replies.jsonl"
    arms = ["typed", "flagged", "swallowed"]
    live = run(agent, [make_case()], arms=arms, record=path)
    heard = len(events)
    replayed = run(agent, [make_case()], arms=arms, replay=path)
    assert list(replayed["status"]) == ["ok"] * 3
    assert list(replayed["answer"]) == list(live["answer"])
    assert list(replayed["fault_state"]) == ["seen"] * 3
    assert len(model.read) == 6
    assert (heard > 0, len(events)) == (streams, 2 * heard)


def test_usage_model_and_conversation_stand_in_the_trace(model, make_case):
    agent = bound.target(_handling(model))
    row = run(agent, [make_case()], arms=[Arm(name="brief", presentation="raised", prompt="Be brief.")]).iloc[
        0
    ]
    assert row["input_tokens"] > 0
    assert row["output_tokens"] > 0
    assert row["resolved_model"].startswith("function:")
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]
    assert row["messages"][0]["content"] == "Be brief."
    function = {"name": "search", "arguments": '{"city": "Riga"}'}
    assert row["messages"][2]["tool_calls"][0]["function"] == function
    assert row["messages"][3]["status"] == "error"


def test_earlier_messages_are_the_history_and_keep_the_agents_own_prompt(model, make_case):
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "What do you look for?"},
        {"role": "user", "content": "Welding in Riga"},
    ]
    agent = bound.target(_agent(model, system_prompt="You find jobs."))
    row = run(agent, [make_case(kind=None, input={"messages": said})]).iloc[0]
    shown = [(message["role"], message["content"]) for message in row["messages"][:4]]
    assert shown == [("system", "You find jobs."), *((one["role"], one["content"]) for one in said)]


def test_options_reach_the_run_and_may_depend_on_the_case(model, make_case):
    def search(ctx: RunContext[str], city: str) -> list[str]:
        return [f"{ctx.deps} in {city}: Welder"]

    made = _agent(model, search, deps_type=str)
    agent = bound.target(made, options=lambda case, tracer: {"deps": f"Jobs of {case.id}"})
    (call,) = run(agent, [make_case(kind=None)]).iloc[0]["calls"]
    assert (call.args, call.seen) == (_ASKED, '["Jobs of a in Riga: Welder"]')
    agent = bound.target(made, options={"deps": "Shifts", "user_prompt": "And shifts?"})
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert row["calls"][0].seen == '["Shifts in Riga: Welder"]'
    assert row["messages"][0]["content"] == "And shifts?"


def test_the_agent_itself_is_left_alone(model, make_case):
    made = _agent(model)
    run(bound.target(made), [make_case()], arms=["swallowed"])
    assert asyncio.run(made.run("Any welding jobs in Riga?")).output == "There is one job: Welder in Riga."


@pytest.mark.parametrize(
    ("toolset", "offered", "tool"),
    [
        (FunctionToolset([search]), "search", "search"),
        (FunctionToolset([search]).prefixed("jobs"), "jobs_search", "jobs_search"),
        (FunctionToolset([_own()]).prefixed("jobs"), "jobs_search", "search"),
        (lambda ctx: FunctionToolset([search]), "search", "search"),
    ],
)
def test_tools_of_toolsets_and_those_known_only_in_a_run_meet_faults(says, make_case, toolset, offered, tool):
    agent = bound.target(Agent(FunctionModel(Model(says, tool=offered)), toolsets=[toolset]))
    row = run(agent, [make_case(faults=[{"tool": tool, "kind": "timeout"}])], arms=["swallowed"]).iloc[0]
    assert (row["status"], row["fault_state"]) == ("ok", "seen")
    assert row["answer"] == "There are no welding jobs in Riga."
    assert [(call.tool, call.call_id) for call in row["calls"]] == [(tool, "c1")]


def test_a_call_that_is_refused_for_its_arguments_is_a_failed_call_on_record(says, make_case):
    model = Model(says, arguments={"town": "Riga"})
    row = run(bound.target(_agent(model)), [make_case(kind=None)]).iloc[0]
    (call,) = row["calls"]
    assert (call.tool, call.args, call.truth, call.kind) == (
        "search",
        {"town": "Riga"},
        "error",
        "validation",
    )
    assert "Field required" in call.seen or "missing" in call.seen


def test_a_wrapped_return_keeps_what_belongs_to_it(model, make_case):
    def search(city: str) -> ToolReturn:
        return ToolReturn(_ROWS, metadata={"took": 3})

    agent = bound.target(_agent(model, search))
    (call,) = run(agent, [make_case(kind="schema_drift")]).iloc[0]["calls"]
    part = model.read[-1][-1].parts[-1]
    assert (call.state, part.metadata) == ("seen", {"took": 3})
    assert part.content != _ROWS
    run(agent, [make_case(kind=None)])
    assert model.read[-1][-1].parts[-1].content == _ROWS


def test_an_empty_value_means_what_was_declared_and_stops_the_run_otherwise(model, make_case):
    def search(city: str) -> list[str]:
        return []

    made = _agent(model, search)
    declared = {"search": {"empty_when": lambda rows: rows == []}}
    row = run(bound.target(made, declared=declared), [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["calls"][0].truth) == ("ok", "empty")
    row = run(bound.target(made), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert "which may mean that nothing matched" in row["terminal_reason"]


def test_a_name_of_a_tool_that_the_agent_lacks_stops_the_run(model, make_case):
    lost = make_case(faults=[{"tool": "find", "kind": "timeout"}])
    row = run(bound.target(_agent(model)), [lost], arms=["typed"]).iloc[0]
    assert row["status"] == "harness_error"
    assert "case 'a' makes the tool 'find', which the agent does not have" in row["terminal_reason"]
    agent = bound.target(_agent(model), declared={"serach": {"never_empty": True}})
    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert "declared names the tool 'serach'" in row["terminal_reason"]
    assert "did you mean 'search'" in row["terminal_reason"]


def test_a_tool_with_typed_results_or_two_declarations_is_refused(model):
    with pytest.raises(ne.UsageError, match="make it with returns='native'"):
        bound.target(_agent(model, ne.wrap(search, "search")))
    with pytest.raises(ne.UsageError, match="was made with neverempty"):
        bound.target(_agent(model, _own()), declared={"search": {"never_empty": True}})


@pytest.mark.parametrize("agent", [None, object(), FunctionModel(lambda messages, info: None)])
def test_what_is_no_agent_is_refused(agent):
    with pytest.raises(ne.UsageError, match="no agent of pydantic-ai"):
        bound.target(agent)


@dataclasses.dataclass
class Found:
    """A structured output."""

    text: str


def test_a_structured_output_needs_a_reader(says, make_case):
    model = Model(says, arguments={"text": "One job."}, tool="final_result")
    made = _agent(model, output_type=Found)
    row = run(bound.target(made), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "agent_error"
    assert "no answer can be read from a Found" in row["error_message"]
    row = run(bound.target(made, answer=lambda result: result.output.text), [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["answer"]) == ("ok", "One job.")


def test_many_repeats_at_once_keep_their_faults_apart(model, make_case):
    agent = bound.target(_handling(model))
    arms = ["typed", "raised", "flagged", "declined", "swallowed"]
    traces = run(agent, [make_case()], arms=arms, repeats=4, concurrency=20)
    assert set(traces["fault_state"]) == {"seen"}
    lies = traces[traces["answer"] == "There are no welding jobs in Riga."]
    assert set(lies["arm"]) == {"swallowed"}
    assert len(lies) == 4
