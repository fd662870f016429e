"""From outcomes to metrics: rates and medians with intervals, bounds, and what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.frames import build_frame, check_frame
from neverempty.metrics.clusters import Rates, case_clusters, clustered_rates
from neverempty.metrics.groups import Groups, group_rows
from neverempty.metrics.natures import natures
from neverempty.metrics.notes import fabrication_notes, reason_notes, repeat_notes
from neverempty.stats import quantile_interval


def summarize(
    outcomes: pd.DataFrame, by: str | Sequence[str] | None = None, *, conf: float = 0.95
) -> pd.DataFrame:
    """Summarise outcomes: one row per metric, and per group where asked for.

    Parameters
    ----------
    outcomes : DataFrame
        What `collapse` returned, whole or filtered.
    by : str or sequence of str, optional
        Columns to group by. ``"tags"`` counts a case once under each of its tags. Several arms are never
        pooled: where the outcomes hold more than one, ``arm`` is added.
    conf : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    DataFrame
        The columns of ``SCHEMAS["metrics"]`` and those of `by` behind ``metric``. ``value`` is hits over
        measured cases with a Wilson interval, at the number of independent cases where cases come in families
        (a tag ``family:NAME``) or stand there more than once; ``per_answer`` is the same over all measured
        repeats, with the case (or family) as cluster. ``bound_lo`` and ``bound_hi`` are the rates that all
        applicable cases would have, had those without signal all gone one way. Without a measured case there
        is no number.

    Raises
    ------
    InputError
        Where the frame breaks its contract.
    UsageError
        Where a column of `by` does not exist.

    Examples
    --------
    >>> from neverempty.cases import Case
    >>> from neverempty.frames import traces_frame
    >>> from neverempty.metrics import collapse
    >>> from neverempty.scorers import score
    >>> from neverempty.traces.model import ToolCall, Trace
    >>> cases = [Case(id=str(i), input={"payload": "Any jobs?"}, language="en") for i in range(20)]
    >>> call = ToolCall(0, "search", {}, "error", kind="timeout")
    >>> answers = ["There are no jobs."] * 4 + ["The search failed."] * 14 + [None] * 2
    >>> traces = traces_frame(
    ...     Trace("default", case.id, "typed", 0, "ok" if said else "cancelled", answer=said, calls=[call])
    ...     for case, said in zip(cases, answers))
    >>> row = summarize(collapse(score(traces, cases))).iloc[0]
    >>> row["metric"], int(row["hits"]), int(row["n_measured"]), int(row["n_applicable"])
    ('misreport_as_empty', 4, 18, 20)
    >>> float(row["bound_lo"]), float(row["bound_hi"]), row["note"]
    (0.2, 0.3, 'without signal: cancelled 2')
    """
    check_frame(outcomes, "outcomes")
    names = _group_columns(outcomes, by)
    if "tags" in names:
        outcomes = _by_tag(outcomes)
    groups = _metric_major([outcomes[name].array for name in ("metric", *names)])
    head = outcomes.iloc[groups.first]
    direction, how = natures(head)
    counts = _counts(outcomes, groups)
    is_rate = np.asarray(how != "median")
    columns: dict[str, Any] = {"metric": head["metric"].tolist(), "direction": direction.tolist(), **counts}
    measured = np.asarray(counts["n_measured"]) > 0
    columns["status"] = [
        "ok" if some else "not_measured" if applies else "not_applicable"
        for some, applies in zip(
            measured.tolist(), (np.asarray(counts["n_applicable"]) > 0).tolist(), strict=True
        )
    ]
    notes = reason_notes(outcomes, groups)
    for note, text in zip(notes, repeat_notes(outcomes["n_measured"], groups, how.tolist()), strict=True):
        note += [text] if text else []
    columns |= _rates(outcomes, groups, direction, counts, is_rate, notes, conf)
    _add_medians(columns, outcomes, groups, is_rate, conf)
    for note, sentence, some in zip(notes, fabrication_notes(head), measured.tolist(), strict=True):
        note += [sentence] if sentence and some else []
    columns["note"] = ["; ".join(note) or None for note in notes]
    frame = build_frame("metrics", columns)
    for at, name in enumerate(names):
        frame.insert(1 + at, name, head[name].array)
    return frame


def _group_columns(outcomes: pd.DataFrame, by: str | Sequence[str] | None) -> list[str]:
    names = [by] if isinstance(by, str) else list(by or ())
    for name in names:
        if name not in outcomes.columns:
            raise UsageError(
                f"summarize: no column {name!r} to group by{did_you_mean(name, outcomes.columns)}"
            )
    names = [name for name in dict.fromkeys(names) if name != "metric"]
    if "arm" not in names and len(outcomes["arm"].unique()) > 1:
        names.append("arm")
    return names


def _by_tag(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Let each case stand once under each of its tags; untagged cases stand under the empty one."""
    tags = [tuple(found) or ("",) for found in outcomes["tags"].tolist()]
    rows = np.repeat(np.arange(len(tags)), [len(found) for found in tags])
    spread = outcomes.iloc[rows].reset_index(drop=True)
    spread["families"] = spread["tags"]
    spread["tags"] = pd.Series([tag for found in tags for tag in found], dtype=outcomes["metric"].dtype)
    return spread


def _metric_major(columns: list[Any]) -> Groups:
    """Give the groups numbers metric by metric, each in order of appearance."""
    groups = group_rows(columns)
    metric = group_rows(columns[:1]).ids[groups.first]
    order = np.argsort(metric, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Groups(rank[groups.ids], groups.first[order])


def _counts(outcomes: pd.DataFrame, groups: Groups) -> dict[str, NDArray[Any]]:
    verdict = outcomes["verdict"]
    silent = groups.total((verdict == "no_signal").to_numpy())
    measured = groups.total(verdict.isin(["pass", "fail"]).to_numpy())
    return {
        "n_cases": np.bincount(groups.ids, minlength=groups.count).astype(np.int64),
        "n_applicable": measured + silent,
        "n_measured": measured,
        "n_no_signal": silent,
    }


def _rates(
    outcomes: pd.DataFrame,
    groups: Groups,
    direction: NDArray[Any],
    counts: dict[str, NDArray[Any]],
    is_rate: NDArray[Any],
    notes: list[list[str]],
    conf: float,
) -> dict[str, Any]:
    """Compute the columns of every rate; continuous metrics get NaN."""
    clusters = case_clusters(outcomes)
    verdict = outcomes["verdict"]
    measured = verdict.isin(["pass", "fail"]).to_numpy() & is_rate[groups.ids]
    hit_is = np.where(direction == "lower", "fail", "pass")[groups.ids]
    hit = measured & (verdict.to_numpy(dtype=object) == hit_is)
    by_case = clustered_rates(
        groups.ids, clusters, hit.astype(np.int64), measured.astype(np.int64), groups.count, conf
    )
    answers = np.where(measured, outcomes["n_measured"].to_numpy(), 0)
    by_answer = clustered_rates(
        groups.ids, clusters, np.where(measured, outcomes["hits"].to_numpy(), 0), answers, groups.count, conf
    )
    for note, n, n_eff in zip(notes, by_case.n.tolist(), by_case.n_eff.tolist(), strict=True):
        if n_eff < n - 1e-9:
            note.append(f"cases come in families: {int(n)} are worth {n_eff:.1f}")
    hits, known = groups.total(hit), by_case.n > 0
    again = measured & (outcomes["n_measured"].to_numpy() > 1)
    return {
        "hits": [
            count if rate else None for count, rate in zip(hits.tolist(), is_rate.tolist(), strict=True)
        ],
        "value": by_case.value,
        "lo": by_case.lo,
        "hi": by_case.hi,
        "bound_lo": _share(hits, counts["n_applicable"], known),
        "bound_hi": _share(hits + counts["n_no_signal"], counts["n_applicable"], known),
        "per_answer": by_answer.value,
        "per_answer_lo": by_answer.lo,
        "per_answer_hi": by_answer.hi,
        "method": _methods(by_case, known),
        "unstable_rate": _share(
            groups.total(again & outcomes["unstable"].to_numpy()),
            groups.total(again),
            groups.total(again) > 0,
        ),
    }


def _share(part: NDArray[Any], whole: NDArray[Any], known: NDArray[Any]) -> NDArray[np.float64]:
    return np.where(known, part / np.maximum(whole, 1), np.nan)


def _methods(rates: Rates, known: NDArray[Any]) -> list[str | None]:
    fewer = (rates.n_eff < rates.n - 1e-9).tolist()
    return [
        None if not some else "wilson, n_eff" if less else "wilson"
        for some, less in zip(known.tolist(), fewer, strict=True)
    ]


def _add_medians(
    columns: dict[str, Any], outcomes: pd.DataFrame, groups: Groups, is_rate: NDArray[Any], conf: float
) -> None:
    """Fill in the continuous metrics: median over the cases with its order-statistic interval."""
    values = outcomes["value"].to_numpy(dtype=np.float64)
    for group in np.flatnonzero(~is_rate).tolist():
        found = values[groups.ids == group]
        found = found[~np.isnan(found)]
        if not len(found):
            continue
        estimate = quantile_interval(found, 0.5, conf)
        for name, number in (("value", estimate.value), ("lo", estimate.lo), ("hi", estimate.hi)):
            columns[name][group] = np.nan if number is None else number
        columns["method"][group] = "median, order statistics"
