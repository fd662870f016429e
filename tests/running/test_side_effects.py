"""A run does not start while a tool that its agent can reach would really take effect."""

from __future__ import annotations

import functools
import types
from typing import Any

import pytest

from neverempty import UsageError
from neverempty.running import run
from neverempty.running.reach import tools_of
from neverempty.tools import tool

SENT: list[str] = []


@tool(side_effect=True)
def send_mail(to: str) -> str:
    SENT.append(to)
    return "sent"


SHOP = types.ModuleType("shop")
SHOP.send_mail = send_mail  # type: ignore[attr-defined]


class Agent:
    def __init__(self) -> None:
        self.tools = {"mail": [send_mail]}

    async def __call__(self, case: Any, tracer: Any) -> str:
        return str(self.tools["mail"][0](to="x").value)

    def method(self, case: Any, tracer: Any) -> str:
        return "x"


def by_name(case: Any, tracer: Any) -> str:
    return str(send_mail(to="x").value)


def by_helper(case: Any, tracer: Any) -> str:
    return max(by_name(case, tracer) for _ in range(1))


def by_module(case: Any, tracer: Any) -> str:
    return str(SHOP.send_mail(to="x").value)


def by_default(case: Any, tracer: Any, *, mail: Any = send_mail) -> str:
    return str(mail(to="x").value)


def made() -> Any:
    mail = send_mail

    def by_closure(case: Any, tracer: Any) -> str:
        return str(mail(to="x").value)

    return by_closure


def hidden(case: Any, tracer: Any) -> str:
    return str(globals()["send" + "_mail"](to="x").value)


REACHING = [
    Agent(),
    Agent().method,
    by_name,
    by_helper,
    by_module,
    by_default,
    made(),
    functools.partial(by_name),
    functools.partial(lambda mail, case, tracer: "x", send_mail),
]


@pytest.mark.parametrize("agent", REACHING)
def test_an_agent_that_can_reach_such_a_tool_is_refused_until_it_is_stubbed(cases, agent) -> None:
    assert [found.name for found in tools_of(agent)] == ["send_mail"]
    with pytest.raises(UsageError, match=r"'send_mail' would really take effect; give stubs="):
        run(agent, cases)
    frame = run(agent, cases, stubs={"send_mail": lambda to: "stub"})
    assert set(frame["answer"]) <= {"stub", "x"}
    assert frame["status"].tolist() == ["ok"] * 4
    assert SENT == []


def test_another_agent_of_the_same_process_is_none_of_its_business(cases) -> None:
    assert tools_of(lambda case, tracer: "x") == []
    assert run(lambda case, tracer: "x", cases)["status"].tolist() == ["ok"] * 4


def test_a_call_that_could_not_be_foreseen_is_refused_and_ends_the_trace(cases) -> None:
    frame = run(hidden, cases)
    assert frame["status"].tolist() == ["harness_error"] * 4
    assert frame["terminal_reason"].str.contains("tool 'send_mail' has side effects").all()
    assert SENT == []
