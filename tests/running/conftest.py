"""Cases, tools and model calls for the tests of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from neverempty.cases import Case
from neverempty.tools import tool

# what may differ between two runs of the same
RUN_COLUMNS = ["run_id", "trace_id", "started_at", "duration_ms"]


@tool(empty_when=lambda found: found == [])
async def search(query: str) -> list[str]:
    """Search for jobs."""
    return [f"{query} 1", f"{query} 2"]


@tool(empty_when=lambda found: found == [])
def lookup(query: str) -> list[str]:
    """Search for jobs, synchronously."""
    return [f"{query} 1", f"{query} 2"]


@pytest.fixture
def search_tool() -> Any:
    return search


@pytest.fixture
def lookup_tool() -> Any:
    return lookup


@pytest.fixture
def make_cases() -> Callable[..., list[Case]]:
    def make(count: int, tool_name: str = "search", **fields: Any) -> list[Case]:
        return [
            Case(
                id=f"case {number}",
                suite="jobs",
                input={"messages": [{"role": "user", "content": f"Any nurse jobs in town {number}?"}]},
                **{"faults": [{"tool": tool_name, "kind": "timeout"}], **fields},
            )
            for number in range(count)
        ]

    return make


@pytest.fixture
def cases(make_cases) -> list[Case]:
    return make_cases(4)


@pytest.fixture
def comparable() -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Take out of a traces frame what differs from run to run: ids and times."""

    def strip(frame: pd.DataFrame) -> pd.DataFrame:
        calls = [
            [(call.tool, str(call.args), call.truth, call.returned, call.kind, call.state) for call in found]
            for found in frame["calls"]
        ]
        return frame.drop(columns=RUN_COLUMNS).assign(calls=calls)

    return strip


class Model:
    """A live model that counts its calls; each answer tells its number."""

    def __init__(self, name: str = "gpt-4o-mini", tokens: int | None = 100) -> None:
        self.calls = 0
        self.name = name
        self.tokens = tokens

    def __call__(self, messages: Any, tools: Any, params: Any) -> dict[str, Any]:
        self.calls += 1
        return {
            "content": f"answer {self.calls}",
            "model": self.name,
            "input_tokens": self.tokens,
            "output_tokens": self.tokens,
        }


@pytest.fixture
def make_model() -> type[Model]:
    return Model


@pytest.fixture
def model_agent() -> Callable[..., Any]:
    """Make an agent that asks a model once per repeat, through the seam."""

    def make(model: Model, **params: Any) -> Any:
        async def agent(case: Case, tracer: Any) -> str:
            reply = await tracer.model_call(case.messages, params=params, call=model)
            return str(reply["content"])

        return agent

    return make
