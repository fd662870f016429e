"""Arms compared in pairs."""

from __future__ import annotations

import pandas as pd
import pytest

from neverempty._errors import InputError
from neverempty.demo.pairs import Pair, compare_arms


def _outcomes(**arms: str) -> pd.DataFrame:
    """Build outcomes from one letter per case: p, f, or n for no signal."""
    words = {"p": "pass", "f": "fail", "n": "no_signal", "a": "not_applicable"}
    rows = [
        {"suite": "s", "case_id": str(at), "arm": arm, "metric": "undisclosed", "verdict": words[mark]}
        for arm, marks in arms.items()
        for at, mark in enumerate(marks)
    ]
    return pd.DataFrame(rows)


def test_rates_and_difference_are_of_failures_and_run_from_first_to_second():
    row = compare_arms(_outcomes(x="ffffpppp", y="fpppfppp"), [Pair("undisclosed", "x", "y")]).iloc[0]
    assert (row["n"], row["first_rate"], row["second_rate"]) == (8, 0.5, 0.25)
    assert (row["first_only"], row["second_only"], row["difference"]) == (3, 1, -0.25)
    assert row["lo"] < -0.25 < row["hi"]


def test_the_p_value_is_two_sided_and_exact():
    frame = compare_arms(_outcomes(x="f" * 8, y="p" * 8), [Pair("undisclosed", "x", "y")])
    assert frame["p"].tolist() == [2 / 2**8]
    mirrored = compare_arms(_outcomes(x="f" * 8, y="p" * 8), [Pair("undisclosed", "y", "x")])
    assert mirrored["p"].tolist() == frame["p"].tolist()


def test_p_values_are_adjusted_over_all_declared_pairs():
    outcomes = _outcomes(x="f" * 8, y="p" * 8, z="f" * 8)
    frame = compare_arms(outcomes, [Pair("undisclosed", "x", "y"), Pair("undisclosed", "x", "z")])
    assert frame["p_holm"].tolist() == [2 * 2 / 2**8, 1.0]


def test_a_case_that_was_not_measured_under_both_arms_leaves_the_pair():
    row = compare_arms(_outcomes(x="ffnp", y="fpfa"), [Pair("undisclosed", "x", "y")]).iloc[0]
    assert row["n"] == 2


def test_without_a_shared_case_there_is_no_number():
    row = compare_arms(_outcomes(x="nn", y="ff"), [Pair("undisclosed", "x", "y")]).iloc[0]
    assert row["n"] == 0
    assert row[["first_rate", "second_rate", "difference", "lo", "hi", "p", "p_holm"]].isna().all()


def test_an_arm_that_was_not_run_is_named():
    with pytest.raises(InputError, match="no outcomes of 'undisclosed' under the arm 'z'"):
        compare_arms(_outcomes(x="f"), [Pair("undisclosed", "x", "z")])


def test_no_pairs_give_an_empty_frame_with_its_columns():
    assert "p_holm" in compare_arms(_outcomes(x="f"), []).columns
