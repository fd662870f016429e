"""Cases, tools and a scripted chat client for the agents' tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from neverempty.cases import Case
from neverempty.tools import Tool, tool


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Build a case that asks for jobs; a fault kind and further fields as given."""

    def make(case_id: str = "a", kind: str | None = None, **fields: Any) -> Case:
        arg = {"city": {"value": "Riga"}}
        base = {
            "id": case_id,
            "language": "en",
            "input": {"messages": [{"role": "user", "content": "Any welding jobs in Riga?"}]},
            "faults": [{"tool": "search", "kind": kind}] if kind else [],
            "expect": {"tool_calls": {"calls": [{"tool": "search", "args": arg}]}},
        }
        return Case.model_validate(base | fields)

    return make


@pytest.fixture
def search() -> Tool:
    @tool(empty_when=lambda rows: not rows)
    def search(city: str) -> list[dict[str, str]]:
        """Find jobs by city."""
        return [{"title": "Welder", "city": city}]

    return search


class ScriptedClient:
    """Stands in for a chat client: gives the replies in turn and keeps the requests."""

    def __init__(self, *replies: Mapping[str, Any], is_async: bool = False) -> None:
        self.requests: list[dict[str, Any]] = []
        self._replies = list(replies)
        create = self._acreate if is_async else self._create
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=create))

    def _create(self, **request: Any) -> Any:
        self.requests.append(request)
        return self._replies[min(len(self.requests), len(self._replies)) - 1]

    async def _acreate(self, **request: Any) -> Any:
        return self._create(**request)


@pytest.fixture
def client() -> type[ScriptedClient]:
    return ScriptedClient


@pytest.fixture
def says() -> Callable[..., dict[str, Any]]:
    """Build a chat-completions response: a text, or tool calls as (name, arguments)."""

    def response(text: str | None = None, *calls: tuple[str, Any], finish: str = "stop") -> dict[str, Any]:
        wanted = [
            {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": text, "tool_calls": wanted or None}
        choice = {"message": message, "finish_reason": "tool_calls" if wanted else finish}
        usage = {"prompt_tokens": 10, "completion_tokens": 3}
        return {"model": "small-1", "choices": [choice], "usage": usage}

    return response
