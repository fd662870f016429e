"""A check that is not wired in must be missed: with its deciding line deleted, a named test turns red."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXACT = "tests/scorers/test_exact_checks.py"

# File, the statement that decides (found by its text, which must stand there once), the test that guards it.
MUTANTS = [
    (
        "scorers/legality.py",
        'evidence = {"unknown": unknown',
        f"{EXACT}::test_only_tools_that_there_are_may_be_asked_for",
    ),
    (
        "scorers/legality.py",
        "problems = [problem for call in asked",
        f"{EXACT}::test_arguments_are_held_against_the_schema_of_their_tool",
    ),
    (
        "scorers/contract.py",
        'evidence={"drifted": drifted}',
        f"{EXACT}::test_a_drifted_tool_fails_where_it_was_called",
    ),
    (
        "scorers/provenance.py",
        'unfounded.append({"tool"',
        f"{EXACT}::test_a_value_must_have_been_returned_before_it_is_used",
    ),
    ("scorers/terminal.py", 'f"ended_{len(ends)}_times"', f"{EXACT}::test_an_episode_ends_once_and_says_why"),
    (
        "scorers/goal_state.py",
        'return check(_METRIC, False, "missed"',
        f"{EXACT}::test_the_goal_is_looked_up_in_the_real_store",
    ),
    ("scorers/criteria.py", '"other", evidence', f"{EXACT}::test_structured_routes_are_compared_by_hash"),
    (
        "scorers/reply_lint.py",
        '"said", evidence',
        f"{EXACT}::test_a_banned_word_counts_where_it_stands_by_itself",
    ),
    (
        "scorers/reply_lint.py",
        '"number_format", evidence',
        f"{EXACT}::test_a_reply_speaks_the_language_of_its_case",
    ),
    ("running/session.py", "check_contract(agent, settings.contract", "tests/tools/test_contract.py"),
    ("scorers/route.py", 'check(_METRIC, False, "wrong"', "tests/scorers/test_expectations.py"),
    ("scorers/forbidden_claims.py", '"claimed", evidence', "tests/scorers/test_expectations.py"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the package and its tests, to be damaged."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("neverempty", "tests", "datasets"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def _passes(folder: Path, tests: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout[-2000:] + done.stderr[-2000:]
    return done.returncode == 0


def _statement(source: str, text: str) -> ast.stmt:
    """Find the smallest statement that holds a text, which must stand in the source once."""
    assert source.count(text) == 1, f"{text!r} stands {source.count(text)} times"
    line = source[: source.index(text)].count("\n") + 1
    holding = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(holding, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)


def _without(source: str, text: str) -> str:
    statement = _statement(source, text)
    lines = source.splitlines(keepends=True)
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    return "".join([*lines[:first], " " * statement.col_offset + "pass\n", *lines[last:]])


@pytest.mark.slow
def test_the_undamaged_copy_passes_every_guarding_test(copy: Path) -> None:
    assert _passes(copy, sorted({test for _, _, test in MUTANTS}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "text", "test"), MUTANTS, ids=[f"{file}: {text}" for file, text, _ in MUTANTS]
)
def test_a_check_without_its_deciding_line_turns_its_test_red(
    copy: Path, file: str, text: str, test: str
) -> None:
    path = copy / "neverempty" / file
    source = path.read_text(encoding="utf-8")
    path.write_text(_without(source, text), encoding="utf-8")
    try:
        assert not _passes(copy, [test])
    finally:
        path.write_text(source, encoding="utf-8")
