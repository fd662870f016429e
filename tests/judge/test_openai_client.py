"""A judge behind the openai client itself, its endpoint played offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import openai
import pytest

from neverempty.judge import Judge, OpenAIJudge

pytestmark = pytest.mark.frameworks
EVIDENCE = ["The tram leaves at nine."]
GOOD = json.dumps({"verdict": "supported", "quotes": ["leaves at nine"], "confidence": 1, "reason": "r"})


def _judge(answer: Callable[[dict[str, Any]], httpx.Response]) -> Judge:
    transport = httpx.MockTransport(lambda request: answer(json.loads(request.content)))
    client = openai.OpenAI(
        api_key="none",
        base_url="http://judge.invalid/v1",
        http_client=httpx.Client(transport=transport),
        max_retries=0,
    )
    return Judge(OpenAIJudge(client, "gpt-4o-mini", params={"max_tokens": 200}), ["meta"])


def _says(content: str | None) -> httpx.Response:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    base = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini"}
    return httpx.Response(200, json={**base, "choices": [choice]})


def test_the_client_is_asked_at_temperature_0_and_its_reply_is_read() -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        asked.append(body)
        return _says("It is supported." if len(asked) == 1 else GOOD)

    found = _judge(answer).judge("The tram leaves at nine.", EVIDENCE)
    assert (found.outcome, found.attempts, found.quotes) == ("supported", 2, ("leaves at nine",))
    assert [(one["model"], one["temperature"], one["max_tokens"]) for one in asked] == [
        ("gpt-4o-mini", 0, 200)
    ] * 2
    assert [len(one["messages"]) for one in asked] == [2, 4]


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (httpx.Response(429, json={"error": {"message": "slow down"}}), "RateLimitError"),
        (httpx.Response(500, text="oops"), "InternalServerError"),
        (httpx.Response(200, json={"choices": []}), "JudgeEndpointError"),
        (_says(None), "JudgeEndpointError"),
    ],
)
def test_an_endpoint_that_fails_is_a_judge_error_of_one_claim(response: httpx.Response, problem: str) -> None:
    found = _judge(lambda body: response).judge("The tram leaves at nine.", EVIDENCE)
    assert (found.outcome, found.attempts) == ("judge_error", 3)
    assert found.reason.startswith(f"the model raised {problem}: ")


def test_an_endpoint_that_nobody_reaches_is_a_judge_error_too() -> None:
    def answer(body: dict[str, Any]) -> httpx.Response:
        raise httpx.ConnectError("no route")

    found = _judge(answer).judge("The tram leaves at nine.", EVIDENCE)
    assert found.outcome == "judge_error"
    assert "APIConnectionError" in found.reason
