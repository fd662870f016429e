"""Declared pairs of arms, compared on the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from neverempty._errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class Pair(NamedTuple):
    """Two arms that are compared on one metric, declared before the run."""

    metric: str
    first: str
    second: str


def compare_arms(outcomes: pd.DataFrame, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Compare arms in pairs: two-sided exact McNemar tests, Holm-adjusted over all declared pairs.

    Parameters
    ----------
    outcomes : DataFrame
        What `neverempty.collapse` returned.
    pairs : sequence of Pair
        All pairs that were declared; p-values are adjusted over them.

    Returns
    -------
    DataFrame
        One row per pair: ``metric``, ``first``, ``second``, ``n`` cases measured under both, ``first_rate``,
        ``second_rate`` (failing share), ``first_only``, ``second_only`` (cases that fail under one arm
        only), ``difference`` (second minus first) with ``lo`` and ``hi`` (Newcombe, 95 %), ``p``, ``p_holm``.
        Missing where no case was measured under both.

    Raises
    ------
    InputError
        Where an arm or metric of a pair is not among the outcomes.

    Examples
    --------
    >>> import pandas as pd
    >>> outcomes = pd.DataFrame({
    ...     "suite": "s", "case_id": list("abcdefg") * 2, "arm": ["x"] * 7 + ["y"] * 7,
    ...     "metric": "misreport_as_empty", "verdict": ["fail"] * 7 + ["pass"] * 6 + ["fail"]})
    >>> row = compare_arms(outcomes, [Pair("misreport_as_empty", "x", "y")]).iloc[0]
    >>> int(row["first_only"]), int(row["second_only"]), float(row["p"])
    (6, 0, 0.03125)
    """
    import pandas as pd

    from neverempty.stats import holm

    rows = [_compare(outcomes, pair) for pair in pairs]
    adjusted = holm([row["p"] for row in rows]).adjusted if rows else ()
    for row, p in zip(rows, adjusted, strict=True):
        row["p_holm"] = p
    columns = [
        "metric", "first", "second", "n", "first_rate", "second_rate", "first_only", "second_only",
        "difference", "lo", "hi", "p", "p_holm",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _compare(outcomes: pd.DataFrame, pair: Pair) -> dict[str, Any]:
    from neverempty.stats import mcnemar_exact, paired_diff_interval, paired_table

    table = paired_table(
        _verdicts(outcomes, pair.metric, pair.first),
        _verdicts(outcomes, pair.metric, pair.second),
        unmatched="list",
    )
    test = mcnemar_exact(table.b, table.c, alternative="two-sided")
    passing = paired_diff_interval(table)
    known = table.n > 0 and passing.value is not None and passing.lo is not None and passing.hi is not None
    return {
        **pair._asdict(),
        "n": table.n,
        "first_rate": (table.n01 + table.n00) / table.n if known else None,
        "second_rate": (table.n10 + table.n00) / table.n if known else None,
        "first_only": table.c,
        "second_only": table.b,
        # the table counts passes; a rise of failures is a fall of passes
        "difference": -passing.value if known and passing.value is not None else None,
        "lo": -passing.hi if known and passing.hi is not None else None,
        "hi": -passing.lo if known and passing.lo is not None else None,
        "p": test.value if known else None,
    }


def _verdicts(outcomes: pd.DataFrame, metric: str, arm: str) -> dict[tuple[str, str], int | None]:
    chosen = outcomes[(outcomes["metric"] == metric) & (outcomes["arm"] == arm)]
    if chosen.empty:
        raise InputError(f"compare_arms: there are no outcomes of {metric!r} under the arm {arm!r}")
    marks = {"pass": 1, "fail": 0, "no_signal": None}
    return {
        (suite, case_id): marks[verdict]
        for suite, case_id, verdict in zip(
            chosen["suite"].tolist(), chosen["case_id"].tolist(), chosen["verdict"].tolist(), strict=True
        )
        if verdict in marks
    }
