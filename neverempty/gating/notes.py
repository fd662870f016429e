"""What a reader of a decision must know, and what never fails a build."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from neverempty.gating.rows import Row
from neverempty.gating.rules import named
from neverempty.reader import measured_fabrication
from neverempty.report import numbers
from neverempty.scorers import HEADLINES
from neverempty.stats import (
    SmallSampleWarning,
    mcnemar_power,
    min_clean_flips,
    minimum_detectable_drop,
    variance_components,
)

if TYPE_CHECKING:
    from neverempty.gating.comparison import Comparison

_FAMILY: Final = "family:"
_HINTED: Final = "fabricated"
_DROP: Final = 0.05
_POWER: Final = 0.8
_MUCH: Final = 1.2


def power_notes(rows: Sequence[Row], alpha: float) -> list[str]:
    """Say of each gated test what it can find.

    Parameters
    ----------
    rows : sequence of Row
        Tested rows.
    alpha : float
        Level of the family.

    Returns
    -------
    list of str
        ``cannot_reject`` where the pairs are fewer than the clean flips that the adjusted level needs, else
        the power against a drop of five points and the drop that is found four times in five. Never a power
        at the observed effect.
    """
    return [_power(row, alpha) for row in rows if row.gated and row.pairs is not None and row.pairs.table.n]


def reading_notes(rows: Sequence[Row]) -> list[str]:
    """Say that headline rates are gated as they were read, where any is.

    Parameters
    ----------
    rows : sequence of Row
        Tested rows.

    Returns
    -------
    list of str
        One note, or none.
    """
    read = any(row.gated and row.metric in HEADLINES for row in rows)
    return (
        ["headline rates are gated as they were read, not corrected for the reader's error"] if read else []
    )


def hint_warnings(outcomes: pd.DataFrame, asked: Iterable[str]) -> list[str]:
    """Warn where a build hangs on `fabricated` though its precision makes it no more than a hint.

    Parameters
    ----------
    outcomes : DataFrame
        The candidate's.
    asked : iterable of str
        Metrics that are gated, held to a floor or must pass.

    Returns
    -------
    list of str
        One sentence for each version of the scorer that is a hint.
    """
    if _HINTED not in asked or "scorer_version" not in outcomes.columns:
        return []
    versions = outcomes.loc[outcomes["metric"] == _HINTED, "scorer_version"].dropna().astype("str").unique()
    found = {version: measured_fabrication(version) for version in sorted(versions)}
    return [
        f"{_HINTED} ({version}) is asked by the gate, but only a {error.sentence}; read its answers"
        for version, error in found.items()
        if version.startswith("failure/") and error.is_hint
    ]


def _power(row: Row, alpha: float) -> str:
    n = 0 if row.pairs is None else row.pairs.table.n
    level = alpha / row.family
    needed = min_clean_flips(alpha, row.family)
    if n < needed:
        return (
            f"{named(row)}: cannot_reject: {numbers.count(n, 'pair')} cannot reach significance, which needs "
            f"{needed} that got worse"
        )
    power, drop = _planned(n, level)
    smallest = "" if drop is None else f", one of {drop * 100:.1f} points 80 %"
    return (
        f"{named(row)}: with {n:,} pairs a worsening by {_DROP * 100:.0f} points is found "
        f"{numbers.percent(power)} of the time{smallest} (where nothing improves by chance)"
    )


@lru_cache(maxsize=256)
def _planned(n: int, level: float) -> tuple[float, float | None]:
    drop = minimum_detectable_drop(n, 0.0, level, _POWER)
    return mcnemar_power(n, _DROP, 0.0, level), drop.value


def comparison_warnings(comparison: Comparison) -> list[str]:
    """Collect what got worse without being gated, and what the tests leave out.

    Parameters
    ----------
    comparison : Comparison
        The comparison.

    Returns
    -------
    list of str
        One sentence each.
    """
    return [*_ungated(comparison), *_left_out(comparison), *_usage(comparison.usage)]


def _ungated(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        if row.gated or row.pairs is None or row.p is None or row.p >= comparison.alpha:
            continue
        yield (
            f"{named(row)} got worse in {row.pairs.table.b:,} and better in {row.pairs.table.c:,} of "
            f"{row.pairs.table.n:,} pairs (p {numbers.p_equals(row.p)}); it is not gated"
        )


def _left_out(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        if not row.gated or row.pairs is None or row.is_stability:
            continue
        for count, text in (
            (row.pairs.n_unequal, "left the test: unequal_repeats"),
            (row.pairs.n_changed, "left the test: the metric applies to one side only"),
        ):
            if count:
                yield f"{named(row)}: {numbers.count(count, 'pair')} {text}"


def _usage(usage: pd.DataFrame) -> Iterator[str]:
    for row in usage.to_dict("records"):
        worse = row["diff_lo"] > 0 if row["direction"] == "lower" else row["diff_hi"] < 0
        if worse:
            name, n = str(row["metric"]), int(row["n_pairs"])
            ends = [numbers.signed_quantity(name, row[end], n) for end in ("diff_lo", "diff_hi")]
            yield (
                f"{name} ({row['arm']}) changed by {numbers.signed_quantity(name, row['diff'], n)} "
                f"({ends[0]} to {ends[1]}) over {numbers.count(n, 'pair')}"
            )


def family_warnings(outcomes: pd.DataFrame, rows: Sequence[Row]) -> list[str]:
    """Warn where cases come in families that vary together, which the exact test does not know.

    Parameters
    ----------
    outcomes : DataFrame
        The candidate's.
    rows : sequence of Row
        Its gated rows.

    Returns
    -------
    list of str
        One per row whose design effect is above 1.2.
    """
    tags = [
        next((tag for tag in found if tag.startswith(_FAMILY)), None) for found in outcomes["tags"].unique()
    ]
    if not any(tags):
        return []
    return [text for row in rows if row.gated and not row.is_stability and (text := _family(outcomes, row))]


def _family(outcomes: pd.DataFrame, row: Row) -> str | None:
    same = (outcomes["metric"] == row.metric) & (outcomes["arm"] == row.arm)
    found = outcomes.loc[same & outcomes["verdict"].isin(["pass", "fail"])]
    families = [
        next((tag for tag in tags if tag.startswith(_FAMILY)), f"case:{case}")
        for tags, case in zip(found["tags"], found["case_id"], strict=True)
    ]
    if len(set(families)) == len(families) or len(set(families)) < 2:
        return None
    failed = (found["verdict"] == "fail").to_numpy().astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        effect = variance_components(failed.tolist(), families).design_effect
    if effect is None or not effect > _MUCH:
        return None
    return (
        f"{named(row)}: cases come in families (design effect {effect:.1f}), and the test counts each case "
        "as independent; a whole family that flips weighs too much"
    )
