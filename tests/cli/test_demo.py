"""``neverempty demo``: what is asked for is what is measured."""

from __future__ import annotations

from typing import Any

import pytest

from neverempty.demo import scripted


def test_the_seed_is_handed_on_and_the_table_is_printed(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "run_demo", lambda **given: f"the table of {given}")
    assert cli("demo", "--seed", "7").out == "the table of {'seed': 7}\n"
    assert cli("demo").out == "the table of {}\n"


@pytest.mark.parametrize(
    "args", [("--weights", "model.gguf"), ("--model", "lokal"), ("--seed", "-1"), ("local",)]
)
def test_a_mistyped_demo_is_refused(cli: Any, args: tuple[str, ...]) -> None:
    assert cli("demo", *args).code == 64


@pytest.mark.slow
def test_the_scripted_demo_prints_true_and_measured_rates(cli: Any) -> None:
    done = cli("demo")
    assert done.code == 0
    assert "true per answer" in done.out
    assert "measured per case" in done.out
    assert "not measured" in done.out  # the agent that always crashes
