from __future__ import annotations

import statistics
import subprocess
import sys

import pytest

import neverempty

HEAVY = ("pandas", "numpy", "scipy", "statsmodels", "matplotlib", "ipywidgets", "IPython", "tqdm")


def fresh(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = fresh("import sys, neverempty; print(*sorted({name.split('.')[0] for name in sys.modules}))")
    assert "neverempty" in loaded.split()
    assert set(loaded.split()).isdisjoint(HEAVY)


@pytest.mark.slow
def test_importing_the_package_takes_at_most_a_tenth_of_a_second_more_than_pydantic() -> None:
    clock = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"

    def median(statement: str) -> float:
        return statistics.median(float(fresh(clock.format(statement))) for _ in range(9))

    assert median("import neverempty") <= median("from pydantic import BaseModel") + 0.1


def test_every_public_name_loads() -> None:
    names = neverempty.__all__
    assert "run" in names
    assert dir(neverempty) == names
    assert [name for name in names if not hasattr(neverempty, name)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = neverempty.no_such_name
