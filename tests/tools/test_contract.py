"""Pinned tool schemas, and a run that refuses to start when they have drifted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neverempty import Case, InputError, UsageError, evaluate, run, tool
from neverempty.tools.contract import contract_hash, drift, exported, pin_contract, read_contract


@tool(never_empty=True)
def stock(item: str, limit: int = 3) -> int:
    """Count."""
    return 3


@tool(name="stock", never_empty=True)
def renamed(thing: str, limit: int = 3) -> int:
    """Count."""
    return 3


@tool(name="stock", never_empty=True)
def retyped(item: int, limit: int) -> int:
    """Count."""
    return 3


@tool(never_empty=True)
def price(item: str) -> float:
    """Price."""
    return 1.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    pin_contract([stock], path)
    return path


@pytest.mark.parametrize(
    ("tools", "lines"),
    [
        ([stock], []),
        ([stock, price], ["tool 'price' is new"]),
        ([price], ["tool 'stock' is gone", "tool 'price' is new"]),
        ([renamed], ["tool 'stock': argument 'item' is gone", "tool 'stock': argument 'thing' is new"]),
        (
            [retyped],
            [
                "tool 'stock': type of argument 'item' was \"string\", is \"integer\"",
                "tool 'stock': argument 'limit' is required now",
                "tool 'stock': default of argument 'limit' was 3, is not said",
            ],
        ),
    ],
)
def test_drift_is_said_in_plain_words(file: Path, tools: list[Any], lines: list[str]) -> None:
    assert drift(tools, file) == lines


def test_a_contract_is_the_same_bytes_whatever_the_order_of_the_tools(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    assert pin_contract([stock, price], first) == pin_contract([price, stock], second)
    assert first.read_bytes() == second.read_bytes()
    assert contract_hash(read_contract(first)) == contract_hash(exported([stock, price]))


def test_a_contract_that_was_edited_or_is_none_is_refused(file: Path, tmp_path: Path) -> None:
    data = json.loads(file.read_text(encoding="utf-8"))
    data["tools"]["stock"]["properties"]["item"]["type"] = "integer"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match="it was edited; pin the contract anew"):
        drift([stock], file)
    for text, problem in (("{", ":1:"), ("[]", "no tool contract"), ('{"contract_version": 9}', "version 1")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=problem):
            drift([stock], file)
    with pytest.raises(InputError, match="pin_contract"):
        drift([stock], tmp_path / "none.json")
    with pytest.raises(UsageError, match="no tool whose schema"):
        pin_contract([], tmp_path / "empty.json")


def test_a_run_starts_only_with_the_tools_that_are_pinned(file: Path) -> None:
    case = [Case(id="a", input={"payload": 1})]
    asked: list[str] = []

    def agent(case: Any, tracer: Any) -> str:
        asked.append("stock")
        return stock(item="nails").to_model()

    def drifted(case: Any, tracer: Any) -> str:
        asked.append("renamed")
        return renamed(thing="nails").to_model()

    assert run(agent, case, contract=file)["status"].tolist() == ["ok"]
    with pytest.raises(UsageError, match="'thing' is new; run again with repin=True"):
        run(drifted, case, contract=file)
    assert asked == ["stock"]
    assert run(drifted, case, contract=file, repin=True)["status"].tolist() == ["ok"]
    assert drift([renamed], file) == []
    report = evaluate(drifted, case, contract=file)
    assert report.provenance["contract"] == contract_hash(exported([renamed]))
    assert report.provenance["contract"] in report.to_markdown()
    with pytest.raises(UsageError, match="no tool is found on the agent"):
        run(lambda case, tracer: "None.", case, contract=file)
    with pytest.raises(UsageError, match="repin needs a contract"):
        run(agent, case, repin=True)
