"""LangChain's chat models through the seam: usage, what was read, recording, replay, budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool

from neverempty.integrations import langchain
from neverempty.integrations._langchain_messages import chat_messages, message_of, reply_of
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_USAGE = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}


class Parrot(BaseChatModel):
    """Says how often it was asked and what it read last; every request is kept."""

    model: str = "parrot"
    temperature: float | None = None
    asked: list[Any]

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.asked.append((list(messages), kwargs))
        said = AIMessage(f"{len(self.asked)}: {messages[-1].content}", usage_metadata=_USAGE)
        said.response_metadata = {"model_name": "parrot-1"}
        return ChatResult(generations=[ChatGeneration(message=said)])


class Stammerer(Parrot):
    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        self.asked.append((list(messages), kwargs))
        for text in (f"{len(self.asked)}: ", messages[-1].content):
            yield ChatGenerationChunk(message=AIMessageChunk(text))


def _ask(model: Any, way: str) -> Callable[..., Any]:
    """Make an agent that asks in one of the ways that a chat model can be asked."""

    async def agent(case: Any, tracer: Any) -> str:
        with langchain.watching():
            if way == "invoke":
                return str((await asyncio.to_thread(model.invoke, case.prompt)).content)
            if way == "ainvoke":
                return str((await model.ainvoke(case.prompt)).content)
            if way == "batch":
                return str((await asyncio.to_thread(model.batch, [case.prompt]))[0].content)
            if way == "generate":
                result = model.generate([[HumanMessage(case.prompt)], [HumanMessage("And?")]])
                return " ".join(row[0].text for row in result.generations)
            if way == "stream":
                return "".join([chunk.content for chunk in model.stream(case.prompt)])
            return "".join([chunk.content async for chunk in model.astream(case.prompt)])

    return agent


_WAYS = ("invoke", "ainvoke", "batch", "generate", "stream", "astream")


@pytest.mark.parametrize("model_class", [Parrot, Stammerer])
@pytest.mark.parametrize("way", _WAYS)
def test_a_replay_gives_the_recorded_reply_and_asks_no_model(make_case, tmp_path, model_class, way):
    model = model_class(asked=[])
    path = tmp_path / "replies.jsonl"
    live = run(_ask(model, way), [make_case(kind=None)], record=path).iloc[0]
    asked = len(model.asked)
    assert asked == (2 if way == "generate" else 1)
    replayed = run(_ask(model, way), [make_case(kind=None)], replay=path).iloc[0]
    assert (replayed["status"], replayed["answer"]) == ("ok", live["answer"])
    assert live["answer"].startswith("1: Any welding jobs in Riga?")
    assert len(model.asked) == asked


@pytest.mark.parametrize("way", _WAYS)
def test_a_question_that_was_not_recorded_is_a_miss_and_no_live_call(make_case, tmp_path, way):
    model = Parrot(asked=[])
    path = tmp_path / "replies.jsonl"
    run(_ask(model, way), [make_case(kind=None)], record=path)
    asked = len(model.asked)
    other = make_case(kind=None, input={"payload": "Any jobs in Oslo?"})
    assert run(_ask(model, way), [other], replay=path).iloc[0]["status"] == "replay_miss"
    assert len(model.asked) == asked


def test_another_temperature_is_another_request(make_case, tmp_path):
    path = tmp_path / "replies.jsonl"
    run(_ask(Parrot(asked=[], temperature=0.0), "invoke"), [make_case(kind=None)], record=path)
    warmer = Parrot(asked=[], temperature=0.5)
    assert run(_ask(warmer, "invoke"), [make_case(kind=None)], replay=path).iloc[0]["status"] == "replay_miss"


def test_usage_and_the_model_that_answered_stand_in_the_trace(make_case):
    row = run(_ask(Parrot(asked=[]), "ainvoke"), [make_case(kind=None)]).iloc[0]
    assert (row["input_tokens"], row["output_tokens"], row["resolved_model"]) == (7, 2, "parrot-1")
    assert [message["role"] for message in row["messages"]] == ["user", "assistant"]


def test_a_budget_stops_the_run_at_the_model(make_case):
    model = Parrot(asked=[])
    cases = [make_case(case_id=name, kind=None) for name in "abc"]
    with pytest.warns(UserWarning, match="budget_tokens of 9 was spent"):
        traces = run(_ask(model, "ainvoke"), cases, budget_tokens=9, concurrency=1)
    assert list(traces["status"]) == ["ok", "budget_stopped", "budget_stopped"]
    assert len(model.asked) == 1


def test_outside_of_a_run_and_after_it_models_are_as_ever(make_case):
    before = {name: vars(BaseChatModel)[name] for name in ("generate", "agenerate", "stream", "astream")}
    model = Stammerer(asked=[])
    with langchain.watching(), langchain.watching():
        assert [chunk.content for chunk in model.stream("hi")][:2] == ["1: ", "hi"]
    run(_ask(model, "invoke"), [make_case(kind=None)])
    assert {name: vars(BaseChatModel)[name] for name in before} == before


def test_models_are_given_back_when_the_agent_fails(make_case):
    before = vars(BaseChatModel)["generate"]

    def agent(case: Any, tracer: Any) -> str:
        with langchain.watching():
            raise RuntimeError("broken")

    assert run(agent, [make_case(kind=None)]).iloc[0]["status"] == "agent_error"
    assert vars(BaseChatModel)["generate"] is before


def test_every_message_becomes_one_that_other_tools_read():
    call = {"name": "search", "args": {"city": "\ud835"}, "id": "c1"}
    said = [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "Hi"}]),
        AIMessage("", tool_calls=[call]),
        ToolMessage("broken", tool_call_id="c1", status="error"),
        ToolMessage([], tool_call_id="c2"),
    ]
    written = chat_messages(said)
    assert [message["role"] for message in written] == ["system", "user", "assistant", "tool", "tool"]
    assert written[2]["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"city": "\\ud835"}'}
    assert [message.get("status") for message in written[3:]] == ["error", None]
    assert [message["tool_call_id"] for message in written[3:]] == ["c1", "c2"]


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("Two jobs.", id="m1", usage_metadata=_USAGE),
        AIMessage([{"type": "text", "text": "Two."}, {"type": "reasoning", "reasoning": "Hm."}]),
        AIMessage("", tool_calls=[{"name": "search", "args": {"city": "Riga"}, "id": "c1"}]),
        AIMessageChunk("Two jobs.") + AIMessageChunk(" And more."),
    ],
)
def test_a_recorded_message_comes_back_whole(message):
    again = message_of(reply_of(message))
    assert type(again) is AIMessage
    assert (again.content, again.tool_calls, again.usage_metadata) == (
        message.content,
        message.tool_calls,
        message.usage_metadata,
    )


def test_a_reply_recorded_by_another_agent_becomes_a_message():
    function = {"name": "search", "arguments": '{"city": "Riga"}'}
    again = message_of(
        {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    )
    assert (again.content, again.tool_calls[0]["args"], again.tool_calls[0]["id"]) == (
        "",
        {"city": "Riga"},
        "c1",
    )


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_calls_of_a_chain_that_hides_its_tools_are_written_down(make_case, is_async):
    @tool
    def search(city: str) -> Any:
        """Find jobs."""
        if city == "Oslo":
            raise ConnectionError("refused")
        return [] if city == "Rome" else "Welder"

    hidden = {"search": lambda *args: search.ainvoke(*args) if is_async else search.invoke(*args)}

    async def agent(case: Any, tracer: Any) -> str:
        with langchain.watching() as config:
            for city in ("Riga", "Rome", "Oslo"):
                asked = {"name": "search", "args": {"city": city}, "id": city, "type": "tool_call"}
                try:
                    found = hidden["search"](asked, config)
                    await found if is_async else found
                except ConnectionError:
                    return "The search failed."
        return "Done."

    row = run(agent, [make_case(kind=None)]).iloc[0]
    # nobody declared what an empty list means here, so the second call is not known to be one
    assert [(call.call_id, call.truth) for call in row["calls"]] == [
        ("Riga", "data"),
        ("Rome", "unknown"),
        ("Oslo", "error"),
    ]
    assert [call.args for call in row["calls"]] == [{"city": city} for city in ("Riga", "Rome", "Oslo")]
    assert (row["calls"][0].returned, row["calls"][2].kind) == ("Welder", "connection")


def test_a_watched_tool_is_written_down_once_although_the_callback_hears_it_too(make_case):
    @tool
    def search(city: str) -> str:
        """Find jobs."""
        return "Welder"

    def agent(case: Any, tracer: Any) -> str:
        with langchain.watching(search) as config:
            return str(search.invoke({"city": "Riga"}, config))

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert [call.returned for call in row["calls"]] == ["Welder"]


def _chain(model: Any, is_async: bool) -> Callable[..., Any]:
    """Make an agent that only hands the callback on."""

    @tool
    def search(city: str) -> str:
        """Find jobs."""
        return "Error: TimeoutError('gone')\n Please fix your mistakes."

    async def agent(case: Any, tracer: Any) -> str:
        config = {"callbacks": [langchain.call_tracer()]}
        asked = {"name": "search", "args": {"city": "Riga"}, "id": "c1", "type": "tool_call"}
        found = await search.ainvoke(asked, config) if is_async else search.invoke(asked, config)
        said = [HumanMessage(case.prompt), AIMessage("", tool_calls=[asked]), found]
        reply = await model.ainvoke(said, config) if is_async else model.invoke(said, config)
        return str(reply.content)

    return agent


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("model_class", [Parrot, Stammerer])
def test_the_callback_alone_tells_what_was_called_read_and_used(make_case, model_class, is_async):
    row = run(_chain(model_class(asked=[]), is_async), [make_case(kind=None)]).iloc[0]
    (call,) = row["calls"]
    # a success message that tells of an error is neither taken for data nor for a failure
    assert (call.truth, call.call_id, call.seen) == ("unknown", "c1", call.returned)
    assert call.returned.startswith("Error: TimeoutError")
    assert row["input_tokens"] == 7
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_the_callback_alone_is_refused_where_a_model_call_would_have_to_be_held_up(make_case, tmp_path):
    model = Parrot(asked=[])
    with pytest.warns(UserWarning, match="nothing was recorded"):
        row = run(_chain(model, False), [make_case(kind=None)], record=tmp_path / "replies.jsonl").iloc[0]
    assert row["status"] == "harness_error"
    assert "langchain.watching()" in row["terminal_reason"]
    assert model.asked == []


def test_a_model_that_is_watched_is_written_down_once_although_the_callback_hears_it_too(make_case):
    model = Parrot(asked=[])

    async def agent(case: Any, tracer: Any) -> str:
        with langchain.watching() as config:
            return str((await model.ainvoke(case.prompt, config)).content)

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert (row["input_tokens"], len(model.asked)) == (7, 1)
