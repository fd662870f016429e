"""House rules that a machine can check."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import neverempty

_MOST_LINES = 400
_MOST_LINES_OF_FUNCTION = 60
# Spelt in parts, so that this file does not name them itself.
_FORBIDDEN = (
    "py" + "pi.org",
    "python" + "hosted",
    "anaconda" + ".org",
    "/ro" + "ot/",
    "/wo" + "rk/",
    "/ho" + "me/",
    "TO" + "DO",
    "FIX" + "ME",
    "NotImpl" + "ementedError",
)


def test_no_python_file_is_longer_than_400_lines(python: dict[str, str]) -> None:
    long = {name: text.count("\n") for name, text in python.items() if text.count("\n") > _MOST_LINES}
    assert long == {}


def test_no_function_is_longer_than_60_lines(trees: dict[str, ast.Module]) -> None:
    long = {
        f"{name}:{node.lineno} {node.name}": length
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (length := _code_lines(node)) > _MOST_LINES_OF_FUNCTION
    }
    assert long == {}


def _code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


def test_the_package_checks_input_with_errors_and_never_with_assert(package: dict[str, ast.Module]) -> None:
    asserts = [
        f"{name}:{node.lineno}"
        for name, tree in package.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]
    assert asserts == []


def test_no_handler_drops_every_exception_silently(trees: dict[str, ast.Module]) -> None:
    silent = [
        f"{name}:{node.lineno}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id.endswith("Exception")))
        and all(isinstance(line, (ast.Pass, ast.Continue)) for line in node.body)
    ]
    assert silent == []


def test_nothing_names_a_machine_a_registry_or_unfinished_work(texts: dict[str, str]) -> None:
    found = [f"{name}: {word}" for name, text in texts.items() for word in _FORBIDDEN if word in text]
    assert found == []


def test_no_test_is_skipped_or_expected_to_fail(python: dict[str, str]) -> None:
    excused = re.compile(r"pytest\.(mark\.)?(skip|" + r"xfail|importorskip)")
    tests = {name: text for name, text in python.items() if name.startswith("tests/")}
    assert [name for name, text in tests.items() if excused.search(text)] == []


def test_every_test_can_fail(trees: dict[str, ast.Module]) -> None:
    checks = re.compile(r"\bassert|raises|warns|check|expect|verify|validate|fail\(")
    idle = [
        f"{name}:{node.lineno} {node.name}"
        for name, tree in trees.items()
        if name.startswith("tests/")
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and not checks.search(ast.unparse(node))
    ]
    assert idle == []


def test_the_changelog_has_a_dated_section_for_this_version(root: Path) -> None:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(neverempty.__version__)} \(\d{{4}}-\d\d-\d\d\)$", text, re.M)
