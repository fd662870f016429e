"""What every plot is held to, and outcomes to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import matplotlib as mpl
import pandas as pd
import pytest

from neverempty.frames import build_frame


@pytest.fixture(autouse=True)
def _same_style() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before, "a plot changed the global style"


@pytest.fixture
def outcomes() -> Callable[..., pd.DataFrame]:
    """Build outcomes of any-hit metrics from failing repeats per case; None is not measured."""

    def build(
        failing: Sequence[int | None], k: int = 3, arm: str = "typed", metric: str = "misreport_as_empty"
    ) -> pd.DataFrame:
        n = len(failing)
        hits = [h or 0 for h in failing]
        columns = {
            "suite": ["s"] * n,
            "case_id": [f"case-{at}" for at in range(n)],
            "arm": [arm] * n,
            "metric": [metric] * n,
            "verdict": ["no_signal" if h is None else "fail" if h else "pass" for h in failing],
            "value": [None if h is None else h / k for h in failing],
            "n_repeats": [k] * n,
            "n_measured": [0 if h is None else k for h in failing],
            "hits": hits,
            "unstable": [0 < h < k for h in hits],
            "reason": ["agent_timeout" if h is None else None for h in failing],
            "direction": ["lower"] * n,
            "collapse": ["any_hit"] * n,
            "fault_kind": ["timeout"] * n,
            "fault_presentation": ["typed"] * n,
            "fault_layer": [None] * n,
            "split": ["dev"] * n,
            "language": ["en"] * n,
            "tags": [()] * n,
            "must_pass": [False] * n,
        }
        return build_frame("outcomes", columns)

    return build
