"""pass@k and pass^k over repeats: unbiased, and not measured where nothing ran."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import Case, Trace, UsageError, pass_rates, score, traces_frame

REFERENCE = Path(__file__).parents[1] / "reference" / "pass_at_k.csv"


def _scored(*cases: str) -> pd.DataFrame:
    """Score cases whose letters are their repeats: p passes, f fails, x crashed."""
    suite = [
        Case(id=str(at), input={"payload": 1}, expect={"route": {"label": "p"}}) for at in range(len(cases))
    ]
    traces = [
        Trace(
            "default",
            str(at),
            "typed",
            repeat,
            "agent_error" if letter == "x" else "ok",
            answer="Ok.",
            route=letter,
        )
        for at, letters in enumerate(cases)
        for repeat, letter in enumerate(letters)
    ]
    return score(traces_frame(traces), suite)


def _value(scores: pd.DataFrame, estimator: str, k: int) -> Any:
    frame = pass_rates(scores, k, metrics=["route"])
    (row,) = frame[frame["estimator"] == estimator].to_dict("records")
    return row


@given(st.lists(st.text("pf", min_size=3, max_size=5), min_size=1, max_size=4))
def test_the_estimates_are_the_shares_of_all_draws(cases: list[str]) -> None:
    scores = _scored(*cases)
    for estimator, whether in (("pass_at_k", any), ("pass_hat_k", all)):
        shares = [
            sum(whether(letter == "p" for letter in draw) for draw in itertools.combinations(case, 2))
            / len(list(itertools.combinations(case, 2)))
            for case in cases
        ]
        row = _value(scores, estimator, 2)
        assert row["value"] == pytest.approx(sum(shares) / len(shares))
        if row["lo"] == row["lo"]:
            assert 0.0 <= row["lo"] <= row["value"] + 1e-12
            assert row["value"] - 1e-12 <= row["hi"] <= 1.0


def test_the_frame_agrees_with_the_reference_rows() -> None:
    rows = [
        row
        for row in csv.DictReader(REFERENCE.read_text(encoding="utf-8").splitlines())
        if int(row["n"]) <= 12
    ]
    assert len(rows) >= 5
    for row in rows:
        n, c, k = int(row["n"]), int(row["c"]), int(row["k"])
        scores = _scored("p" * c + "f" * (n - c))
        for name in ("pass_at_k", "pass_hat_k"):
            found = _value(scores, name, k)["value"]
            assert pd.isna(found) if row[name] == "" else found == pytest.approx(float(row[name]))


def test_a_case_with_too_few_attempts_is_counted_and_not_measured() -> None:
    row = _value(_scored("ppf", "px", "xx"), "pass_at_k", 2)
    assert (row["n_cases"], row["n_measured"], row["n_too_few"]) == (3, 1, 2)
    assert (row["value"], row["status"]) == (1.0, "ok")
    assert row["note"] == "2 of 3 cases have fewer than 2 measured repeats"


def test_a_run_that_never_ran_has_no_zero() -> None:
    row = _value(_scored("xxx", "xxx"), "pass_at_k", 1)
    assert (row["status"], row["n_measured"]) == ("not_measured", 0)
    assert pd.isna(row["value"])
    assert pd.isna(row["hi"])


def test_copies_of_a_repeat_count_once_and_numbers_are_no_attempts() -> None:
    scores = _scored("ppp")
    by_repeat = scores["repeat"].map({0: None, 1: 0, 2: 0}).astype("Int64")
    row = _value(scores.assign(repeat_of=by_repeat), "pass_at_k", 2)
    assert (row["n_measured"], row["n_too_few"]) == (0, 1)
    assert "latency_ms" not in set(pass_rates(_scored("ppf"))["metric"])


@pytest.mark.parametrize("k", [0, -1, True, 1.5, [1, 0]])
def test_a_k_that_makes_no_sense_is_refused(k: Any) -> None:
    with pytest.raises((UsageError, TypeError)):
        pass_rates(_scored("p"), k)
