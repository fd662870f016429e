"""``neverempty plan`` prints what `neverempty.plan` returns."""

from __future__ import annotations

from pathlib import Path

import pytest

import neverempty as ne
from neverempty.cli import main


def test_it_prints_the_same_as_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--flake", "0.01", "--churn", "0.01", "--floor", "0.9", "--must-pass", "5"]
    assert main(["plan", "60", *options]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{ne.plan(60, flake=0.01, churn=0.01, floor=0.9, must_pass=5)}\n"


def test_without_a_number_it_finds_the_smallest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan"]) == 0
    assert capsys.readouterr().out.startswith("With 134 cases")


def test_a_run_that_could_never_fail_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "4"]) == 3
    assert "no run can ever fail" in capsys.readouterr().out


def test_it_counts_the_cases_of_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    line = '{{"id": "{}", "input": {{"payload": 1}}, "faults": [{{"tool": "t", "kind": "timeout"}}]}}\n'
    path.write_text("".join(line.format(at) for at in range(9)), encoding="utf-8")
    assert main(["plan", str(path)]) == 0
    assert capsys.readouterr().out.startswith("With 9 cases")


@pytest.mark.parametrize("words", [["60", "--drop", "2"], ["0"], ["-1"], ["60", "--floor", "nan"]])
def test_nonsense_is_a_usage_error_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *words]) == 64
    assert capsys.readouterr().err.count("\n") == 1
