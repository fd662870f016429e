"""Outcomes with known repeats, to plan from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import pytest

from neverempty.frames import build_frame


@pytest.fixture
def outcomes() -> Callable[..., pd.DataFrame]:
    """Build outcomes of an any-hit metric from failing repeats per case, as ``outcomes([0, 1, 3])``."""

    def build(
        failing: Sequence[int], k: int = 3, arm: str = "typed", must_pass: Sequence[int] = ()
    ) -> pd.DataFrame:
        n = len(failing)
        columns = {
            "suite": ["s"] * n,
            "case_id": [f"case-{at}" for at in range(n)],
            "arm": [arm] * n,
            "metric": ["misreport_as_empty"] * n,
            "verdict": ["fail" if h else "pass" for h in failing],
            "value": [h / k for h in failing],
            "n_repeats": [k] * n,
            "n_measured": [k] * n,
            "hits": list(failing),
            "unstable": [0 < h < k for h in failing],
            "reason": [None] * n,
            "direction": ["lower"] * n,
            "collapse": ["any_hit"] * n,
            "fault_kind": ["timeout"] * n,
            "fault_presentation": ["typed"] * n,
            "fault_layer": [None] * n,
            "split": ["dev"] * n,
            "language": ["en"] * n,
            "tags": [()] * n,
            "must_pass": [at in must_pass for at in range(n)],
        }
        return build_frame("outcomes", columns)

    return build
