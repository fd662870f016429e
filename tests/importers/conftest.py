"""Traces and cases of an agent in another language."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty import Case, InputError
from neverempty.importers import import_traces

FAILED = {"tool": "search", "args": {"q": "jobs"}, "truth": "error", "kind": "timeout", "injected": True}
WORKED = {"tool": "search", "args": {}, "truth": "data", "returned": '[{"title": "Welder"}]'}


@pytest.fixture
def cases() -> list[Case]:
    """Twelve cases whose search fails, and a control."""
    asked: dict[str, Any] = {"suite": "jobs", "input": {"payload": "Any jobs?"}, "language": "en"}
    fault = {"tool": "search", "kind": "timeout"}
    failing = [Case(id=f"f{at}", split="test", faults=[fault], **asked) for at in range(12)]
    return [*failing, Case(id="control", **asked)]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of traces, one line each."""

    def make(*lines: dict[str, Any] | str) -> Path:
        path = tmp_path / "traces.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return make


@pytest.fixture
def lines() -> Callable[..., list[dict[str, Any]]]:
    """Build the traces of one run of these cases; the failing ones with fields as given."""

    def make(answer: str = "There are no jobs.", **more: Any) -> list[dict[str, Any]]:
        failing = [{"case_id": f"f{at}", "answer": answer, "calls": [FAILED]} | more for at in range(12)]
        return [*failing, {"case_id": "control", "answer": "One job: welder.", "calls": [WORKED]}]

    return make


@pytest.fixture
def reasons(cases: list[Case]) -> Callable[..., list[str]]:
    """Import what must be refused: every reason, the file's path shortened."""

    def refused(path: Path, **more: Any) -> list[str]:
        with pytest.raises(InputError) as caught:
            import_traces(path, cases, **more)
        return [problem.replace(str(path), "FILE") for problem in caught.value.problems]

    return refused
