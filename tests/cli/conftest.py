"""The command line as a user meets it, in a folder of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from neverempty.cli import main


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Run commands in an empty folder, as ``cli("validate", "cases.jsonl")``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEVEREMPTY_DEBUG", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def call(*args: str) -> Done:
        code = main(list(args))
        out, err = capsys.readouterr()
        return Done(code, out, err)

    yield call
    # A target is imported by its own name, "target" in every set-up: the next test has another one.
    for name in set(sys.modules) - before:
        if not (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            continue
        del sys.modules[name]


@pytest.fixture
def set_up(cli: Callable[..., Done], tmp_path: Path) -> Path:
    """Write the set-up of ``neverempty init`` and return its folder."""
    assert cli("init").code == 0
    return tmp_path


@pytest.fixture
def edit(set_up: Path) -> Callable[[str, str], None]:
    """Replace a part of the set-up's configuration."""

    def replace(old: str, new: str) -> None:
        path = set_up / "neverempty.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return replace
