"""Traces for the tests of the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from neverempty.traces import RunIdentity, ToolCall, Trace


def one_trace(case_id: str = "a", **changes: Any) -> Trace:
    """Make a trace in which most fields say something."""
    call = ToolCall(
        call=0,
        tool="search",
        args={"city": "Pune", "limit": 3},
        truth="error",
        returned='{"status": "error"}',
        kind="timeout",
        injected=True,
        presentation="typed",
        layer="tool",
        state="fired",
        duration_ms=1.5,
        call_id="c1",
    )
    fields: dict[str, Any] = {
        "suite": "jobs",
        "case_id": case_id,
        "arm": "typed",
        "repeat": 0,
        "answer": "The search timed out.",
        "messages": [{"role": "user", "content": "Any jobs?"}],
        "calls": [call],
        "tags": ("n0",),
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_unknown_reason": "the model is not known",
    }
    return Trace(**{**fields, **changes})


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Trace]:
    return one_trace


@pytest.fixture
def identity() -> RunIdentity:
    return RunIdentity(run_id="run-1", seed=7, split_hash="abc", arms=("typed",), repeats=3)
