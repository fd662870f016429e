"""The frames of a comparison: metrics with intervals, flipped cases, pairs that left the test, usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty.frames.arrays import TEXT
from neverempty.gating.pairing import CELLS, Aligned
from neverempty.gating.rows import Row
from neverempty.metrics.groups import Ints
from neverempty.stats import (
    PairedTable,
    min_clean_flips,
    paired_diff_interval,
    quantile_interval,
    wilson_interval,
)

_LEFT: Final = ("unequal_repeats", "no_signal", "applies_to_one_side")
_TEXTS: Final = ("metric", "arm", "direction", "collapse", "status", "suite", "case_id", "change", "reason")
_COUNTS: Final = ("n_measured_base", "n_measured_cand", "hits_base", "hits_cand")


def metric_frame(rows: Iterable[Row], alpha: float, conf: float = 0.95) -> pd.DataFrame:
    """Lay compared rows out as a frame.

    Parameters
    ----------
    rows : iterable of Row
        Tested rows with pairs.
    alpha : float
        Level of the family.
    conf : float, default 0.95
        Of the intervals.

    Returns
    -------
    DataFrame
        One row per metric and arm. ``base``, ``cand`` and ``diff`` (candidate minus baseline) are rates of
        the metric's own direction over the tested pairs, with Wilson and Newcombe intervals; ``p`` is the
        one-sided exact McNemar test of a regression, ``p_adjusted`` Holm's over the gated rows.
    """
    records = [_record(row, alpha, conf) for row in rows]
    frame = pd.DataFrame(records, columns=list(_record_columns()))
    return _typed(frame)


def _record_columns() -> tuple[str, ...]:
    counts = ("n_pairs", "both_pass", "regressed", "improved", "both_fail")
    values = tuple(f"{side}{end}" for side in ("base", "cand", "diff") for end in ("", "_lo", "_hi"))
    ends = (
        "p",
        "p_adjusted",
        "cannot_reject",
        "unequal_repeats",
        "no_signal",
        "applies_to_one_side",
        "status",
    )
    return ("metric", "arm", "direction", "collapse", "gated", *counts, *values, *ends)


def _record(row: Row, alpha: float, conf: float) -> dict[str, Any]:
    pairs = row.pairs
    if pairs is None:
        raise ValueError(f"{row.metric}: a row without pairs has nothing to compare")
    table = pairs.table
    record: dict[str, Any] = {
        "metric": row.metric,
        "arm": row.arm,
        "direction": row.direction,
        "collapse": row.collapse,
        "gated": row.gated,
        "n_pairs": table.n,
        "both_pass": table.n11,
        "regressed": table.n10,
        "improved": table.n01,
        "both_fail": table.n00,
        "p": row.p,
        "p_adjusted": row.p_adjusted,
        "cannot_reject": table.n < min_clean_flips(alpha, row.family if row.gated else 1),
        "unequal_repeats": pairs.n_unequal,
        "no_signal": pairs.n_no_signal,
        "applies_to_one_side": pairs.n_changed,
        "status": "ok" if table.n else "not_measured",
    }
    return record | paired_values(table, row.direction == "lower", conf=conf)


def paired_values(
    table: PairedTable,
    is_lower: bool,
    names: tuple[str, str, str] = ("base", "cand", "diff"),
    conf: float = 0.95,
) -> dict[str, float | None]:
    """Give both rates of a table of pairs and their difference, in the metric's own direction.

    Parameters
    ----------
    table : PairedTable
        Counts of pairs.
    is_lower : bool
        Whether the rate counts failures.
    names : tuple of str
        Names of the first rate, the second and the difference; the ends of their intervals get ``_lo`` and
        ``_hi`` behind.
    conf : float, default 0.95
        Of the Wilson and Newcombe intervals.

    Returns
    -------
    dict
        Empty without a pair.

    Examples
    --------
    >>> paired_values(PairedTable(55, 5, 0, 0), True)["diff"]
    0.08333333333333333
    """
    if not table.n:
        return {}
    # read as hits, the cells of failing pairs and of passing ones change places
    hits = PairedTable(table.n00, table.n01, table.n10, table.n11) if is_lower else table
    both = (hits.n11 + hits.n10, hits.n11 + hits.n01)
    estimates = [wilson_interval(count, hits.n, conf) for count in both]
    estimates.append(paired_diff_interval(hits, conf))
    found: dict[str, float | None] = {}
    for name, one in zip(names, estimates, strict=True):
        found |= {name: one.value, f"{name}_lo": one.lo, f"{name}_hi": one.hi}
    return found


def pair_frames(
    base: pd.DataFrame, cand: pd.DataFrame, aligned: Aligned, found: Ints
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """List the flipped cases, and the pairs that left the test.

    Parameters
    ----------
    base, cand : DataFrame
        Outcomes.
    aligned : Aligned
        Their pairs.
    found : array of int
        What became of each pair.

    Returns
    -------
    tuple of (DataFrame, DataFrame)
        Flips with ``change`` (``regressed`` or ``improved``) and the repeats that stand behind it; pairs that
        left the test with ``reason``.
    """
    flipped = np.isin(found, [CELLS.index("regressed"), CELLS.index("improved")])
    left = np.isin(found, [CELLS.index(name) for name in _LEFT])
    return (
        _listed(base, cand, aligned, found, np.flatnonzero(flipped), "change"),
        _listed(base, cand, aligned, found, np.flatnonzero(left), "reason"),
    )


def _listed(
    base: pd.DataFrame, cand: pd.DataFrame, aligned: Aligned, found: Ints, rows: Ints, column: str
) -> pd.DataFrame:
    there, here = aligned.base[rows], aligned.cand[rows]
    columns: dict[str, Any] = {}
    for key in ("metric", "suite", "case_id", "arm"):
        mine = cand[key].array.take(here, allow_fill=True)
        theirs = base[key].array.take(there, allow_fill=True)
        columns[key] = pd.Series(mine).where(here >= 0, pd.Series(theirs))
    columns[column] = [CELLS[cell] for cell in found[rows].tolist()]
    for name, frame, places in (("base", base, there), ("cand", cand, here)):
        gone = places < 0
        for field in ("hits", "n_measured"):
            values = frame[field].to_numpy()[places] if len(frame) else np.zeros(len(places), dtype=np.int64)
            columns[f"{field}_{name}"] = np.where(gone, 0, values)
        columns[f"unobserved_{name}"] = frame["reason"].array.take(places, allow_fill=True)
    return _typed(pd.DataFrame(columns, copy=False))


def usage_frame(
    base: pd.DataFrame, cand: pd.DataFrame, natures: Mapping[str, tuple[str, str]], conf: float = 0.95
) -> pd.DataFrame:
    """Compare the continuous metrics, as latency and cost: described, never gated.

    Parameters
    ----------
    base, cand : DataFrame
        Outcomes.
    natures : mapping of str to (str, str)
        Direction and collapse by metric.
    conf : float, default 0.95
        Of the interval.

    Returns
    -------
    DataFrame
        One row per metric and arm: medians of both sides, and the median of the paired differences with its
        order-statistic interval. A pair with a number on one side only is in none of them; ``n_missing``
        counts those.
    """
    names = [name for name, (_, collapse) in natures.items() if collapse == "median"]
    keys = ["metric", "suite", "case_id", "arm"]
    there, here = (frame.loc[frame["metric"].isin(names), [*keys, "value"]] for frame in (base, cand))
    joined = there.merge(here, on=keys, suffixes=("_base", "_cand"))
    records = [
        {"metric": metric, "arm": arm, "direction": natures[str(metric)][0], **_difference(part, conf)}
        for (metric, arm), part in joined.groupby(["metric", "arm"], sort=False)
    ]
    names = [
        "metric",
        "arm",
        "direction",
        "n_pairs",
        "n_missing",
        "base",
        "cand",
        "diff",
        "diff_lo",
        "diff_hi",
    ]
    return _typed(pd.DataFrame(records, columns=[*names, "status"]))


def _difference(part: pd.DataFrame, conf: float) -> dict[str, Any]:
    both = part.dropna(subset=["value_base", "value_cand"])
    known = part["value_base"].notna() | part["value_cand"].notna()
    found: dict[str, Any] = {"n_pairs": len(both), "n_missing": int(known.sum()) - len(both)}
    if both.empty:
        return found | {"status": "not_measured"}
    change = quantile_interval((both["value_cand"] - both["value_base"]).tolist(), 0.5, conf)
    return found | {
        "base": float(both["value_base"].median()),
        "cand": float(both["value_cand"].median()),
        "diff": change.value,
        "diff_lo": change.lo,
        "diff_hi": change.hi,
        "status": "ok",
    }


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give each column its dtype, empty frames too."""
    for name in map(str, frame.columns):
        if name in _TEXTS or name.startswith("unobserved_"):
            frame[name] = frame[name].astype(TEXT)
        elif name in ("gated", "cannot_reject"):
            frame[name] = frame[name].astype(bool)
        elif name in _COUNTS or frame[name].dtype.kind in "iu":
            frame[name] = frame[name].astype("int64")
        else:
            frame[name] = frame[name].astype("float64")
    return frame
