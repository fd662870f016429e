"""Faults that take a part of a payload away."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty.faults import FaultSpec, degrade


def spec(kind: str, **parameters: Any) -> FaultSpec:
    return FaultSpec.model_validate({"tool": "search", "kind": kind} | parameters)


@pytest.mark.parametrize(
    ("fault", "value", "less"),
    [
        (spec("truncated"), [1, 2, 3, 4], [1, 2]),
        (spec("truncated", keep=1), (1, 2, 3), [1]),
        (spec("truncated", keep=1), {"jobs": [1, 2, 3], "on": ["a"]}, {"jobs": [1], "on": ["a"]}),
        (spec("truncated", keep=1), {"page": {"jobs": [1, 2]}}, {"page": {"jobs": [1]}}),
        (spec("truncated"), "abcdef", "abc"),
        (spec("truncated"), '{"jobs": [1, 2]}', '{"jobs": [1]}'),
        (spec("partial"), [1, 2, 3], [1, 2]),
        (spec("partial", page=1, page_size=2), [1, 2, 3], [3]),
        (spec("partial", page=2, page_size=2), [1, 2, 3, 4, 5], [1, 2, 5]),
        (spec("stale"), [1, 2, 3], [1, 2]),
        (spec("stale", data={"jobs": []}), {"jobs": [1]}, {"jobs": []}),
        (spec("schema_drift"), {"jobs": [{"title": "a"}]}, {"jobs_v2": [{"title_v2": "a"}]}),
        (spec("schema_drift"), '[{"id": 1}]', '[{"id_v2": 1}]'),
    ],
)  # fmt: skip
def test_each_kind_takes_its_part_away(fault: FaultSpec, value: object, less: object) -> None:
    kept = copy.deepcopy(value)
    assert degrade(fault, value) == (less, True)
    assert value == kept


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        (spec("truncated", keep=5), [1, 2]),
        (spec("partial", page=3, page_size=10), [1, 2]),
        (spec("partial"), [1]),
        (spec("stale"), []),
        (spec("stale", data=[1]), [1]),
        (spec("schema_drift"), [1, 2]),
        (spec("schema_drift"), "plain text"),
        (spec("truncated"), 7),
        (spec("truncated"), {"total": 3}),
        (spec("truncated"), None),
    ],
)
def test_what_takes_nothing_away_has_not_fired(fault: FaultSpec, value: object) -> None:
    assert degrade(fault, value) == (value, False)


def test_a_stale_payload_is_not_shared_between_calls() -> None:
    fault = spec("stale", data={"jobs": ["old"]})
    first, _ = degrade(fault, {"jobs": ["new"]})
    first["jobs"].append("changed")
    assert degrade(fault, {"jobs": ["new"]})[0] == {"jobs": ["old"]}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(), inner, max_size=6),
    max_leaves=20,
)


@given(json_values, st.sampled_from(["truncated", "partial", "stale", "schema_drift"]))
def test_any_payload_can_be_degraded_and_the_flag_is_true(value: Any, kind: str) -> None:
    before = json.dumps(value)
    less, differs = degrade(spec(kind), value)
    assert (json.dumps(less) != before) == differs
    assert json.dumps(value) == before
