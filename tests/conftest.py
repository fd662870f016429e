"""What every test gets: figures that are closed, randomness that is seeded, examples that repeat."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
# The same examples on every machine: a red build can be repeated, and shared machines are slow at times.
settings.register_profile("everywhere", derandomize=True, deadline=None)
settings.load_profile("everywhere")


@pytest.fixture
def rng() -> np.random.Generator:
    """Make a generator that starts at the same place in every test."""
    return np.random.default_rng(20260929)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
