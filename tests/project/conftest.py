"""The project's own files, for tests that look at them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_LEFT_OUT = {"__pycache__", ".ipynb_checkpoints", "build", "dist"}


def _files(*folders: str) -> list[Path]:
    found = (path for folder in folders for path in sorted((_ROOT / folder).rglob("*")))
    return [path for path in found if path.is_file() and not _LEFT_OUT.intersection(path.parts)]


@pytest.fixture(scope="session")
def root() -> Path:
    """Find the project's folder."""
    return _ROOT


@pytest.fixture(scope="session")
def texts(root: Path) -> dict[str, str]:
    """Every text file of the project by its name from the root."""
    paths = _files("neverempty", "tests", "notebooks", ".ci", ".github")
    paths += [path for path in sorted(root.iterdir()) if path.suffix in (".md", ".toml", ".yml")]
    kept = [path for path in paths if path.suffix not in (".png", ".pyc", ".so")]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in kept}


@pytest.fixture(scope="session")
def python(texts: dict[str, str]) -> dict[str, str]:
    """Every Python file by its name from the root."""
    return {name: text for name, text in texts.items() if name.endswith(".py")}


@pytest.fixture(scope="session")
def trees(python: dict[str, str]) -> dict[str, ast.Module]:
    """Parse: the syntax tree of every Python file."""
    return {name: ast.parse(text) for name, text in python.items()}


@pytest.fixture(scope="session")
def package(trees: dict[str, ast.Module]) -> dict[str, ast.Module]:
    """Parse: the syntax tree of every module of the package."""
    return {name: tree for name, tree in trees.items() if name.startswith("neverempty/")}
