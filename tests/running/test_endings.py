"""Whatever an agent does becomes a row with a status, never the end of the run."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import pytest

from neverempty import AgentReply
from neverempty.running import run


class Odd(BaseException):
    pass


class LeavingError(Exception):
    def __str__(self) -> str:
        sys.exit("no text")


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class AlarmingError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


async def raises(case: Any, tracer: Any) -> str:
    raise ValueError("no such town")


async def exits(case: Any, tracer: Any) -> str:
    sys.exit(3)


async def exits_in_a_task(case: Any, tracer: Any) -> str:
    async def leave() -> None:
        sys.exit(4)

    await asyncio.create_task(leave())
    return "unreachable"


async def cancels_itself(case: Any, tracer: Any) -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(60)
    return "unreachable"


async def raises_cancelled(case: Any, tracer: Any) -> str:
    raise asyncio.CancelledError


async def raises_odd(case: Any, tracer: Any) -> str:
    raise Odd("strange")


async def raises_mute(case: Any, tracer: Any) -> str:
    raise MuteError


async def raises_alarming(case: Any, tracer: Any) -> str:
    raise AlarmingError


async def raises_leaving(case: Any, tracer: Any) -> str:
    raise LeavingError


async def raises_generator_exit(case: Any, tracer: Any) -> str:
    raise GeneratorExit


def exits_in_a_thread(case: Any, tracer: Any) -> str:
    sys.exit("bye")


def raises_in_a_thread(case: Any, tracer: Any) -> str:
    raise ConnectionResetError("gone")


def interrupts_in_a_thread(case: Any, tracer: Any) -> str:
    raise KeyboardInterrupt


def cancelled_in_a_thread(case: Any, tracer: Any) -> str:
    raise asyncio.CancelledError


def returns_a_number(case: Any, tracer: Any) -> Any:
    return 3


@pytest.mark.parametrize(
    ("agent", "status", "kind", "message"),
    [
        (raises, "agent_error", "exception", "ValueError: no such town"),
        (exits, "agent_error", "exception", "SystemExit: 3"),
        (exits_in_a_task, "agent_error", "exception", "SystemExit: 4"),
        (cancels_itself, "cancelled", None, "CancelledError"),
        (raises_cancelled, "cancelled", None, "CancelledError"),
        (raises_odd, "agent_error", "exception", "Odd: strange"),
        (raises_mute, "agent_error", "exception", "MuteError: <its text raised RuntimeError>"),
        (
            raises_alarming,
            "agent_error",
            "exception",
            "AlarmingError: <its text raised KeyboardInterrupt>",
        ),
        (raises_leaving, "agent_error", "exception", "LeavingError: <its text raised SystemExit>"),
        (raises_generator_exit, "agent_error", "exception", "GeneratorExit"),
        (exits_in_a_thread, "agent_error", "exception", "SystemExit: bye"),
        (raises_in_a_thread, "agent_error", "connection", "ConnectionResetError: gone"),
        (interrupts_in_a_thread, "agent_error", "exception", "KeyboardInterrupt"),
        (cancelled_in_a_thread, "cancelled", None, "CancelledError"),
        (returns_a_number, "agent_error", "exception", "BadReplyError: the agent returned int"),
    ],
)
def test_every_way_to_fail_is_a_row_and_the_run_goes_on(cases, agent, status, kind, message) -> None:
    frame = run(agent, cases, repeats=2, concurrency=3)
    assert frame["status"].tolist() == [status] * 8
    assert frame["answer"].isna().all()
    assert frame["error_message"].str.startswith(message).all()
    assert frame["error_kind"].isna().all() if kind is None else (frame["error_kind"] == kind).all()


def test_an_agent_that_cancels_every_task_of_the_loop_ends_no_run(make_cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        await asyncio.sleep(0)
        if case.id == "case 3":
            for task in asyncio.all_tasks():
                task.cancel()
        await asyncio.sleep(0)
        return "done"

    frame = run(agent, make_cases(12), concurrency=4)
    assert len(frame) == 12
    assert set(frame["status"]) == {"ok", "cancelled"}
    assert (frame.set_index("case_id")["status"][["case 3", "case 11"]] == ["cancelled", "ok"]).all()


def test_an_agent_that_cancels_itself_and_still_answers_has_answered(cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "Two jobs."

    frame = run(agent, cases)
    assert frame["status"].tolist() == ["ok"] * 4
    assert frame["answer"].tolist() == ["Two jobs."] * 4


def test_nothing_returned_is_an_ok_row_without_an_answer(cases) -> None:
    frame = run(lambda case, tracer: None, cases)
    assert frame["status"].tolist() == ["ok"] * 4
    assert frame["answer"].isna().all()
    assert frame["terminal_reason"].str.contains("returned nothing").all()


def test_an_empty_answer_stays_apart_from_none(cases) -> None:
    assert run(lambda case, tracer: "", cases)["answer"].tolist() == [""] * 4


def test_lone_surrogates_survive_run_and_store(cases, tmp_path) -> None:
    def agent(case: Any, tracer: Any) -> AgentReply:
        return AgentReply("ok \ud835 \U0001f378", structured={"\ud83c": ["\udf78"]})

    first = run(agent, cases, store=tmp_path / "store.jsonl")
    again = run(raises, cases, store=tmp_path / "store.jsonl")
    for frame in (first, again):
        assert frame["answer"].tolist() == ["ok \ud835 \U0001f378"] * 4
        assert frame["structured"].tolist() == [{"\ud83c": ["\udf78"]}] * 4


def test_a_full_reply_fills_its_columns(cases) -> None:
    reply = AgentReply("Two.", "jobs", {"n": float("nan")}, [{"role": "user"}], "enough", 0.25)
    as_dict = {
        name: getattr(reply, name)
        for name in ("answer", "route", "structured", "messages", "terminal_reason", "confidence")
    }
    for result in (reply, as_dict):
        row = run(lambda case, tracer, result=result: result, cases[:1]).iloc[0]
        assert row[["answer", "route", "terminal_reason", "confidence"]].tolist() == [
            "Two.",
            "jobs",
            "enough",
            0.25,
        ]
        assert row["structured"] == {"n": None}
        assert row["messages"] == [{"role": "user"}]


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ({"anser": "x"}, "did you mean 'answer'"),
        ({"answer": 3}, "answer is int"),
        ({"confidence": 2}, "confidence is 2"),
        ({"confidence": True}, "confidence is True"),
        ({"messages": "x"}, "no list of dicts"),
        (["x"], "returned list; return a text"),
        (b"x", "returned bytes"),
    ],
)
def test_a_reply_that_is_none_is_named(cases, result, problem) -> None:
    row = run(lambda case, tracer: result, cases[:1]).iloc[0]
    assert row["status"] == "agent_error"
    assert problem in row["error_message"]


def test_a_synchronous_callable_may_hand_back_an_awaitable(cases) -> None:
    async def inner(tracer: Any) -> str:
        await asyncio.sleep(0)
        return tracer.case.id

    frame = run(lambda case, tracer: inner(tracer), cases, timeout=20)
    assert frame["answer"].tolist() == [case.id for case in cases]


def test_an_object_with_an_async_call_is_awaited(cases) -> None:
    class Agent:
        async def __call__(self, case: Any, tracer: Any) -> str:
            await asyncio.sleep(0)
            return threading.current_thread().name

    assert set(run(Agent(), cases)["answer"]) == {"neverempty-run"}


def test_a_tool_called_from_a_bare_thread_fires_or_fails_the_traces_loudly(cases, lookup_tool) -> None:
    barrier = threading.Barrier(4)

    def agent(case: Any, tracer: Any) -> str:
        barrier.wait(20)
        thread = threading.Thread(target=lambda: _quietly(lookup_tool))
        thread.start()
        thread.join()
        barrier.wait(20)
        return "No jobs found."

    frame = run(agent, cases, concurrency=4)
    assert frame["status"].tolist() == ["harness_error"] * 4
    assert frame["terminal_reason"].str.contains("no fault plan is active").all()
    assert frame["answer"].isna().all()


def _quietly(tool: Any) -> None:
    try:
        tool(query="x")
    except Exception as error:
        print(type(error).__name__)


def test_a_trace_that_cannot_be_written_is_a_row_that_says_so(cases, tmp_path) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        tracer.set_route(5)
        return "done"

    frame = run(agent, cases, store=tmp_path / "store.jsonl")
    assert frame["status"].tolist() == ["harness_error"] * 4
    assert frame["terminal_reason"].str.contains("cannot be written").all()
    assert run(agent, cases, store=tmp_path / "store.jsonl")["status"].tolist() == ["harness_error"] * 4


def test_a_row_that_cannot_be_made_does_not_end_the_run(cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        if case.id == "case 1":
            tracer.usages.append(None)
        return "done"

    frame = run(agent, cases)
    assert frame["status"].tolist() == ["ok", "harness_error", "ok", "ok"]
    assert "could not be made: TypeError" in frame["terminal_reason"].iloc[1]


class Leaving:
    def __getattr__(self, name: str) -> Any:
        sys.exit(f"no {name}")


def test_an_object_that_ends_the_program_when_it_is_read_is_written_down_as_such(cases, tmp_path) -> None:
    async def agent(case: Any, tracer: Any) -> AgentReply:
        tracer.messages.append({"role": "user", "content": Leaving()})
        return AgentReply("done", structured={"of": Leaving(), 10**5000: 1})

    row = run(agent, cases[:1], store=tmp_path / "store.jsonl").iloc[0]
    assert (row["status"], row["answer"]) == ("ok", "done")
    left = "<Leaving: reading it raised SystemExit>"
    assert row["messages"][-1]["content"] == row["structured"]["of"] == left


def test_an_agent_that_stops_its_event_loop_does_not_end_the_run(cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return "done"

    assert run(agent, cases)["answer"].tolist() == ["done"] * 4


def test_usage_that_cannot_be_is_unknown(cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        tracer.usage(7, -1, True)
        tracer.usage("gpt-4o-mini", 10, 10)
        return "done"

    row = run(agent, cases[:1]).iloc[0]
    assert row[["status", "resolved_model"]].tolist() == ["ok", "7+gpt-4o-mini"]
    assert row[["input_tokens", "output_tokens", "cost_usd"]].isna().all()
    assert row["cost_unknown_reason"] == "the model is not known"
