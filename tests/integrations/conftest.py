"""Cases and readings for the frameworks' tests; a file whose library is missing is not collected."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from neverempty.cases import Case
from neverempty.metrics import collapse
from neverempty.running import run
from neverempty.scorers import score

# By the first word of a test file's name behind "test_": the library that it drives.
_LIBRARIES = {
    "anthropic": "anthropic",
    "bedrock": "boto3",
    "langchain": "langchain",
    "langgraph": "langgraph",
    "mcp": "mcp",
    "openai": "openai",
    "pydanticai": "pydantic_ai",
}


def _missing(path: Path) -> bool:
    library = _LIBRARIES.get(path.stem.split("_")[1])
    return library is not None and importlib.util.find_spec(library) is None


collect_ignore = [path.name for path in Path(__file__).parent.glob("test_*.py") if _missing(path)]

PRESENTATIONS = ("typed", "raised", "flagged", "declined", "swallowed")


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Build a case that asks for jobs; a fault kind and further fields as given."""

    def make(case_id: str = "a", kind: str | None = "timeout", **fields: Any) -> Case:
        base: dict[str, Any] = {
            "id": case_id,
            "language": "en",
            "input": {"messages": [{"role": "user", "content": "Any welding jobs in Riga?"}]},
            "faults": [{"tool": "search", "kind": kind}] if kind else [],
        }
        return Case.model_validate(base | fields)

    return make


@pytest.fixture
def misreports(make_case: Callable[..., Case]) -> Callable[[Callable[..., Any]], Mapping[str, str]]:
    """Measure an agent under every presentation of a timeout: by arm, how misreporting it was judged."""

    def measure(agent: Callable[..., Any]) -> Mapping[str, str]:
        cases = [make_case()]
        outcomes = collapse(score(run(agent, cases, arms=list(PRESENTATIONS)), cases))
        found = outcomes[outcomes["metric"] == "misreport_as_empty"].set_index("arm")["verdict"]
        return {arm: str(found[arm]) for arm in PRESENTATIONS}

    return measure


@pytest.fixture
def shown(make_case: Callable[..., Case]) -> Callable[..., Mapping[str, Any]]:
    """Run an agent under every presentation: by arm, the one tool call of its trace."""

    def measure(agent: Callable[..., Any]) -> Mapping[str, Any]:
        traces = run(agent, [make_case()], arms=list(PRESENTATIONS), concurrency=1)
        assert set(traces["status"]) == {"ok"}, list(traces["error_message"])
        return {row.arm: row.calls[0] for row in traces.itertuples()}

    return measure


@pytest.fixture
def says() -> Callable[[str], str]:
    """Answer as a hasty model does: what looks empty is reported as nothing, any word as a failure."""

    def answer(text: str) -> str:
        if "Welder" in text:
            return "There is one job: Welder in Riga."
        empty = text.strip() in ("", "[]", "null")
        return "There are no welding jobs in Riga." if empty else "I could not search: the tool failed."

    return answer


@pytest.fixture
def transport() -> Iterator[Callable[..., Any]]:
    """Build the HTTP client that a provider's library takes, answered by a function instead of a network.

    ``answer(request)`` gives a body and whether it is to be streamed; ``events(body)`` writes it as a stream.
    """
    opened: list[Any] = []

    def make(library: str, answer: Callable[..., Any], events: Callable[..., str], *, is_async: bool) -> Any:
        required = [re.match(r"\w+", line) for line in importlib.metadata.requires(library) or ()]
        names = {found[0] for found in required if found}
        http = importlib.import_module("httpx2" if "httpx2" in names else "httpx")

        def respond(request: Any) -> Any:
            body, streamed = answer(request)
            if streamed:
                kind = {"content-type": "text/event-stream"}
                return http.Response(200, text=events(body), headers=kind)
            return http.Response(200, json=body)

        client = (http.AsyncClient if is_async else http.Client)(transport=http.MockTransport(respond))
        opened.append(client)
        return client

    yield make
    for client in opened:
        if not hasattr(client, "aclose"):
            client.close()
