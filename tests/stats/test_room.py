"""The room can be lifted out: what it imports, and when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import neverempty
from neverempty import stats

FORBIDDEN = ("pandas", "matplotlib", "ipywidgets", "statsmodels", "pydantic")


def run_fresh(code: str) -> str:
    """Run code in a process of its own and return what it prints."""
    root = str(Path(neverempty.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {root!r})\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# Prints the loaded modules whose names start with one of the words given.
LOADED = """
def loaded(*words):
    print([m for m in sys.modules if m.startswith(words)])
"""
USE_ALL = """
import neverempty.stats as s
for name in s.__all__:
    getattr(s, name)
s.mcnemar_power(100, 0.05)
s.gate_operating_characteristics(s.GateDesign(70, 3, 0.01, 0.9))
s.clopper_pearson_interval(1, 9)
s.clustered_se([0, 1] * 40, range(80))
s.bca([9, 1], lambda k: k[:, 0])
s.evalue_flips(9, 1)
s.cohen_kappa([[9, 1], [1, 9]])
s.bootstrap_rate(3, 9)
s.beta_posterior(1, 9)
"""


def test_importing_the_room_loads_neither_scipy_nor_any_module_of_it() -> None:
    code = "import neverempty.stats\nloaded('scipy', 'numpy', 'neverempty.stats.')"
    assert run_fresh(LOADED + code) == "[]"


def test_using_every_public_name_loads_nothing_but_numpy_and_scipy_special() -> None:
    words = (*FORBIDDEN, "scipy.stats", "scipy.optimize")
    assert run_fresh(f"{LOADED}{USE_ALL}\nloaded(*{words!r})") == "[]"


def test_the_room_imports_no_other_room() -> None:
    code = "print([m for m in sys.modules if m.startswith('neverempty.') and 'stats' not in m])"
    assert run_fresh(USE_ALL + code) == "[]"


def test_every_public_name_resolves_and_has_a_docstring() -> None:
    assert len(stats.__all__) == len(set(stats.__all__)) > 60
    for name in stats.__all__:
        assert getattr(stats, name).__doc__, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="wald_interval"):
        stats.wald_interval  # type: ignore[attr-defined]  # noqa: B018


def test_same_seed_gives_same_numbers_in_another_process() -> None:
    code = (
        "from neverempty import stats as s\n"
        "b = s.bootstrap_counts([9, 30, 4], lambda k: (k[:, 0] - k[:, 2]) / 43, 2000, 7)\n"
        "g = s.gate_monte_carlo(s.GateDesign(30, 3, 0.05, 0.9, 0.1), 200, 7)\n"
        "print(repr((b.lo, b.hi, b.se, g)))"
    )
    assert run_fresh(code) == run_fresh(code)
