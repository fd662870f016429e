"""The order of the frame, seeds, isolation, concurrency, and what is refused before the first call."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import random
import threading
from typing import Any

import pandas as pd
import pytest

from neverempty import Arm, InputError, UsageError
from neverempty.frames import calls_frame, check_frame
from neverempty.running import RunOptions, arun, run

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


async def echo(case: Any, tracer: Any) -> str:
    return f"{case.id}, {tracer.arm.name}, {tracer.repeat}, {tracer.rng.integers(1 << 40)}"


async def slow_echo(case: Any, tracer: Any) -> str:
    await asyncio.sleep(random.random() / 200)
    return await echo(case, tracer)


def sync_echo(case: Any, tracer: Any) -> str:
    return asyncio.run(echo(case, tracer))


def test_the_frame_is_the_same_whatever_the_concurrency_and_the_kind_of_agent(cases, comparable) -> None:
    frames = [
        run(agent, cases, arms=["typed", "swallowed"], repeats=3, seed=7, concurrency=concurrency)
        for agent, concurrency in ((echo, 1), (slow_echo, 24), (sync_echo, 5))
    ]
    keys = frames[0][["case_id", "arm", "repeat"]].itertuples(index=False, name=None)
    assert list(keys) == [
        (case.id, arm, repeat) for case in cases for arm in ("typed", "swallowed") for repeat in range(3)
    ]
    assert frames[0]["answer"].nunique() == 24
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(comparable(frame), comparable(frames[0]))
    check_frame(frames[0], "traces")


def test_the_signature_shows_every_option_with_its_default() -> None:
    for function in (run, arun):
        shown = inspect.signature(function).parameters
        assert list(shown)[:2] == ["agent", "cases"]
        assert set(list(shown)[2:]) == set(RunOptions.__annotations__)
        assert (shown["repeats"].default, shown["concurrency"].default, shown["store"].default) == (
            1,
            8,
            None,
        )
    with pytest.raises(TypeError, match="repeat"):
        run(echo, [], repeat=3)  # type: ignore[call-arg]


def test_another_seed_is_another_run(cases) -> None:
    assert (run(echo, cases, seed=1)["answer"] != run(echo, cases, seed=2)["answer"]).all()


def test_the_fault_meets_the_call_under_each_arm(cases, search_tool) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        return str(await search_tool(query=case.id))

    frame = run(agent, cases, arms=["typed", "swallowed"], repeats=2)
    check_frame(frame, "traces")
    assert frame["fault_kind"].unique().tolist() == ["timeout"]
    assert frame["fault_presentation"].tolist() == (["typed"] * 2 + ["swallowed"] * 2) * 4
    assert frame["fault_state"].unique().tolist() == ["fired"]
    calls = check_frame(calls_frame(frame), "calls")
    assert calls["truth"].unique().tolist() == ["error"]
    assert calls["injected"].all()
    assert calls["args"].tolist() == [{"query": case.id} for case in cases for _ in range(4)]


def test_a_fault_whose_tool_is_not_called_stays_armed(cases) -> None:
    assert run(echo, cases)["fault_state"].tolist() == ["armed"] * 4


def test_context_variables_do_not_leak_from_one_repeat_to_the_next(cases) -> None:
    WHO.set("caller")

    async def agent(case: Any, tracer: Any) -> str:
        seen = WHO.get()
        WHO.set(case.id)
        await asyncio.sleep(0)
        return f"{seen}, {WHO.get()}"

    def sync_agent(case: Any, tracer: Any) -> str:
        seen = WHO.get()
        WHO.set(case.id)
        return f"{seen}, {WHO.get()}"

    for found in (run(agent, cases, concurrency=1), run(sync_agent, cases, concurrency=1)):
        assert found["answer"].tolist() == [f"caller, {case.id}" for case in cases]
    assert WHO.get() == "caller"


@pytest.mark.parametrize("is_async", [True, False])
def test_no_more_agents_than_asked_run_at_once(make_cases, is_async) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def count(by: int) -> None:
        nonlocal running, most
        with lock:
            running += by
            most = max(most, running)

    def agent(case: Any, tracer: Any) -> str:
        count(1)
        threading.Event().wait(0.01)
        count(-1)
        return "x"

    async def async_agent(case: Any, tracer: Any) -> str:
        count(1)
        await asyncio.sleep(0.01)
        count(-1)
        return "x"

    run(async_agent if is_async else agent, make_cases(20), concurrency=4)
    assert most == 4


def test_a_run_works_where_a_loop_is_running_as_in_a_notebook_cell(cases) -> None:
    async def cell() -> pd.DataFrame:
        return run(slow_echo, cases)

    assert asyncio.run(cell())["status"].tolist() == ["ok"] * 4


def test_arun_is_the_same_run(cases, comparable) -> None:
    awaited = asyncio.run(arun(slow_echo, cases, repeats=2, seed=3))
    pd.testing.assert_frame_equal(comparable(awaited), comparable(run(echo, cases, repeats=2, seed=3)))


def test_runs_may_overlap_in_one_process(cases, search_tool) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        await asyncio.sleep(0.001)
        return str((await search_tool(query=tracer.arm.name)).status)

    async def both() -> list[pd.DataFrame]:
        return await asyncio.gather(
            *(arun(agent, cases, arms=[arm], repeats=5) for arm in ("typed", "swallowed"))
        )

    typed, swallowed = asyncio.run(both())
    assert set(calls_frame(typed)["presentation"]) == {"typed"}
    assert set(calls_frame(swallowed)["presentation"]) == {"swallowed"}


def test_parallel_and_multi_turn_calls_are_written_down_in_order(cases, search_tool, lookup_tool) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        await asyncio.gather(search_tool(query="a"), search_tool(query="b"))
        await asyncio.to_thread(lookup_tool, query="c")
        await asyncio.create_task(search_tool(query="d"))
        return "done"

    calls = calls_frame(run(agent, cases))
    assert calls["call"].tolist() == [0, 1, 2, 3] * 4
    assert [args["query"] for args in calls["args"]] == ["a", "b", "c", "d"] * 4
    assert calls["tool"].tolist() == ["search", "search", "lookup", "search"] * 4


def test_no_cases_give_a_frame_without_rows() -> None:
    frame = run(echo, [])
    assert len(frame) == 0
    check_frame(frame, "traces")


def test_arms_of_ones_own_reach_the_agent(cases) -> None:
    arms = [Arm(name="short", prompt="Be brief.", model="m"), Arm(name="long", params={"n": 2})]

    async def agent(case: Any, tracer: Any) -> str:
        return f"{tracer.arm.prompt} {tracer.arm.model} {tracer.arm.params}"

    frame = run(agent, cases[:1], arms=arms)
    assert frame["answer"].tolist() == ["Be brief. m {}", "None None {'n': 2}"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"repeats": 0}, "repeats is 0"),
        ({"repeats": True}, "repeats is True"),
        ({"repeats": 1.5}, "repeats is 1.5"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"budget_usd": -1}, "budget_usd is -1"),
        ({"budget_tokens": float("inf")}, "budget_tokens is inf"),
        ({"arms": ["typed", "typed"]}, "'typed' is given more than once"),
        ({"arms": []}, "arms is empty"),
        ({"arms": ["tiped"]}, "unknown arm 'tiped'; did you mean 'typed'"),
        ({"arms": 5}, "unknown arm 5; allowed: 'declined'"),
        ({"record": "a", "replay": "b"}, "exclude each other"),
        ({"store": 3}, "store is 3; give the path of a file"),
        ({"record": ["a"]}, "record is .'a'.; give the path of a file"),
        ({"stubs": ["send"]}, "stubs is list; give a mapping"),
        ({"replay": "no-such-file"}, "no such recording"),
        ({"stubs": {"send": 3}}, "the stub of tool 'send' is int"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_the_first_call(cases, options, problem) -> None:
    def agent(case: Any, tracer: Any) -> str:
        raise AssertionError("was called")

    with pytest.raises(UsageError, match=problem):
        run(agent, cases, **options)


@pytest.mark.parametrize(
    ("agent", "problem"),
    [("agent", "str, which cannot be called"), (lambda case: "x", r"must take \(case, tracer\)")],
)
def test_what_is_no_agent_is_refused(cases, agent, problem) -> None:
    with pytest.raises(UsageError, match=problem):
        run(agent, cases)


def test_what_are_no_cases_is_refused(cases) -> None:
    with pytest.raises(UsageError, match="load_cases"):
        run(echo, "cases.jsonl")
    with pytest.raises(UsageError, match=r"cases\[1\] is dict"):
        run(echo, [cases[0], {}])
    with pytest.raises(UsageError, match="'case 0' of suite 'jobs' stands more than once"):
        run(echo, [*cases, cases[0]])


def test_a_fault_below_a_target_that_does_not_exist_is_refused(make_cases) -> None:
    fault = {"tool": "search", "kind": "timeout", "below": "json:no_such"}
    with pytest.raises(UsageError, match="no_such"):
        run(echo, make_cases(1, faults=[fault]))


def test_the_store_of_a_failing_disk_ends_the_run(cases, tmp_path) -> None:
    with pytest.raises((OSError, InputError)):
        run(echo, cases, store=tmp_path)
