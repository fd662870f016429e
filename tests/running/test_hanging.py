"""Agents that hang: a row that names the limit, and nothing of what they do later."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from neverempty.running import run

OVER = threading.Event()


@pytest.fixture(autouse=True)
def _hung_agents_end() -> Iterator[None]:
    """Let agents that hang in a thread go when their test is over, so that none is in flight in the next."""
    OVER.clear()
    before = threading.active_count()
    yield
    OVER.set()
    for _ in range(200):
        if threading.active_count() <= before:
            break
        time.sleep(0.01)


async def hangs(case: Any, tracer: Any) -> str:
    await asyncio.sleep(60)
    return "late"


async def refuses_to_be_cancelled(case: Any, tracer: Any) -> str:
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue


async def refuses_to_be_closed(case: Any, tracer: Any) -> str:
    while True:
        try:
            await asyncio.sleep(60)
        except BaseException as refused:
            tracer.messages.append({"role": "user", "content": repr(refused)})


def hangs_in_a_thread(case: Any, tracer: Any) -> str:
    OVER.wait(20)
    return "late"


def hangs_in_an_awaitable(case: Any, tracer: Any) -> Any:
    return hangs(case, tracer)


@pytest.mark.parametrize(
    "agent",
    [hangs, refuses_to_be_cancelled, refuses_to_be_closed, hangs_in_a_thread, hangs_in_an_awaitable],
)
def test_a_hung_agent_is_a_row_that_names_the_limit(cases, agent) -> None:
    start = time.monotonic()
    frame = run(agent, cases, timeout=0.05)
    assert time.monotonic() - start < 4
    assert frame["status"].tolist() == ["agent_timeout"] * 4
    assert frame["terminal_reason"].str.contains("0.05 s, the run's limit per case").all()
    assert frame["answer"].isna().all()


def test_the_runs_limit_stays_apart_from_an_injected_tool_timeout(cases, search_tool) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        await search_tool(query="nurse")
        if case.id == "case 0":
            await asyncio.sleep(60)
        return "The search timed out."

    frame = run(agent, cases, timeout=0.2)
    assert frame["status"].tolist() == ["agent_timeout", "ok", "ok", "ok"]
    assert [found[0].kind for found in frame["calls"]] == ["timeout"] * 4
    assert frame["fault_state"].tolist() == ["fired"] * 4
    assert frame["error_kind"].isna().all()


def test_what_a_hung_agent_writes_late_is_dropped(cases, lookup_tool) -> None:
    release, late = threading.Event(), []

    def agent(case: Any, tracer: Any) -> str:
        lookup_tool(query="early")
        if case.id == "case 0":
            release.wait(20)
            try:
                lookup_tool(query="late")
            except Exception as error:
                late.append(str(error))
            tracer.set_route("late")
            release.clear()
        return "done"

    frame = run(agent, cases, timeout=0.3, concurrency=2)
    release.set()
    for _ in range(200):
        if late:
            break
        time.sleep(0.01)
    assert late
    assert "after this repeat had ended" in late[0]
    assert [[call.args["query"] for call in found] for found in frame["calls"]] == [["early"]] * 4
    assert frame["route"].isna().all()
    assert frame["status"].tolist() == ["agent_timeout", "ok", "ok", "ok"]


def test_a_hung_thread_is_replaced_and_a_free_one_used_again(make_cases) -> None:
    threads = set()

    def agent(case: Any, tracer: Any) -> str:
        threads.add(threading.get_ident())
        if case.id == "case 0":
            OVER.wait(20)
        return "done"

    frame = run(agent, make_cases(20), timeout=0.2, concurrency=1)
    assert frame["status"].tolist() == ["agent_timeout"] + ["ok"] * 19
    assert len(threads) == 2
