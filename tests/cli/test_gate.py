"""``compare``, ``gate`` and ``baseline``: the exit code says what was decided."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# It lies while the file "lies" is there; one control goes without its tool in as many repeats as "lazy" says.
_AGENT = """
from pathlib import Path
import neverempty as ne
@ne.tool(empty_when=lambda rows: rows == [])
def list_orders(customer: str) -> list[str]:
    "List."
    return ["A-1042"]
def agent(case, tracer):
    lazy = Path("lazy")
    if case.id == "alder-data" and lazy.exists() and tracer.repeat < int(lazy.read_text()):
        return "Open orders: A-1042."
    shown = list_orders("Alder Books").to_model()
    if '"status": "error"' in shown:
        return "There are no open orders." if Path("lies").exists() else "The lookup failed."
    return "There are no open orders." if "A-1042" not in shown else "Open orders: A-1042."
"""
_GATE = '\n[gate]\nmetrics = ["misreport_as_empty", "first_tool"]\n'


@pytest.fixture
def project(set_up: Path, edit: Callable[[str, str], None]) -> Path:
    """Write a set-up whose agent can be made worse, with one must-pass case."""
    (set_up / "target.py").write_text(_AGENT, encoding="utf-8")
    edit('arms = ["typed", "swallowed"]', 'arms = ["typed"]')
    cases = set_up / "cases" / "orders.jsonl"
    lines = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["must_pass"] = line["id"] == "alder-data"
    cases.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    config = set_up / "neverempty.toml"
    config.write_text(config.read_text(encoding="utf-8") + _GATE, encoding="utf-8")
    return set_up


def test_a_report_passes_its_own_baseline(cli: Any, project: Path) -> None:
    assert cli("run", "--out", "good").code == 0
    promoted = cli("baseline", "promote", "good", "--by", "Ann")
    assert promoted.code == 0
    assert "promoted by Ann at 20" in promoted.out
    done = cli("gate", "baseline", "good")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("pass (exit code 0)\n")
    assert "baseline: promoted by Ann" in done.out


def test_an_agent_that_starts_to_lie_fails_with_1(cli: Any, project: Path) -> None:
    cli("run", "--out", "good")
    (project / "lies").touch()
    cli("run", "--out", "bad")
    done = cli("gate", "good", "bad", "--json", "decision.json")
    assert done.code == 1
    assert "regression: safety_worse: misreport_as_empty (typed) got worse in 12" in done.out
    found = json.loads((project / "decision.json").read_text(encoding="utf-8"))
    assert (found["verdict"], found["exit_code"]) == ("regression", 1)
    compared = cli("compare", "good", "bad")
    assert compared.code == 0
    assert "orders/alder-timeout (typed)  regressed" in compared.out


def test_a_gate_without_a_baseline_and_without_a_configuration_works(cli: Any, project: Path) -> None:
    cli("run", "--out", "good")
    (project / "neverempty.toml").rename(project / "other.toml")
    done = cli("gate", "good")
    assert done.code == 0
    assert "there is no baseline" in done.out


def test_a_failed_must_pass_case_is_2(cli: Any, project: Path) -> None:
    (project / "lazy").write_text("2")
    cli("run", "--out", "lazy-run")
    done = cli("gate", "lazy-run")
    assert done.code == 2
    assert "must-pass case orders/alder-data (typed) failed first_tool: 2 of 3 repeats failed" in done.out


@pytest.mark.parametrize(("forgets", "code", "text"), [(0, 0, "is not confirmed"), (3, 2, "stands")])
def test_a_failed_must_pass_case_can_be_run_once_more(
    forgets: int, code: int, text: str, cli: Any, project: Path
) -> None:
    (project / "lazy").write_text("2")
    cli("run", "--out", "lazy-run")
    (project / "lazy").write_text(str(forgets))
    done = cli("gate", "lazy-run", "--confirm")
    assert done.code == code
    assert "first 2 of 3 repeats failed, then" in done.out
    assert text in done.out


def test_an_unmeasured_report_is_3_and_an_unlike_one_4(cli: Any, project: Path) -> None:
    cli("run", "--out", "good")
    cli("run", "--out", "two", "--repeats", "2")
    done = cli("gate", "good", "two")
    assert done.code == 4
    assert "the baseline has 3 repeats, the candidate 2" in done.out
    refused = cli("compare", "good", "two")
    assert refused.code == 4
    assert "repeats: the baseline has 3 repeats, the candidate 2" in refused.err
    (project / "target.py").write_text("def agent(case, tracer):\n    raise RuntimeError\n")
    del sys.modules["target"]
    assert cli("run", "--out", "silent").code == 3
    assert cli("gate", "silent").code == 3


def test_a_mistake_in_the_gate_table_is_named_with_its_line(
    cli: Any, project: Path, edit: Callable[[str, str], None]
) -> None:
    cli("run", "--out", "good")
    edit('metrics = ["misreport_as_empty", "first_tool"]', 'metric = ["first_tool"]')
    line = (
        (project / "neverempty.toml")
        .read_text(encoding="utf-8")
        .splitlines()
        .index('metric = ["first_tool"]')
    )
    done = cli("gate", "good")
    assert done.code == 4
    assert f"neverempty.toml:{line + 1}: gate.metric: unknown key; did you mean 'metrics'?" in done.err


def test_arms_of_one_report_are_compared(cli: Any, set_up: Path) -> None:
    cli("run", "--out", "both")
    done = cli("compare", "both", "--pair", "typed:swallowed")
    assert done.code == 0
    assert "+100.0" in done.out


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("gate", "a", "b", "c"), "gate takes a baseline and a candidate"),
        (("compare", "a", "b", "c"), "compare takes a baseline and a candidate"),
        (("compare", "a", "b", "--pair", "x:y"), "--pair is about the arms of one report"),
        (("compare", "a", "--arm", "x"), "name the arms of one with --pair"),
        (("baseline",), "arguments are required: ACTION"),
    ],
)
def test_a_wrong_command_line_is_64(args: tuple[str, ...], text: str, cli: Any) -> None:
    done = cli(*args)
    assert done.code == 64
    assert text in done.err


def test_a_pair_that_is_none_is_64(cli: Any, set_up: Path) -> None:
    cli("run", "--out", "both")
    assert "is no pair like typed:swallowed" in cli("compare", "both", "--pair", "typed").err


def test_a_folder_without_a_report_is_4(cli: Any) -> None:
    for command in (("gate", "nowhere"), ("compare", "nowhere"), ("baseline", "promote", "nowhere")):
        done = cli(*command)
        assert done.code == 4
        assert "there is no report here" in done.err


def test_the_gate_exports_what_it_decided(cli: Any, project: Path) -> None:
    cli("run", "--out", "good")
    assert cli("gate", "good", "--out", "exported").code == 0
    assert "wrote" in cli("gate", "good", "good", "--out", "exported").out
    (project / "lies").touch()
    cli("run", "--out", "bad")
    assert cli("gate", "good", "bad", "--out", "exported").code == 1
    page = (project / "exported" / "report.html").read_text(encoding="utf-8")
    assert "regression" in page[: page.index("</title>")].lower()
    assert "# ❌ Regression" in (project / "exported" / "comment.md").read_text(encoding="utf-8")
    (project / "exported" / "badge.json").write_text('{"message": "0.0 %"}', encoding="utf-8")
    assert cli("gate", "good", "nowhere", "--out", "exported").code == 4
    assert json.loads((project / "exported" / "badge.json").read_text(encoding="utf-8"))["message"] == "n/a"
