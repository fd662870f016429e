"""A plan as one tidy frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from neverempty.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.planning.model import Plan

_NAN: Final = float("nan")


class _Row(NamedTuple):
    topic: str
    quantity: str
    value: float | None
    collapse: str = ""
    case: str = ""
    lo: float | None = None
    hi: float | None = None


def plan_frame(plan: Plan) -> pd.DataFrame:
    """Lay all numbers of a plan out, one a row.

    Parameters
    ----------
    plan : Plan
        The plan.

    Returns
    -------
    pandas.DataFrame
        See `neverempty.planning.Plan.to_frame`.
    """
    import pandas as pd

    rows = [
        *_setting(plan),
        *_test(plan),
        *_floors(plan),
        *_gates(plan),
        *_must_pass(plan),
        *_limit(plan),
        *_run_length(plan),
    ]
    columns = ("topic", "quantity", "collapse", "case", "value", "lo", "hi")
    frame = pd.DataFrame([row._asdict() for row in rows], columns=list(columns))
    return frame.astype(dict.fromkeys(("value", "lo", "hi"), "float64"))


def _from(topic: str, quantity: str, estimate: Estimate, collapse: str = "") -> _Row:
    return _Row(topic, quantity, estimate.value, collapse, "", estimate.lo, estimate.hi)


def _setting(plan: Plan) -> Iterator[_Row]:
    setting = plan.setting
    for name in (
        "n",
        "drop",
        "power",
        "repeats",
        "must_pass",
        "alpha",
        "metrics",
        "max_unstable_rate",
        "limit",
    ):
        value = getattr(setting, name)
        yield _Row("setting", name, None if value is None else float(value))
    for name in ("flake", "churn", "pass_rate"):
        yield _from("setting", name, getattr(setting, name))


def _test(plan: Plan) -> Iterator[_Row]:
    test, collapse = plan.test, plan.setting.collapse
    yield _Row("test", "power", test.power, collapse)
    yield _Row("test", "smallest_n", test.smallest.n, collapse)
    yield _from("test", "minimum_detectable_drop", test.detectable, collapse)
    yield _Row("test", "clean_flips", test.clean_flips)
    yield _Row("test", "cannot_reject", float(test.cannot_reject))
    yield _from("test", "chance_flips", test.chance_flips, collapse)


def _floors(plan: Plan) -> Iterator[_Row]:
    collapse = plan.setting.collapse
    for one in plan.floors:
        case = f"floor {one.floor:g}"
        for name in ("rate_unchanged", "rate_worse", "breach_unchanged", "breach_worse"):
            yield _Row("floor", name, getattr(one, name), collapse, case)
        if one.sizes is not None:
            yield _Row("floor", "n_first", one.sizes.n_first, collapse, case)
            yield _Row("floor", "n_stable", one.sizes.n_stable, collapse, case)


def _gates(plan: Plan) -> Iterator[_Row]:
    for one in plan.gates:
        odds = one.odds
        for name, value in (
            ("p_pass", odds.p_pass),
            ("p_fail", odds.p_fail),
            ("p_inconclusive", odds.p_inconclusive),
            ("p_fail_must_pass", odds.p_fail_must_pass),
            ("p_fail_floor_or_limit", odds.p_floor_breach_joint),
            ("p_fail_test", odds.p_mcnemar_joint),
        ):
            yield _Row("gate", name, value, one.collapse, one.scenario)


def _must_pass(plan: Plan) -> Iterator[_Row]:
    for price in plan.must_pass:
        case = f"{price.cases} at flake {price.flake:g}"
        yield _Row("must_pass", "false_alarm", price.alarm, price.collapse, case)
        yield _Row("must_pass", "false_alarm_confirmed", price.confirmed, price.collapse, case)


def _limit(plan: Plan) -> Iterator[_Row]:
    if plan.limit is not None:
        for hits, cases in plan.limit.cases:
            yield _Row("limit", "cases_needed", cases, "", f"{hits} failing, {plan.limit.bound}")


def _run_length(plan: Plan) -> Iterator[_Row]:
    length = plan.run_length
    if length is not None:
        collapse = plan.setting.collapse
        yield _Row("run_length", "p_alarm", length.p_alarm, collapse)
        yield _Row("run_length", "runs_to_alarm", length.expected_runs, collapse)
        yield _Row("run_length", "p_any_alarm", length.p_any_alarm, collapse, f"{length.runs} runs")
