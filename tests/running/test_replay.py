from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from neverempty import Arm, InputError, UsageError
from neverempty.frames import calls_frame
from neverempty.running import run
from neverempty.running.recording import Recorder, Recording, RequestKey


@pytest.fixture
def loop_agent(search_tool) -> Any:
    """Make an agent that calls a tool, then asks the model twice."""

    def make(model: Any, **params: Any) -> Any:
        async def agent(case: Any, tracer: Any) -> str:
            found = await search_tool(query="nurse")
            messages = [*case.messages, {"role": "tool", "content": found.to_model()}]
            first = await tracer.model_call(messages, params=params, call=model)
            messages.append({"role": "assistant", "content": first["content"]})
            second = await tracer.model_call(messages, params=params, call=model)
            return f"{first['content']}, {second['content']}"

        return agent

    return make


def refuse(*request: Any) -> Any:
    raise AssertionError("a live call in a replay")


def test_a_replay_gives_the_recorded_run_without_a_live_call(
    make_cases, make_model, loop_agent, comparable, tmp_path
) -> None:
    path, cases, model = tmp_path / "recording.jsonl", make_cases(3), make_model()
    options: dict[str, Any] = {"arms": ["typed", "swallowed"], "repeats": 2}
    live = run(loop_agent(model, temperature=0.7), cases, record=path, concurrency=5, **options)
    assert model.calls == 24
    replayed = run(loop_agent(refuse, temperature=0.7), cases, replay=path, concurrency=1, **options)
    pd.testing.assert_frame_equal(comparable(replayed), comparable(live))
    assert replayed["fault_state"].unique().tolist() == ["seen"]
    assert replayed["repeat_of"].isna().all()
    assert replayed["cost_usd"].notna().all()


def test_the_same_request_twice_in_a_repeat_gets_its_two_replies(make_cases, make_model, tmp_path) -> None:
    path, cases, model = tmp_path / "recording.jsonl", make_cases(2), make_model()

    def asking(call: Any) -> Any:
        def agent(case: Any, tracer: Any) -> str:
            replies = [tracer.model_call_sync([{"role": "user"}], call=call) for _ in range(2)]
            return f"{replies[0]['content']}, {replies[1]['content']}"

        return agent

    live = run(asking(model), cases, record=path, concurrency=1)
    assert live["answer"].tolist() == ["answer 1, answer 2", "answer 3, answer 4"]
    assert run(asking(refuse), cases, replay=path)["answer"].tolist() == live["answer"].tolist()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": {"temperature": 0.9}}, "params of model call 0 changed since the recording"),
        ({"case": {"language": "en"}}, None),
        ({"case": {"faults": [{"tool": "search", "kind": "auth"}]}}, "messages of model call 0 changed"),
        (
            {"case": {"faults": [{"tool": "search", "kind": "timeout", "after_calls": 5}]}},
            "messages of model",
        ),
        ({"case": {"faults": [{"tool": "other", "kind": "timeout"}]}}, "messages of model call 0 changed"),
        ({"arms": ["swallowed"]}, "nothing was recorded for this case, arm and repeat"),
        ({"arms": [Arm(name="typed", model="m")]}, "arm or faults of model call 0 changed"),
        ({"repeats": 2}, "nothing was recorded for this case, arm and repeat"),
    ],
)
def test_a_miss_is_a_row_that_says_what_changed(
    make_cases, make_model, loop_agent, tmp_path, change, reason
) -> None:
    path = tmp_path / "recording.jsonl"
    run(loop_agent(make_model(), temperature=0.7), make_cases(1), record=path)
    agent = loop_agent(refuse, **change.get("params", {"temperature": 0.7}))
    options = {name: value for name, value in change.items() if name in ("arms", "repeats")}
    frame = run(agent, make_cases(1, **change.get("case", {})), replay=path, **options)
    last = frame.iloc[-1]
    if reason is None:
        assert last["status"] == "ok"
        return
    assert last["status"] == "replay_miss"
    assert reason in last["terminal_reason"]
    assert pd.isna(last["answer"])
    assert last["messages"] == []


def test_an_agent_that_swallows_the_miss_is_a_miss_all_the_same(make_cases, make_model, tmp_path) -> None:
    path = tmp_path / "recording.jsonl"

    def asking(call: Any, text: str) -> Any:
        async def agent(case: Any, tracer: Any) -> str:
            try:
                await tracer.model_call([{"role": "user", "content": text}], call=call)
            except Exception:
                return "No jobs found."
            return "done"

        return agent

    run(asking(make_model(), "a"), make_cases(1), record=path)
    frame = run(asking(refuse, "b"), make_cases(1), replay=path)
    assert frame["status"].tolist() == ["replay_miss"]
    assert frame["answer"].isna().all()


def test_at_temperature_zero_one_recorded_repeat_serves_all_and_marks_them_as_copies(
    make_cases, make_model, loop_agent, tmp_path
) -> None:
    path = tmp_path / "recording.jsonl"
    live = run(loop_agent(make_model(), temperature=0.0), make_cases(2), record=path)
    assert live["repeat_of"].isna().all()
    frame = run(loop_agent(refuse, temperature=0.0), make_cases(2), replay=path, repeats=3)
    assert frame["status"].tolist() == ["ok"] * 6
    assert frame["repeat_of"].fillna(-1).tolist() == [-1, 0, 0] * 2
    assert frame["answer"].nunique() == 2


def test_an_agent_without_a_seam_cannot_be_replayed(make_cases, make_model, model_agent, tmp_path) -> None:
    path, called = tmp_path / "recording.jsonl", []

    def agent(case: Any, tracer: Any) -> str:
        called.append(case.id)
        return "done"

    run(model_agent(make_model()), make_cases(50), record=path)
    with pytest.raises(UsageError, match=r"refused at case 'case .+': the agent made no model call through"):
        run(agent, make_cases(50), replay=path, concurrency=2)
    assert len(called) < 10


def test_a_recording_of_an_agent_without_a_seam_is_warned_of_and_refused(make_cases, tmp_path) -> None:
    path = tmp_path / "recording.jsonl"
    with pytest.warns(UserWarning, match="nothing was recorded"):
        run(lambda case, tracer: "x", make_cases(2), record=path)
    with pytest.raises(UsageError, match="holds no model reply, so there is nothing to replay"):
        run(lambda case, tracer: "x", make_cases(2), replay=path)


def test_a_repeat_that_needed_no_model_call_needs_none_in_the_replay(
    make_cases, make_model, tmp_path
) -> None:
    path = tmp_path / "recording.jsonl"

    def sometimes(call: Any) -> Any:
        async def agent(case: Any, tracer: Any) -> str:
            if case.id == "case 0":
                return "known by heart"
            return str((await tracer.model_call(case.messages, call=call))["content"])

        return agent

    live = run(sometimes(make_model()), make_cases(2), record=path, concurrency=1)
    replayed = run(sometimes(refuse), make_cases(2), replay=path, concurrency=1)
    assert replayed["answer"].tolist() == live["answer"].tolist() == ["known by heart", "answer 1"]


def test_a_recording_holds_no_secret(make_cases, tmp_path) -> None:
    path = tmp_path / "recording.jsonl"

    async def agent(case: Any, tracer: Any) -> str:
        secret = "sk-" + "a1b2" * 8
        call = {"content": f"your key is {secret}", "model": "m"}
        await tracer.model_call(
            [{"role": "user", "content": secret}], params={"api_key": "x9"}, call=lambda *_: call
        )
        return "done"

    run(agent, make_cases(1), record=path)
    text = path.read_text()
    assert "a1b2" not in text
    assert "x9" not in text
    assert "your key is [redacted]" in text


def test_a_killed_recording_loses_its_last_line_only_and_is_continued(
    make_cases, make_model, model_agent, tmp_path
) -> None:
    path, cases = tmp_path / "recording.jsonl", make_cases(3)
    run(model_agent(make_model()), cases, record=path, concurrency=1)
    whole = path.read_bytes()
    replies = [at for at, line in enumerate(whole.splitlines(keepends=True)) if b'"reply"' in line]
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[: replies[-1]]) + b'{"reply": {"con')
    frame = run(model_agent(refuse), cases, replay=path)
    assert frame["status"].tolist() == ["ok", "ok", "replay_miss"]
    run(model_agent(make_model()), cases, record=path, concurrency=1)
    frame = run(model_agent(refuse), cases, replay=path)
    assert frame["answer"].tolist() == ["answer 1", "answer 2", "answer 3"]


def test_what_is_no_recording_is_refused(make_cases, tmp_path) -> None:
    path = tmp_path / "other.jsonl"
    for text, problem in (
        ('{"a": 1}\n', "is no recording"),
        ("x\n", "is no recording"),
        ('{"recording_version": 9}\n', "version 9 is not known"),
        ('{"recording_version": 1}\n{"suite": "x"}\n', r"other\.jsonl:2: the line is no recorded reply"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=problem):
            run(lambda case, tracer: "x", make_cases(1), replay=path)
    path.write_text('{"a": 1}\n')
    with pytest.raises(InputError, match="is no recording"):
        run(lambda case, tracer: "x", make_cases(1), record=path)


def test_two_cases_with_the_same_request_each_get_their_own_reply(tmp_path) -> None:
    recorder = Recorder(tmp_path / "r.jsonl")
    key = RequestKey("abc", {"messages": "m", "tools": "t", "params": "p"})
    for case in ("a", "b"):
        recorder.reply(("s", case, "typed", 0), 0, key, {}, {"content": case})
    recorder.close()
    recorder.reply(("s", "a", "typed", 0), 0, key, {}, {"content": "late"})
    recording = Recording(tmp_path / "r.jsonl")
    for case, content in (("a", "a"), ("b", "b"), ("renamed", "a")):
        hit = recording.find(("s", case, "typed", 0), 0, key, {})
        assert hit is not None
        assert hit.reply == {"content": content}
    assert recording.find(("s", "a", "typed", 0), 1, key, {}) is None
    assert recording.find(("s", "a", "typed", 1), 0, key, {"temperature": False}) is None


def test_each_line_of_a_recording_is_strict_json(make_cases, make_model, model_agent, tmp_path) -> None:
    path = tmp_path / "recording.jsonl"
    frame = run(model_agent(make_model()), make_cases(2), record=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"recording_version": 1}
    assert sum("reply" in line for line in lines) == 2
    assert [line["model_calls"] for line in lines if "model_calls" in line] == [1, 1]
    assert len(calls_frame(frame)) == 0


def test_a_recording_that_is_a_folder_is_refused_by_name(cases: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened for writing"):
        run(lambda case, tracer: "None.", cases, record=tmp_path)
