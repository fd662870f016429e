"""The store loses no finished trace, belongs to one run and to one writer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neverempty._errors import InputError, UsageError
from neverempty.traces import Redactor, RunIdentity, Trace, TraceStore, read_traces

Make = Callable[..., Trace]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "store.jsonl"


def fill(path: Path, identity: RunIdentity, *traces: Trace) -> None:
    with TraceStore(path, identity) as store:
        for trace in traces:
            store.append(trace)


def test_traces_come_back_in_order_behind_a_header(
    path: Path, identity: RunIdentity, make_trace: Make
) -> None:
    traces = [make_trace("a"), make_trace("b", answer="ok \ud835"), make_trace("c", status="agent_error")]
    traces[2].terminal_reason = "exit 1"
    fill(path, identity, *traces)
    assert read_traces(path) == traces
    header = json.loads(path.read_text("utf-8").split("\n")[0])
    assert header["trace_schema_version"] == 1
    assert (header["run_id"], header["seed"], header["arms"]) == ("run-1", 7, ["typed"])


def test_a_trace_is_on_file_before_append_returns(
    path: Path, identity: RunIdentity, make_trace: Make
) -> None:
    with TraceStore(path, identity) as store:
        store.append(make_trace("a"))
        assert read_traces(path) == [make_trace("a")]
        assert path.read_bytes().endswith(b"}\n")


def test_a_run_is_resumed_under_its_first_name(path: Path, identity: RunIdentity, make_trace: Make) -> None:
    fill(path, identity, make_trace("a"))
    with TraceStore(path, replace(identity, run_id="run-2", versions={"python": "9"})) as store:
        assert store.run_id == "run-1"
        store.append(make_trace("b"))
        assert [trace.case_id for trace in store.traces()] == ["a", "b"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 8}, "seed is 7 there, 8 here"),
        ({"split_hash": "xyz"}, 'split_hash is "abc" there, "xyz" here'),
        ({"arms": ("typed", {"name": "p2"})}, 'arms is ["typed"] there, ["typed",{"name":"p2"}] here'),
        ({"repeats": 5, "seed": 1}, "seed is 7 there, 1 here; repeats is 3 there, 5 here"),
        ({"settings": {"timeout": 3}}, 'settings is {} there, {"timeout":3} here'),
    ],
)
def test_the_store_of_another_run_is_refused_in_words(
    path: Path, identity: RunIdentity, make_trace: Make, changes: dict[str, Any], words: str
) -> None:
    fill(path, identity, make_trace("a"))
    before = path.read_bytes()
    with pytest.raises(InputError, match="holds another run") as caught:
        TraceStore(path, replace(identity, **changes))
    assert words in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("plain text\n", "first line is not JSON"),
        ('{"case_id": "a"}\n', "is no trace store"),
        ('{"trace_schema_version": 2}\n', "trace schema version 2 is not known; this package reads 1"),
    ],
)
def test_a_file_that_is_no_store_of_this_version_is_left_alone(
    path: Path, identity: RunIdentity, content: str, words: str
) -> None:
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(InputError, match=words):
        TraceStore(path, identity)
    assert path.read_text() == content


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, identity: RunIdentity) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path, tmp_path / "file" / "store.jsonl"):
        with pytest.raises(InputError, match="cannot be opened for writing"):
            TraceStore(place, identity)


def test_two_writers_are_refused_and_the_second_may_come_later(path: Path, identity: RunIdentity) -> None:
    with TraceStore(path, identity), pytest.raises(InputError, match="another run is writing to it"):
        TraceStore(path, identity)
    TraceStore(path, identity).close()


def test_a_closed_store_says_so(path: Path, identity: RunIdentity, make_trace: Make) -> None:
    store = TraceStore(path, identity)
    store.close()
    store.close()
    with pytest.raises(UsageError, match="the store is closed"):
        store.append(make_trace())


def test_an_unfinished_line_is_left_out_and_cut_off_at_any_length(
    path: Path, identity: RunIdentity, make_trace: Make
) -> None:
    fill(path, identity, make_trace("a"), make_trace("b"))
    whole = path.read_bytes()
    first = whole[: whole.rindex(b"\n", 0, -1) + 1]
    for length in range(len(first), len(whole), 37):
        path.write_bytes(whole[:length])
        assert [trace.case_id for trace in read_traces(path)] == ["a"]
        fill(path, identity, make_trace("c"))
        assert [trace.case_id for trace in read_traces(path)] == ["a", "c"]
    path.write_bytes(whole[:-1])
    assert [trace.case_id for trace in read_traces(path)] == ["a", "b"]


def test_an_unfinished_header_is_begun_anew(path: Path, identity: RunIdentity, make_trace: Make) -> None:
    fill(path, identity)
    path.write_bytes(path.read_bytes()[:20])
    fill(path, identity, make_trace("a"))
    assert read_traces(path) == [make_trace("a")]


def test_a_broken_line_in_the_middle_is_named(path: Path, identity: RunIdentity, make_trace: Make) -> None:
    fill(path, identity, make_trace("a"))
    with path.open("ab") as handle:
        handle.write(b'{"suite": \n')
    with pytest.raises(InputError, match=r"store\.jsonl:3: column 10: not JSON"):
        read_traces(path)


def test_a_long_unfinished_line_is_found(path: Path, identity: RunIdentity, make_trace: Make) -> None:
    fill(path, identity, make_trace("a"))
    with path.open("ab") as handle:
        handle.write(b"x" * 200_000)
    fill(path, identity, make_trace("b"))
    assert [trace.case_id for trace in read_traces(path)] == ["a", "b"]


def test_a_disk_that_refuses_half_way_leaves_no_half_line(
    path: Path, identity: RunIdentity, make_trace: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TraceStore(path, identity) as store:
        store.append(make_trace("a"))
        write = os.write
        calls = iter([lambda file, data: write(file, data[:10]), None])

        def full_disk(file: int, data: bytes) -> int:
            step = next(calls)
            if step is None:
                raise OSError(28, "No space left on device")
            return step(file, data)

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full_disk)
            with pytest.raises(OSError, match="No space left"):
                store.append(make_trace("b"))
        store.append(make_trace("c"))
    assert [trace.case_id for trace in read_traces(path)] == ["a", "c"]


def test_a_later_trace_takes_the_place_of_an_earlier_one(
    path: Path, identity: RunIdentity, make_trace: Make
) -> None:
    stopped = make_trace("a", status="cancelled", terminal_reason="Ctrl-C", answer=None)
    fill(path, identity, stopped, make_trace("b"), make_trace("a"))
    assert read_traces(path) == [make_trace("a"), make_trace("b")]


def test_threads_write_whole_lines(path: Path, identity: RunIdentity, make_trace: Make) -> None:
    with TraceStore(path, identity) as store:

        def work(name: str) -> None:
            for repeat in range(50):
                store.append(make_trace(name, repeat=repeat, answer="x" * 5000))

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read_traces(path)) == 200


def test_secrets_are_taken_out_of_traces_and_header(
    path: Path, identity: RunIdentity, make_trace: Make
) -> None:
    key = "sk-" + "a1" * 12
    trace = make_trace("a", answer=f"used {key}")
    trace.calls[0].args = {"api_key": "plain", "deep": [{"header": f"Bearer {'b' * 30}"}]}
    with TraceStore(
        path, replace(identity, arms=({"params": {"token": "zzz"}},)), redactor=Redactor()
    ) as store:
        store.append(trace)
    text = path.read_text("utf-8")
    assert all(secret not in text for secret in (key, "plain", "b" * 30, "zzz"))
    assert trace.calls[0].args["api_key"] == "plain"


KILLED = """
import sys
from neverempty.traces import RunIdentity, Trace, TraceStore
store = TraceStore(sys.argv[1], RunIdentity("r", 7, "abc", ("typed",), 3))
done = len(store.traces())
while True:
    store.append(Trace("jobs", f"c{done}", "typed", 0, answer="x" * 300))
    done += 1
    print(done, flush=True)
"""


def test_a_killed_writer_loses_no_finished_trace(path: Path) -> None:
    for round_number in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.01 * round_number)
            process.send_signal(signal.SIGKILL)
            told = [int(line) for line in process.stdout.read().split("\n")[:-1]]
        names = [trace.case_id for trace in read_traces(path)]
        assert len(names) >= max(told, default=1)
        assert names == [f"c{number}" for number in range(len(names))]
