"""The agent that a configuration names: found, or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty import InputError
from neverempty.cli.config import load_config
from neverempty.cli.target import load_target


def test_the_agent_beside_the_configuration_is_found_from_any_folder(
    set_up: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    agent, stubs = load_target(load_config(set_up / "neverempty.toml"))
    assert agent.__module__ == "target"
    assert stubs == {}


def test_stubs_are_loaded_by_the_name_of_their_tool(set_up: Path, edit: Callable[[str, str], None]) -> None:
    edit("# stubs =", "stubs =")
    (set_up / "target.py").write_text(
        "def agent(case, tracer): return ''\ndef fake_mail(**args): return 'sent'\n", encoding="utf-8"
    )
    _, stubs = load_target(load_config(set_up / "neverempty.toml"))
    assert stubs["send_mail"]() == "sent"


@pytest.mark.parametrize(
    ("target", "code", "problem"),
    [
        ("target", "", "is no name like 'module:function'"),
        ("traget:agent", "", "there is no module 'traget'"),
        ("target:agnt", "def agent(case, tracer): ...", "has no 'agnt'; did you mean 'agent'?"),
        ("target:agent", "class agent: ...", "is a type, not a function"),
        ("target:agent", "agent = 3", "is a int, not a function"),
        ("target:agent", "import no_such_library", "needs 'no_such_library', which is not installed"),
        ("target:agent", "\n1 / 0", "raised ZeroDivisionError: division by zero (target.py:2)"),
        ("target:agent", "def agent(:", "raised SyntaxError"),
        ("target:agent", "raise SystemExit(3)", "raised SystemExit: 3"),
    ],
)
def test_what_cannot_be_run_is_named_with_its_line(
    set_up: Path, edit: Callable[[str, str], None], target: str, code: str, problem: str
) -> None:
    edit("target:agent", target)
    (set_up / "target.py").write_text(code, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_target(load_config(set_up / "neverempty.toml"))
    assert "neverempty.toml:8: target.agent: " in str(caught.value)
    assert problem in str(caught.value)


def test_a_stub_that_does_not_exist_is_named(set_up: Path, edit: Callable[[str, str], Any]) -> None:
    edit("# stubs =", "stubs =")
    with pytest.raises(
        InputError, match=r"neverempty\.toml:9: target\.stubs\.send_mail: .* has no 'fake_mail'"
    ):
        load_target(load_config(set_up / "neverempty.toml"))
