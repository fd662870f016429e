"""The two lists of requirements say the same, and so do the two versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import neverempty

# conda-forge has a library under another name, or splits it.
_CONDA_NAMES = {"matplotlib-base": "matplotlib"}
_ONLY_CONDA = {"conda-forge", "python", "pip", "jupyterlab"}


@pytest.fixture
def project(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return loaded["project"]  # type: ignore[no-any-return]


def _requirements(lines: list[str]) -> dict[str, str]:
    parts = (re.fullmatch(r"([A-Za-z0-9-]+)(.*)", line.strip()) for line in lines)
    return {_CONDA_NAMES.get(part[1], part[1]): part[2] for part in parts if part}


def test_environment_yml_lists_the_requirements_of_pyproject(root: Path, project: dict[str, Any]) -> None:
    text = (root / "environment.yml").read_text(encoding="utf-8")
    listed = _requirements(re.findall(r"^  - ([^\s:]+)$", text, re.M))
    listed = {name: version for name, version in listed.items() if name not in _ONLY_CONDA}
    assert listed == _requirements(project["dependencies"])
    assert re.search(r'^      - -e "\.\[dev\]"$', text, re.M)


def test_the_package_says_the_version_of_pyproject(project: dict[str, Any]) -> None:
    assert neverempty.__version__ == project["version"]
