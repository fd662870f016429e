from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from neverempty._errors import InputError
from neverempty.frames import SCHEMAS, build_frame, check_frame, frame_problems, traces_frame


def metrics(**values: list[object]) -> pd.DataFrame:
    size = len(next(iter(values.values())))
    base = {
        "metric": [f"m{row}" for row in range(size)],
        "direction": ["lower"] * size,
        "status": ["measured"] * size,
    }
    counts = dict.fromkeys(("n_cases", "n_applicable", "n_measured", "n_no_signal"), [9] * size)
    blank = {column.name: [None] * size for column in SCHEMAS["metrics"].columns}
    return build_frame("metrics", blank | base | counts | values)


def test_every_breach_is_listed_at_once_with_count_and_first_row(trace) -> None:
    frame = traces_frame([dataclasses.replace(trace, case_id=str(number)) for number in range(4)])
    frame = frame.drop(columns=["route"]).assign(
        answer=1,
        cost_usd=[1.0, np.inf, -1.0, -2.0],
        status=pd.Categorical(["ok", "odd", "odd", "ok"]),
        case_id=pd.array(["0", "0", "0", None], dtype=frame["case_id"].dtype),
    )
    assert frame_problems(frame, "traces") == [
        "traces: column 'case_id' has no value in 1 row, first at index 3",
        "traces: column 'status' has the value 'odd', none of "
        f"{SCHEMAS['traces'].column('status').categories} in 2 rows, first at index 1",
        "traces: column 'answer' is int64, not str; read files with read_frame, which casts every column",
        "traces: column 'route' is missing",
        "traces: column 'cost_usd' is infinite in 1 row, first at index 1",
        "traces: column 'cost_usd' is less than 0 in 2 rows, first at index 2",
        "traces: the key (suite='demo', case_id='0', arm='typed', repeat=0) stands more than once; "
        "2 rows repeat a key",
    ]
    with pytest.raises(InputError) as caught:
        check_frame(frame, "traces")
    assert len(caught.value.problems) == 7


def test_a_sound_frame_is_handed_back(trace) -> None:
    frame = traces_frame([trace])
    assert check_frame(frame, "traces") is frame


def test_columns_of_ones_own_are_no_breach(trace) -> None:
    assert frame_problems(traces_frame([trace]).assign(mine="x"), "traces") == []


def test_optional_columns_may_be_absent(trace) -> None:
    assert frame_problems(traces_frame([trace]).drop(columns=["repeat_of", "confidence"]), "traces") == []


def test_a_column_that_stands_twice_is_named(trace) -> None:
    frame = traces_frame([trace])
    double = pd.concat([frame, frame[["answer"]]], axis=1)
    assert frame_problems(double, "traces") == ["traces: column 'answer' stands 2 times"]


@pytest.mark.parametrize(
    ("values", "breach"),
    [
        ({"value": [7.0], "hits": [7]}, "the rate lies outside 0 to 1"),
        ({"value": [-0.1], "hits": [0]}, "the rate lies outside 0 to 1"),
        ({"value": [np.inf], "hits": [None]}, "column 'value' is infinite"),
        ({"value": [0.5], "lo": [0.6], "hi": [0.7], "hits": [4]}, "the rate lies outside lo to hi"),
        ({"hits": [10], "n_measured": [9]}, "hits exceed n_measured"),
        ({"n_measured": [9], "n_applicable": [8]}, "n_measured exceeds n_applicable"),
        ({"n_applicable": [10], "n_cases": [9]}, "n_applicable exceeds n_cases"),
    ],
)
def test_a_metric_that_cannot_be_is_refused(values, breach) -> None:
    problems = frame_problems(metrics(**values), "metrics")
    assert any(breach in problem for problem in problems)


def test_a_continuous_metric_may_lie_anywhere() -> None:
    assert frame_problems(metrics(value=[812.5, None, -3.0]), "metrics") == []


def test_a_grouped_summary_repeats_its_metric_but_not_its_groups() -> None:
    frame = metrics(metric=["m", "m"], value=[0.1, 0.2])
    assert "stands more than once" in frame_problems(frame, "metrics")[0]
    assert frame_problems(frame.assign(fault_kind=["timeout", "auth"]), "metrics") == []
    assert "fault_kind='auth'" in frame_problems(frame.assign(fault_kind=["auth", "auth"]), "metrics")[0]
