"""From traces to scores: one row per case, arm, repeat and metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, get_args

import numpy as np
import pandas as pd

from neverempty._errors import InputError, UsageError
from neverempty._suggest import did_you_mean
from neverempty.cases import Case, Cases
from neverempty.frames import SCHEMAS, trace_rows
from neverempty.frames.arrays import make_array
from neverempty.scorers.base import MetricSpec, Score, Scorer, Verdict, no_signal
from neverempty.scorers.registry import default_scorers

_VERDICTS: Final = frozenset(get_args(Verdict))
_FROM_TRACES: Final = ("suite", "case_id", "arm", "repeat")
_CARRIED: Final = (
    "resolved_model",
    "run_id",
    "fault_kind",
    "fault_presentation",
    "fault_layer",
    "split",
    "language",
    "tags",
    "must_pass",
    "repeat_of",
)


def score(
    traces: pd.DataFrame, cases: Iterable[Case], scorers: Sequence[Scorer] | None = None
) -> pd.DataFrame:
    """Score every repeat.

    Parameters
    ----------
    traces : DataFrame
        What `run` returned, whole or filtered.
    cases : Cases or iterable of Case
        The cases that were run; more of them is no harm.
    scorers : sequence of Scorer, optional
        Which checks; without it, `default_scorers` of the cases. A scorer that raises gives its metrics
        ``no_signal: scorer_error`` in that repeat.

    Returns
    -------
    DataFrame
        One row per case, arm, repeat and metric: the columns of ``SCHEMAS["scores"]``, among them label,
        verdict, value, reason and evidence.

    Raises
    ------
    InputError
        Where traces belong to no case, or a scorer yields what it did not declare.
    UsageError
        Where two scorers declare the same metric.

    Examples
    --------
    >>> from neverempty.frames import traces_frame
    >>> from neverempty.traces.model import ToolCall, Trace
    >>> call = ToolCall(0, "search", {}, "empty")
    >>> traces = traces_frame([Trace("default", "a", "typed", 0, answer="The search failed.", calls=[call])])
    >>> scores = score(traces, [Case(id="a", input={"payload": "Any jobs?"}, language="en")])
    >>> scores[scores["verdict"] == "fail"][["metric", "label"]].to_dict("records")
    [{'metric': 'false_alarm', 'label': 'false_alarm'}]
    """
    by_key = {case.key: case for case in cases}
    chosen = tuple(scorers) if scorers is not None else default_scorers(_used(by_key, traces))
    specs = declared_metrics(chosen)
    rows, given = _collect(traces, by_key, chosen)
    for kind in set(map(type, rows)) - {Score}:
        raise InputError(f"a scorer yielded an object of type {kind.__name__!r}, which is no Score")
    fields = list(zip(*rows, strict=True)) if rows else [()] * len(Score._fields)
    _check_fields(fields, specs)
    split_hash = cases.split_hash() if isinstance(cases, Cases) else None
    return _frame(traces, chosen, specs, (fields, given), split_hash)


def declared_metrics(scorers: Iterable[Scorer]) -> dict[str, MetricSpec]:
    """Collect the metrics of some scorers.

    Parameters
    ----------
    scorers : iterable of Scorer
        The scorers.

    Returns
    -------
    dict of str to MetricSpec
        By name, in order.

    Raises
    ------
    UsageError
        Where an object is no scorer, or a metric is declared twice.
    """
    specs: dict[str, MetricSpec] = {}
    for scorer in scorers:
        if not isinstance(scorer, Scorer):
            raise UsageError(
                f"{scorer!r:.80} is no scorer: it needs name, version, metrics and score(trace, case)"
            )
        for spec in scorer.metrics:
            if spec.name in specs:
                raise UsageError(
                    f"the metric {spec.name!r} is declared twice, the second time by {scorer.name!r}"
                )
            specs[spec.name] = spec
    return specs


def _used(by_key: dict[tuple[str, str], Case], traces: pd.DataFrame) -> list[Case]:
    keys = set(zip(traces["suite"].tolist(), traces["case_id"].tolist(), strict=True))
    missing = sorted(key for key in keys if key not in by_key)
    if missing:
        raise InputError(
            f"traces: no case {case_id!r} of suite {suite!r} was handed in; hand in the cases that were run"
            for suite, case_id in missing
        )
    return [case for key, case in by_key.items() if key in keys]


def _collect(
    traces: pd.DataFrame, by_key: dict[tuple[str, str], Case], scorers: Sequence[Scorer]
) -> tuple[list[Score], list[int]]:
    """Score each trace; return the scores, and how many each scorer gave each trace."""
    _used(by_key, traces)
    rows: list[Score] = []
    given: list[int] = []
    for trace in trace_rows(traces):
        case = by_key[trace.suite, trace.case_id]
        for scorer in scorers:
            try:
                found = tuple(scorer.score(trace, case))
            except Exception as error:
                found = _broken(scorer, error)
            rows += found
            given.append(len(found))
    return rows, given


def _broken(scorer: Scorer, error: Exception) -> tuple[Score, ...]:
    reason = f"scorer_error: {type(error).__name__}: {error}"[:300]
    return tuple(no_signal(spec.name, reason) for spec in scorer.metrics)


def _check_fields(fields: Sequence[Sequence[Any]], specs: dict[str, MetricSpec]) -> None:
    metrics, _, verdicts, values, *_ = fields
    problems = [
        f"a scorer yielded the metric {name!r}, which none declares{did_you_mean(str(name), specs)}"
        for name in sorted(set(metrics) - specs.keys(), key=str)
    ]
    problems += [
        f"a scorer yielded the verdict {verdict!r}; a verdict is pass, fail, no_signal or not_applicable"
        for verdict in sorted(set(verdicts) - _VERDICTS, key=str)
    ]
    numbers = [value for value in values if value is not None]
    problems += [
        f"a scorer yielded the value {value!r}; a value is a finite number"
        for value in numbers
        if isinstance(value, str) or math.isinf(value)
    ]
    if problems:
        raise InputError(problems)


def _frame(
    traces: pd.DataFrame,
    scorers: Sequence[Scorer],
    specs: dict[str, MetricSpec],
    found: tuple[Sequence[Sequence[Any]], Sequence[int]],
    split_hash: str | None,
) -> pd.DataFrame:
    """Lay the scores out: what belongs to the trace is taken by position, never looked up row by row."""
    schema = SCHEMAS["scores"]
    fields, given = found
    counts = np.array(given, dtype=np.intp).reshape(len(traces), len(scorers))
    place = np.repeat(np.arange(len(traces)), counts.sum(axis=1))
    columns: dict[str, Any] = {name: traces[name].array.take(place) for name in _FROM_TRACES}
    for name, values in zip(Score._fields[1:], fields[1:], strict=True):
        columns[name] = make_array(schema.column(name), values)

    def spread(name: str, values: Sequence[Any], codes: Any) -> None:
        columns[name] = make_array(schema.column(name), values).take(codes)

    numbers = {name: code for code, name in enumerate(specs)}
    metric = np.fromiter(map(numbers.__getitem__, fields[0]), dtype=np.intp, count=len(place))
    spread("metric", list(specs), metric)
    spread("direction", [spec.direction for spec in specs.values()], metric)
    spread("collapse", [spec.collapse for spec in specs.values()], metric)
    made_by = np.repeat(np.tile(np.arange(len(scorers)), len(traces)), counts.ravel())
    spread("scorer_version", [f"{scorer.name}/{scorer.version}" for scorer in scorers], made_by)
    spread("pattern_version", [getattr(scorer, "pattern_version", None) for scorer in scorers], made_by)
    spread("split_hash", [split_hash], np.zeros(len(place), dtype=np.intp))
    for name in _CARRIED:
        if name in traces.columns:
            columns[name] = traces[name].array.take(place)
    order = [column.name for column in schema.columns if column.name in columns]
    return pd.DataFrame({name: columns[name] for name in order}, copy=False)
