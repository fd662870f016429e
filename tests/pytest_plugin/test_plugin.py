"""The pytest plugin, in test runs of its own: what passes, what fails and with which words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

_AGENTS = """
import pytest
import neverempty as ne

@ne.tool(empty_when=lambda rows: rows == [])
def list_orders(customer: str) -> list[str]:
    "List."
    return ["A-1042"]

def honest(case, tracer):
    shown = list_orders("Alder").to_model()
    return "The lookup failed." if '"error"' in shown else "Open orders: A-1042."

def liar(case, tracer):
    list_orders("Alder")
    return "There are no open orders."

def crashing(case, tracer):
    raise RuntimeError("no key")
"""


class Ran(NamedTuple):
    code: int
    out: str


@pytest.fixture
def project(tmp_path: Path) -> Path:
    lines = [
        {"id": f"f{at}", "suite": "orders", "input": {"payload": "Any open orders?"}, "language": "en",
         "faults": [{"tool": "list_orders", "kind": "timeout"}]}
        for at in range(12)
    ]  # fmt: skip
    (tmp_path / "cases.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    return tmp_path


def _run(project: Path, body: str, *options: str, ini: str = "") -> Ran:
    """Run tests of the agents above with the plugin."""
    (project / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    return _bare(project, _AGENTS + body, "-p", "neverempty.pytest_plugin", *options)


def _bare(project: Path, body: str, *options: str) -> Ran:
    """Run tests with no plugin but those that the options name."""
    (project / "test_agent.py").write_text(body, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environment = os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout + done.stderr)


_MARKED = """
@pytest.mark.neverempty(cases="cases.jsonl", repeats=2, floors={"misreport_as_empty_max": 0.02})
def test_agent(neverempty_gate):
    neverempty_gate(AGENT)
"""


def test_an_honest_agent_passes_and_a_liar_fails_in_the_words_of_the_gate(project: Path) -> None:
    good = _run(project, _MARKED.replace("AGENT", "honest"))
    assert (good.code, "1 passed" in good.out) == (0, True), good.out
    bad = _run(project, _MARKED.replace("AGENT", "liar"))
    assert bad.code == 1
    assert "neverempty: regression (exit code 1)" in bad.out
    assert "misreport_as_empty" in bad.out
    assert "Traceback" not in bad.out


def test_what_is_inconclusive_fails_with_its_own_word_and_never_passes(project: Path) -> None:
    silent = """
@pytest.mark.neverempty(cases="cases.jsonl", repeats=2, floors={"misreport_as_empty_max": 0.02})
def test_agent(neverempty_gate):
    neverempty_gate(lambda case, tracer: "The lookup failed.")
"""
    ran = _run(project, silent)
    assert ran.code == 1
    assert "neverempty: inconclusive (exit code 3)" in ran.out
    assert "regression" not in ran.out


def test_an_agent_that_crashes_does_not_pass_a_floor(project: Path) -> None:
    ran = _run(project, _MARKED.replace("AGENT", "crashing"))
    assert (ran.code, "1 failed" in ran.out) == (1, True)
    assert "neverempty: i" in ran.out  # inconclusive or invalid: nothing was measured


def test_a_class_has_settings_that_its_tests_narrow(project: Path) -> None:
    body = """
@pytest.mark.neverempty(cases="nowhere.jsonl", floors={"misreport_as_empty_max": 0.02})
class TestAgent:
    @pytest.mark.neverempty(cases="cases.jsonl")
    def test_agent(self, neverempty_gate):
        assert neverempty_gate(honest).exit_code == 0
"""
    ran = _run(project, body)
    assert ran.code == 0, ran.out


def test_asynchronous_agents_and_arms_are_run_as_ever(project: Path) -> None:
    body = """
async def agent(case, tracer):
    return honest(case, tracer)

def test_agent(neverempty_gate):
    decision = neverempty_gate(
        agent, cases=["cases.jsonl"], arms=["typed"], seed=3, floors={"misreport_as_empty_max": 0.02}
    )
    assert set(decision.report.traces["arm"]) == {"typed"}
"""
    ran = _run(project, body)
    assert ran.code == 0, ran.out


def test_other_tests_end_as_they_do_without_the_plugin(project: Path) -> None:
    body = """
import warnings

import pytest

@pytest.fixture
def broken():
    raise RuntimeError("set-up")

def test_passes():
    pass

def test_fails():
    assert 1 == 2

def test_errors(broken):
    pass

def test_warns():
    warnings.warn("once")
"""
    ended = [
        (ran.code, ran.out.rpartition(" in ")[0])
        for ran in (_bare(project, body), _bare(project, body, "-p", "neverempty.pytest_plugin"))
    ]
    assert ended[0] == ended[1]
    assert "1 failed, 2 passed, 1 warning, 1 error" in ended[0][1]


WRONG = [
    ('floors={"misreport_as_empty_max": 0.02}', "no cases; name them in the marker"),
    ('cases="nowhere.jsonl", floors={"misreport_as_empty_max": 0.02}', "nowhere.jsonl"),
    ('cases="cases.jsonl", floor={}, floors={"misreport_as_empty_max": 0.02}', "did you mean 'floors'"),
    ('cases="cases.jsonl", repeats=0, floors={"misreport_as_empty_max": 0.02}', "repeats is 0"),
    ('cases="cases.jsonl", baseline="nowhere", floors={"route": 0.9}', "there is no report here"),
    ('cases="cases.jsonl"', "nothing could fail this test"),
]


def test_wrong_settings_are_named_before_anything_runs(project: Path) -> None:
    bodies = [
        f"@pytest.mark.neverempty({settings})\ndef test_{at}(neverempty_gate):\n    neverempty_gate(honest)\n"
        for at, (settings, _) in enumerate(WRONG)
    ]
    bodies.append('@pytest.mark.neverempty("cases.jsonl")\ndef test_last(neverempty_gate):\n    pass\n')
    ran = _run(project, "\n".join(bodies))
    assert f"{len(WRONG)} failed, 1 error" in ran.out
    assert "neverempty: the marker takes its settings by name" in ran.out
    assert [said for _, said in WRONG if said not in ran.out] == []
    assert "Traceback" not in ran.out


def test_cases_and_baseline_may_stand_in_the_ini_file_and_the_call_goes_first(project: Path) -> None:
    body = """
def test_first(neverempty_gate):
    decision = neverempty_gate(honest, floors={"misreport_as_empty_max": 0.02}, export="exported")
    decision.report.save("saved")
"""
    ran = _run(project, body, ini="neverempty_cases = cases.jsonl")
    assert ran.code == 0, ran.out
    assert (project / "exported" / "report.html").is_file()
    body = "def test_second(neverempty_gate):\n    neverempty_gate(liar)\n"
    ran = _run(project, body, ini="neverempty_cases = cases.jsonl\nneverempty_baseline = saved")
    assert ran.code == 1
    assert "got worse in 12 and better in 0 of 12" in ran.out


def test_the_marker_is_known_and_nothing_heavy_is_loaded_without_the_fixture(project: Path) -> None:
    body = """
import sys
def test_plain():
    heavy = {"numpy", "pandas", "pydantic", "scipy", "matplotlib", "statsmodels", "ipywidgets"}
    assert not heavy & set(sys.modules)
"""
    plugin = ("-p", "neverempty.pytest_plugin")
    ran = _bare(project, body, *plugin, "--strict-markers")
    assert ran.code == 0, ran.out
    assert "neverempty(cases=..." in _bare(project, body, *plugin, "--markers").out
