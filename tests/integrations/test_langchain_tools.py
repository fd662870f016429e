"""LangChain's tools under faults: what each presentation becomes, what is recorded, what stays as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException, tool

import neverempty as ne
from neverempty._errors import UsageError
from neverempty.integrations import langchain
from neverempty.running import run

pytestmark = pytest.mark.frameworks
_CALL = {"name": "search", "args": {"city": "Riga"}, "id": "c1", "type": "tool_call"}


@tool
def search(city: str) -> list[dict[str, str]]:
    """Find jobs by city."""
    return [{"title": "Welder", "city": city}]


class Sync(BaseTool):
    name: str = "search"
    description: str = "Find jobs."

    def _run(self, city: str) -> str:
        return f"Welder in {city}"


class Both(Sync):
    async def _arun(self, city: str) -> str:
        return f"Welder in {city}, found slowly"


async def _search_slowly(city: str) -> str:
    """Find jobs."""
    return f"Welder in {city}"


_KINDS = [
    pytest.param(search, id="function"),
    pytest.param(Sync(), id="class"),
    pytest.param(Both(), id="class of both kinds"),
    pytest.param(StructuredTool.from_function(coroutine=_search_slowly, name="search"), id="coroutine"),
]


def _agent(used: Any, is_async: bool, received: list[Any] | None = None) -> Callable[..., Any]:
    """Call the tool as a model asks for it, and keep what LangChain makes of its end."""

    async def agent(case: Any, tracer: Any) -> str:
        message = await used.ainvoke(_CALL) if is_async else await asyncio.to_thread(used.invoke, _CALL)
        if received is not None:
            received.append(message)
        return str(message.content)

    return agent


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("used", _KINDS)
def test_a_fault_reaches_a_tool_of_any_kind_once_and_nothing_of_it_runs(make_case, used, is_async):
    if used.name == "search" and getattr(used, "coroutine", None) and not is_async:
        used = used.model_copy(update={"func": lambda city: f"Welder in {city}"})
    wrapped = langchain.wrap(used)
    row = run(_agent(wrapped, is_async), [make_case()]).iloc[0]
    (call,) = row["calls"]
    assert (call.tool, call.args, call.call_id) == ("search", {"city": "Riga"}, "c1")
    assert (call.truth, call.kind, call.state, call.attempts) == ("error", "timeout", "fired", 1)
    assert "Welder" not in row["answer"]
    row = run(_agent(wrapped, is_async), [make_case(kind=None)]).iloc[0]
    assert "Welder" in row["answer"]
    assert [call.truth for call in row["calls"]] == ["data"]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("arm", "status", "content"),
    [
        ("typed", "success", '{"status": "error", "kind": "timeout", '),
        ("flagged", "error", "search failed: the request timed out after 30 seconds"),
        ("declined", "success", '{"success": false, "error": "the request timed out after 30 seconds"}'),
        ("swallowed", "success", []),
    ],
)
def test_langchain_shows_a_failure_that_is_returned_in_this_way(make_case, arm, status, content, is_async):
    received: list[ToolMessage] = []
    run(_agent(langchain.wrap(search), is_async, received), [make_case()], arms=[arm])
    (message,) = received
    assert (message.status, message.tool_call_id, message.name) == (status, "c1", "search")
    assert message.content == content or message.content[: len(content)] == content


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_langchain_lets_an_exception_out_of_a_tool_that_handles_none(make_case, is_async):
    row = run(_agent(langchain.wrap(search), is_async), [make_case()], arms=["raised"]).iloc[0]
    assert (row["status"], row["error_kind"]) == ("agent_error", "timeout")
    assert row["calls"][0].truth == "error"


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("handler", "content"),
    [
        (True, "the request timed out after 30 seconds"),
        ("No luck.", "No luck."),
        (lambda error: f"Because: {error}", "Because: the request timed out after 30 seconds"),
    ],
)
def test_langchain_shows_an_exception_by_the_tools_own_handler(make_case, handler, content, is_async):
    received: list[ToolMessage] = []
    handling = search.model_copy(update={"handle_tool_error": handler})
    run(_agent(langchain.wrap(handling), is_async, received), [make_case()], arms=["raised"])
    assert [(message.content, message.status) for message in received] == [(content, "error")]


def test_an_exception_of_the_tools_own_stays_what_it_is(make_case):
    @tool
    def broken(city: str) -> str:
        """Fail."""
        raise ConnectionError("refused")

    broken.name = "search"
    broken.handle_tool_error = True
    row = run(_agent(langchain.wrap(broken), False), [make_case(kind=None)]).iloc[0]
    assert (row["status"], row["error_message"]) == ("agent_error", "ConnectionError: refused")
    assert (row["calls"][0].truth, row["calls"][0].kind) == ("error", "connection")


def test_without_the_id_of_a_call_a_flag_has_no_place_and_the_text_is_returned(make_case):
    wrapped = langchain.wrap(search)
    row = run(lambda case, tracer: wrapped.invoke({"city": "Riga"}), [make_case()], arms=["flagged"]).iloc[0]
    assert row["answer"] == "search failed: the request timed out after 30 seconds"


def test_the_tool_itself_is_left_as_it_is_and_the_copy_is_like_it_outside_of_a_run():
    before = dict(vars(search))
    wrapped = langchain.wrap(search)
    assert vars(search) == before
    assert type(wrapped) is type(search)
    assert wrapped.invoke(_CALL) == search.invoke(_CALL)
    assert asyncio.run(wrapped.ainvoke(_CALL)) == search.invoke(_CALL)
    assert wrapped.tool_call_schema.model_json_schema() == search.tool_call_schema.model_json_schema()


def test_a_fault_takes_the_content_and_leaves_the_form_of_content_and_artifact(make_case):
    @tool("search", response_format="content_and_artifact")
    def with_artifact(city: str) -> tuple[list[str], dict[str, int]]:
        """Find jobs."""
        return ["Welder"], {"pages": 1}

    wrapped = langchain.wrap(with_artifact)
    received: list[ToolMessage] = []
    run(_agent(wrapped, False, received), [make_case()], arms=["swallowed"])
    run(_agent(wrapped, False, received), [make_case(kind=None)])
    assert [(message.content, message.artifact) for message in received] == [
        ([], None),
        (["Welder"], {"pages": 1}),
    ]


def test_what_the_framework_injects_reaches_the_tool_and_not_the_record(make_case):
    got: list[Any] = []

    @tool("search")
    def injected(city: str, config: RunnableConfig, secret: Annotated[str, InjectedToolArg] = "none") -> str:
        """Find jobs."""
        got.append((config["metadata"]["who"], secret))
        return "Welder"

    wrapped = langchain.wrap(injected)

    def agent(case: Any, tracer: Any) -> str:
        asked = {**_CALL, "args": {"city": "Riga", "secret": "s3"}}
        return str(wrapped.invoke(asked, {"metadata": {"who": "me"}}).content)

    row = run(agent, [make_case(kind=None)]).iloc[0]
    assert got == [("me", "s3")]
    assert row["calls"][0].args == {"city": "Riga"}


def test_an_undeclared_empty_value_is_an_error_of_the_set_up_whatever_handles_it(make_case):
    @tool("search")
    def nothing(city: str) -> list[str]:
        """Find jobs."""
        return []

    def agent(case: Any, tracer: Any, used: Any) -> str:
        try:
            return str(used.invoke(_CALL).content)
        except Exception:
            return "There are none."

    strict, declared = langchain.wrap(nothing), langchain.wrap(nothing, empty_when=lambda rows: rows == [])
    row = run(lambda case, tracer: agent(case, tracer, strict), [make_case(kind=None)]).iloc[0]
    assert row["status"] == "harness_error"
    assert "empty_when" in row["terminal_reason"]
    row = run(lambda case, tracer: agent(case, tracer, declared), [make_case(kind=None)]).iloc[0]
    assert [call.truth for call in row["calls"]] == ["empty"]


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (ToolMessage("refused", tool_call_id="c1", status="error"), "error"),
        ('{"success": false, "error_code": "SQL", "error": "locked"}', "unknown"),
        ('{"status": "error", "reason": "bad input"}', "unknown"),
        ("Error: ValueError('x')\n Please fix your mistakes.", "unknown"),
        ({"jobs": ["Welder"], "error": None}, "data"),
    ],
)
def test_a_failure_of_the_tools_own_is_seen_in_its_flag_and_doubted_in_its_text(make_case, value, truth):
    @tool("search")
    def returns(city: str) -> Any:
        """Find jobs."""
        return value

    row = run(_agent(langchain.wrap(returns), False), [make_case(kind=None)]).iloc[0]
    assert [call.truth for call in row["calls"]] == [truth]


def test_a_fault_below_the_tools_own_except_is_the_bug_itself(make_case, monkeypatch):
    import json

    @tool("search")
    def careless(city: str) -> list[str]:
        """Find jobs."""
        try:
            return json.loads('["Welder"]')
        except Exception:
            return []

    case = make_case(faults=[{"tool": "search", "kind": "timeout", "below": "json:loads"}])
    row = run(_agent(langchain.wrap(careless), False), [case]).iloc[0]
    (call,) = row["calls"]
    assert (call.truth, call.layer, call.returned) == ("error", "json:loads", "[]")


def test_a_tool_that_calls_a_tool_counts_as_two_calls(make_case):
    inner = langchain.wrap(search)

    @tool
    def outer(city: str) -> str:
        """Ask the other tool."""
        return str(inner.invoke({"city": city}))

    wrapped = langchain.wrap(outer)
    row = run(lambda case, tracer: wrapped.invoke({"city": "Riga"}), [make_case(kind=None)]).iloc[0]
    assert [call.tool for call in row["calls"]] == ["outer", "search"]


def test_a_tool_made_of_one_of_this_packages_tools_meets_a_fault_once(make_case):
    @ne.tool("search", returns="native")
    def own(city: str) -> str:
        """Find jobs."""
        return "Welder"

    made = StructuredTool.from_function(func=own, name="search", description="Find jobs.")
    case = make_case(faults=[{"tool": "search", "kind": "timeout", "after_calls": 1}])

    def agent(case: Any, tracer: Any) -> str:
        with langchain.watching(made):
            return str([made.invoke({"city": "Riga"}) for _ in range(2)])

    row = run(agent, [case]).iloc[0]
    assert [call.truth for call in row["calls"]] == ["data", "error"]
    with pytest.raises(UsageError, match="wrapped already"):
        langchain.wrap(made)


def test_what_cannot_be_wrapped_is_refused():
    with pytest.raises(UsageError, match="no LangChain tool"):
        langchain.wrap(RunnableLambda(str))
    with pytest.raises(UsageError, match="wrapped already"):
        langchain.wrap(langchain.wrap(search))


def test_a_stub_stands_in_for_a_tool_with_side_effects(make_case):
    sent: list[str] = []

    @tool
    def send(city: str) -> str:
        """Send a mail."""
        raise ToolException("must not run")

    wrapped = langchain.wrap(send, side_effect=True)

    def stub(city: str) -> str:
        sent.append(city)
        return "sent"

    agent = lambda case, tracer: wrapped.invoke({"city": "Riga"})  # noqa: E731  # an agent in one line
    row = run(agent, [make_case(kind=None)], stubs={"send": stub}).iloc[0]
    assert (row["answer"], sent) == ("sent", ["Riga"])
