"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neverempty.cli.app import main

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_python_blocks_run_one_after_the_other(
    readme: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # what is built on an agent of the reader's own runs in the tests of the frameworks and of the plugin
    blocks = [
        code
        for language, code in _FENCE.findall(readme)
        if language == "python" and "from my_agent import" not in code
    ]
    (tmp_path / "datasets").symlink_to(root / "datasets")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "readme"}
    for number, code in enumerate(blocks, 1):
        exec(compile(code, f"README.md block {number}", "exec"), namespace)
    assert len(blocks) >= 1
    assert "Traceback" not in capsys.readouterr().out


@pytest.mark.parametrize("what", ["run", "test"])
def test_each_set_up_has_exactly_one_block(readme: str, what: str) -> None:
    marked = re.findall(rf"<!--\s*setup:{what}\s*-->\s*\n```[a-z]*\n(.*?)```", readme, re.S)
    assert len(marked) == 1
    assert "python3 -m venv" in marked[0]


def test_every_link_into_the_project_leads_somewhere(texts: dict[str, str], root: Path) -> None:
    broken = [
        f"{name}: {target}"
        for name, text in texts.items()
        if name.endswith(".md")
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
        if "://" not in target and not ((root / name).parent / target).exists()
    ]
    assert broken == []


def test_the_numbers_are_those_of_the_committed_report(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    assert main(["readme", "datasets/local", "--check", "README.md"]) == 0, capsys.readouterr().err
