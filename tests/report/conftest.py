"""A report of a small suite whose answers are written out, hostile ones among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from neverempty.cases import Case, Cases
from neverempty.frames import traces_frame
from neverempty.report import Report, make_report
from neverempty.traces.model import ToolCall, Trace

HOSTILE = "<script>alert(1)</script> | `x` @someone \x1b[31m \u202e [a](http://b) \ud835"
# a case file cannot hold a lone surrogate in a tag; an answer can
HOSTILE_TAG = HOSTILE.replace("\ud835", "")


@pytest.fixture(scope="session")
def report_of() -> Callable[..., Report]:
    """Make a report of one failed call per answer; an answer may be a pair with a status."""

    def make(answers: list[Any], *, tag: str = "t", **settings: Any) -> Report:
        cases = Cases(
            Case(
                id=f"c{at}",
                input={"payload": "Any jobs?"},
                language="en",
                tags=(tag,),
                faults=[{"tool": "search", "kind": "timeout"}],
            )
            for at in range(len(answers))
        )
        traces = []
        for case, said in zip(cases, answers, strict=True):
            answer, status = said if isinstance(said, tuple) else (said, "ok")
            call = ToolCall(0, "search", {}, "error", kind="timeout", injected=True, state="seen")
            traces.append(
                Trace(
                    "default",
                    case.id,
                    "typed",
                    0,
                    status,
                    answer=answer,
                    calls=[call],
                    language="en",
                    tags=(tag,),
                    fault_kind="timeout",
                    fault_state="seen",
                    started_at="2026-03-04T05:06:07.000000+00:00",
                    duration_ms=12.5,
                )
            )
        return make_report(traces_frame(traces), cases, **({"repeats": 1, "seed": 3} | settings))

    return make


@pytest.fixture(scope="session")
def hostile() -> str:
    """Text that tries to break out of wherever it is shown."""
    return HOSTILE


@pytest.fixture(scope="session")
def hostile_tag() -> str:
    """Give the same as a tag."""
    return HOSTILE_TAG
