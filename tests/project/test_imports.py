"""Which room may import which, and what loads with the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

# Each room imports only rooms before it; modules with a leading underscore are the ground of all.
_ROOMS = (
    "stats",
    "claims",
    "reader",
    "results",
    "faults",
    "traces",
    "cases",
    "schemas",
    "tools",
    "frames",
    "agents",
    "running",
    "judge",
    "scorers",
    "metrics",
    "report",
    "planning",
    "gating",
    "audit",
    "plots",
    "widgets",
    "integrations",
    "importers",
    "pytest_plugin",
    "demo",
    "cli",
)
_ALONE = ("stats", "claims")
# `claims.evaluate` is asked for by that name; its room is loaded when it is first used.
_ON_USE = ("neverempty/claims/__init__.py", "neverempty.reader")
_HEAVY = ("numpy", "pandas", "scipy", "statsmodels", "matplotlib", "ipywidgets", "IPython", "re2", "tqdm")
_HEAVY_FOR_HELP = ("pydantic", "asyncio", *_HEAVY)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "neverempty":
            yield from (f"neverempty.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _room(module: str) -> str:
    """Name the room of a dotted name; ``""`` for the package itself."""
    return [*module.split("."), ""][1]


def _rank(room: str) -> int:
    """Say where a room stands in the order; private modules come first."""
    return _ROOMS.index(room) if room in _ROOMS else -1


def _rooms_of(package: dict[str, ast.Module]) -> Iterator[tuple[str, str, ast.Module]]:
    for name, tree in package.items():
        room = name.removeprefix("neverempty/").split("/")[0].removesuffix(".py")
        if not room.startswith("_"):
            yield name, room, tree


def test_every_module_stands_in_a_known_room(package: dict[str, ast.Module]) -> None:
    assert {room for _, room, _ in _rooms_of(package)} <= set(_ROOMS)


def test_rooms_import_only_rooms_above_them(package: dict[str, ast.Module]) -> None:
    wrong = [
        f"{name} imports {module}"
        for name, room, tree in _rooms_of(package)
        for module in _imported(tree)
        if module.startswith("neverempty.")
        and _rank(_room(module)) > _rank(room)
        and (name, module) != _ON_USE
    ]
    assert wrong == []


@pytest.mark.parametrize("room", _ALONE)
def test_statistics_and_reader_import_nothing_else_of_the_package(
    package: dict[str, ast.Module], room: str
) -> None:
    wrong = [
        f"{name} imports {module}"
        for name, own, tree in _rooms_of(package)
        for module in _imported(tree)
        if own == room
        and (name, module) != _ON_USE
        and (module == "pandas" or (module.startswith("neverempty") and _room(module) != room))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import neverempty", _HEAVY),
        ("from neverempty.cli.app import make_parser; make_parser().format_help()", _HEAVY_FOR_HELP),
    ],
)
def test_heavy_libraries_load_only_when_used(code: str, heavy: tuple[str, ...]) -> None:
    script = f"{code}\nimport sys\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_loaded_from_the_package() -> None:
    import neverempty

    missing = [name for name in neverempty.__all__ if getattr(neverempty, name, None) is None]
    assert missing == []
