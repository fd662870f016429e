"""``init``, ``validate`` and ``coverage``: from nothing to a checked set-up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty.cases import load_cases
from neverempty.cli.init import FILES


def test_init_writes_a_set_up_that_validates(cli: Any, tmp_path: Path) -> None:
    done = cli("init", "new")
    assert done.code == 0
    assert done.out.endswith("now: cd new && neverempty run\n")
    assert all((tmp_path / "new" / name).is_file() for name in FILES)
    assert cli("validate", "--config", "new/neverempty.toml").code == 0


def test_init_overwrites_nothing_and_then_writes_nothing(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "target.py").write_text("mine = 1\n", encoding="utf-8")
    done = cli("init")
    assert done.code == 64
    assert "target.py exists already" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["target.py"]


def test_init_says_where_it_cannot_write(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    done = cli("init", "taken")
    assert done.code == 4
    assert "cannot be written" in done.err


def test_the_set_up_has_faults_and_both_controls(set_up: Path) -> None:
    kinds = [case.fault_kind for case in load_cases(set_up / "cases" / "orders.jsonl")]
    assert len(kinds) - kinds.count("empty") - kinds.count("none") >= 12
    assert {"empty", "none"} < set(kinds)


def test_validate_names_every_bad_line(cli: Any, tmp_path: Path) -> None:
    good = {"id": "a", "input": {"payload": 1}}
    lines = [json.dumps(good), "{", json.dumps(good), json.dumps({"id": "b"})]
    (tmp_path / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = cli("validate", "cases.jsonl")
    assert done.code == 4
    assert sorted(line.split(":")[1] for line in done.err.splitlines()[1:]) == ["2", "3", "4"]


def test_validate_compares_the_hash_of_the_frozen_split(cli: Any, set_up: Path) -> None:
    said = cli("validate").out.splitlines()[-1].removeprefix("test split hash: ")
    assert cli("validate", "--expect-split-hash", said).code == 0
    assert cli("validate", "--expect-split-hash", said[:12]).code == 0
    for other in ("0" * 64, said[:8], ""):
        assert cli("validate", "--expect-split-hash", other).code == 4


def test_validate_checks_the_hash_that_the_configuration_notes(
    cli: Any, edit: Callable[[str, str], None]
) -> None:
    edit('cases = ["cases/orders.jsonl"]', 'cases = ["cases/orders.jsonl"]\nsplit_hash = "0123456789abcdef"')
    done = cli("validate")
    assert done.code == 4
    assert "neverempty.toml:14: the test split has the hash" in done.err


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('name = "orders"\ncases', 'name = "invoices"\ncases', "no [[suite]] has that name"),
        ("orders.jsonl", "ordres.jsonl", "ordres.jsonl: cannot be read"),
        (
            'cases = ["cases/orders.jsonl"]',
            'cases = ["cases/orders.jsonl"]\nsplit = "test"',
            "no case in split",
        ),
    ],
)
def test_validate_checks_what_the_configuration_names(
    cli: Any, edit: Callable[[str, str], None], old: str, new: str, problem: str
) -> None:
    edit(old, new)
    done = cli("validate")
    assert done.code == 4
    assert problem in done.err


def test_validate_takes_files_or_a_configuration_and_not_both(cli: Any, set_up: Path) -> None:
    assert cli("validate", "cases/orders.jsonl", "--config", "neverempty.toml").code == 64


def test_coverage_fails_where_a_branch_is_short_and_says_by_how_much(cli: Any, set_up: Path) -> None:
    done = cli("coverage")
    assert done.code == 4
    assert done.out.splitlines()[-1] == "6 branches of 6 short, by 276 cases together"
    enough = cli("coverage", "--need", "3")
    assert enough.code == 0
    assert enough.out.endswith("every branch has its 3 cases\n")


def test_coverage_counts_the_branches_that_it_is_told(cli: Any, set_up: Path) -> None:
    done = cli("coverage", "cases/orders.jsonl", "--need", "24", "--by", "suite")
    assert done.code == 0
    assert cli("coverage", "--by", "siute").code == 64
    assert cli("coverage", "--need", "0").code == 64
