"""``neverempty demo``: what is asked for is what is measured."""

from __future__ import annotations

from typing import Any

import pytest

from neverempty.demo import local, scripted


def test_the_seed_is_handed_on_and_the_table_is_printed(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "run_demo", lambda **given: f"the table of {given}")
    assert cli("demo", "--seed", "7").out == "the table of {'seed': 7}\n"
    assert cli("demo").out == "the table of {}\n"


def test_the_local_model_is_run_or_replayed(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "run_local", lambda **given: f"run {given}")
    monkeypatch.setattr(local, "replay_local", lambda **given: f"replay {given}")
    assert cli("demo", "--model", "local").out == "run {}\n"
    assert cli("demo", "--model", "local", "--weights", "m.gguf", "--threads", "2", "--out", "kept").out == (
        "run {'weights': 'm.gguf', 'threads': 2, 'folder': 'kept'}\n"
    )
    assert cli("demo", "--model", "local", "--replay").out == "replay {}\n"


def test_weights_that_are_not_there_are_refused_in_words(cli: Any) -> None:
    done = cli("demo", "--model", "local", "--weights", "nothing.gguf")
    assert done.code in (4, 64)
    assert "nothing.gguf" in done.err


@pytest.mark.parametrize(
    "args",
    [
        ("--weights", "model.gguf"),
        ("--replay",),
        ("--model", "local", "--seed", "7"),
        ("--model", "local", "--replay", "--threads", "2"),
        ("--model", "lokal"),
        ("--seed", "-1"),
        ("local",),
    ],
)
def test_a_mistyped_demo_is_refused(cli: Any, args: tuple[str, ...]) -> None:
    assert cli("demo", *args).code == 64


@pytest.mark.slow
def test_the_scripted_demo_prints_true_and_measured_rates(cli: Any) -> None:
    done = cli("demo")
    assert done.code == 0
    assert "true/answer" in done.out
    assert "measured per case" in done.out
    assert "not measured" in done.out  # the agent that always crashes
