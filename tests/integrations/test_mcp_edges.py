"""Client sessions of MCP at the edges: whatever text a server sends, and one session for many repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import mcp
import pytest
from mcp.server.mcpserver import MCPServer

import neverempty as ne
from neverempty.integrations import mcp as bound
from neverempty.running import run

pytestmark = pytest.mark.frameworks


@pytest.fixture
def server() -> MCPServer:
    made = MCPServer("jobs", log_level="CRITICAL")

    @made.tool(structured_output=False)
    def search(text: str) -> str:
        """Give a text back."""
        return text

    return made


@pytest.fixture
def one_call(make_case: Callable[..., Any], server: MCPServer) -> Callable[..., Any]:
    """Let an agent do one thing with a wrapped client inside of a run: its result, and the trace."""

    def call(act: Callable[[Any], Awaitable[Any]], **options: Any) -> Any:
        kept: list[Any] = []

        async def agent(case: Any, tracer: Any) -> str:
            async with mcp.Client(server) as client:
                kept.append(await act(bound.wrap(client)))
            return "Done."

        return kept, run(agent, [make_case(kind=None)], **options).iloc[0]

    return call


UNFLAGGED = [
    '{"error": "sftp failed (exit 1)"}',
    '{"success": false, "error_code": "SQL_ERROR", "error": "syntax"}',
    '{"status": "error", "reason": "one validation error"}',
    "Error: Exception('the network is down')",
]


@pytest.mark.parametrize("text", UNFLAGGED)
def test_a_success_whose_text_tells_of_a_failure_is_of_unknown_truth(one_call, text):
    kept, row = one_call(lambda session: session.call_tool("search", {"text": text}))
    assert kept[0].content[0].text == text
    assert row["calls"][0].truth == "unknown"


HOSTILE = ["", "\x00", "<b>Welder</b>", "[" * 9000, '{"a": NaN}', "{", "\u2028" * 3, "x" * 300_000]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_text_a_server_sends_goes_through_unchanged(one_call, text):
    kept, row = one_call(lambda session: session.call_tool("search", {"text": text}))
    assert (row["status"], kept[0].content[0].text) == ("ok", text)
    assert row["calls"][0].truth == "data"


def test_a_lone_surrogate_from_a_stub_becomes_a_text_that_the_protocol_can_carry(one_call):
    kept, row = one_call(
        lambda session: session.call_tool("search", {"text": "x"}), stubs={"search": lambda text: "a\ud835"}
    )
    assert row["status"] == "ok"
    assert "a\\\\ud835" in kept[0].model_dump_json()


def test_an_exception_of_the_session_itself_is_raised_and_recorded(one_call):
    async def ask(session: Any) -> str:
        try:
            await session.call_tool("search", {"text": "x"}, meta=object())
        except Exception as error:
            return type(error).__name__
        return ""

    kept, row = one_call(ask)
    assert kept != [""]
    assert (row["status"], row["calls"][0].truth) == ("ok", "error")


def test_repeats_share_one_session_side_by_side(make_case, server):
    async def main() -> Any:
        async with mcp.Client(server) as client:
            session = bound.wrap(client)

            async def agent(case: Any, tracer: Any) -> str:
                return str((await session.call_tool("search", {"text": "Welder"})).content[0].text)

            cases = [make_case("a"), make_case("b", kind=None)]
            return await ne.arun(agent, cases, arms=["flagged"], repeats=8, concurrency=8)

    traces = asyncio.run(main())
    answers = traces.groupby("case_id", observed=True)["answer"].agg(set)
    assert answers["a"] == {"search failed: the request timed out after 30 seconds"}
    assert answers["b"] == {"Welder"}
    assert all(len(calls) == 1 for calls in traces["calls"])


def test_a_client_may_be_wrapped_before_it_is_opened(server):
    async def main() -> str:
        async with bound.wrap(mcp.Client(server)) as client:
            return str((await client.call_tool("search", {"text": "Hi"})).content[0].text)

    assert asyncio.run(main()) == "Hi"
