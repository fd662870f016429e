from __future__ import annotations

import dataclasses
import json

import pytest

from neverempty.stats import Estimate


def test_float_of_an_undefined_estimate_raises_and_says_why() -> None:
    nothing = Estimate(None, status="not_measured", reason="no case", method="wilson")
    with pytest.raises(ValueError, match="wilson is not_measured: no case"):
        float(nothing)


def test_float_of_a_true_zero_is_zero() -> None:
    assert float(Estimate(0.0, n=3)) == 0.0
    assert Estimate(0.0).defined


def test_an_estimate_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(0.5).value = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": None}, "needs a status"),
        ({"value": 1.0, "status": "fine", "reason": "x"}, "status must be one of"),
        ({"value": None, "status": "undefined"}, "needs a reason"),
    ],
)
def test_an_estimate_that_contradicts_itself_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Estimate(**fields)  # type: ignore[arg-type]


def test_as_dict_is_strict_json() -> None:
    text = json.dumps(Estimate(None, status="undefined", reason="x").as_dict(), allow_nan=False)
    assert json.loads(text)["value"] is None
