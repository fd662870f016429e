"""Rates per answer, corrected for how often the answer reader is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty._errors import InputError
from neverempty.frames import check_frame
from neverempty.metrics.clusters import case_clusters
from neverempty.metrics.correcting import SOLVED, corrected, corrected_columns, design_effect, without_numbers
from neverempty.reader import HEADLINE_TRUTHS, measured_error
from neverempty.stats import corrected_rate

ALL: Final = "all"
"""Stands in the column ``language`` for all languages of a metric together."""


def correct_for_reading(outcomes: pd.DataFrame, conf: float = 0.95) -> pd.DataFrame:
    """Correct the headline rates per answer for the reader's measured sensitivity and specificity.

    Rates per case are not corrected: one wrong reading among several repeats is another event than one
    wrong reading. That the reader errs on these answers as often as on the labelled ones, on which it was
    measured, is an assumption.

    Parameters
    ----------
    outcomes : DataFrame
        What `collapse` returned.
    conf : float, default 0.95
        Confidence level.

    Returns
    -------
    DataFrame
        One row per headline metric, arm and language, and one over all languages where there are several:
        ``metric, arm, language, n_answers, raw`` (the share of answers read so), ``sensitivity, n_pos,
        specificity, n_neg`` (of the reader, with the labelled answers behind them), ``value, lo, hi`` (the
        corrected rate), ``status`` and ``note``. No number without a measured error.

    Raises
    ------
    InputError
        Where the frame is not an outcomes frame.

    Notes
    -----
    Rogan and Gladen's correction with the interval of Lang and Reiczigel at the effective number of answers,
    repeats of a case being alike (`stats.corrected_rate`). Languages are corrected each with its own error,
    then weighted by their answers; the interval over all follows from theirs (MOVER).

    References
    ----------
    Zou and Donner (2008), Stat. Med. 27, 1693-1702.

    Examples
    --------
    >>> import neverempty as ne
    >>> case = ne.Case(id="a", input={"payload": "Any jobs?"}, language="en")
    >>> call = ne.ToolCall(0, "search", {}, "error", kind="timeout")
    >>> traces = ne.traces_frame([ne.Trace("default", "a", "typed", 0, language="en",
    ...     answer="No jobs found.", calls=[call])])
    >>> row = correct_for_reading(ne.collapse(ne.score(traces, [case]))).iloc[0]
    >>> row["metric"], row["language"], int(row["n_answers"]), float(row["raw"])
    ('misreport_as_empty', 'en', 1, 1.0)
    """
    check_frame(outcomes, "outcomes")
    measured = outcomes[outcomes["metric"].isin(list(HEADLINE_TRUTHS)) & (outcomes["n_measured"] > 0)]
    rows = [
        row
        for (metric, arm), found in measured.groupby(["metric", "arm"], sort=False, observed=True)
        for row in _rows(str(metric), str(arm), found.reset_index(drop=True), conf)
    ]
    order = {name: at for at, name in enumerate(HEADLINE_TRUTHS)}
    rows.sort(key=lambda row: order[row["metric"]])  # stable: arms and languages keep their order
    return pd.DataFrame(rows, columns=[*_COLUMNS]).astype(_COLUMNS)


_COLUMNS: Final = corrected_columns("language", "n_answers")


def _rows(metric: str, arm: str, outcomes: pd.DataFrame, conf: float) -> Iterator[dict[str, Any]]:
    languages = outcomes["language"].astype("object")
    languages = languages.where(languages.notna(), "")
    parts = [
        _row(metric, arm, str(language), outcomes[(languages == language).to_numpy()], conf)
        for language in dict.fromkeys(languages.tolist())
    ]
    yield from parts
    if len(parts) > 1:
        yield _pooled(metric, arm, parts)


def _row(metric: str, arm: str, language: str, outcomes: pd.DataFrame, conf: float) -> dict[str, Any]:
    """Correct the rate of one language with the error that was measured for it."""
    hits, n = int(outcomes["hits"].sum()), int(outcomes["n_measured"].sum())
    row = {"metric": metric, "arm": arm, "language": language or "not named", "n_answers": n, "raw": hits / n}
    try:
        if not language:
            raise InputError(["the cases name no language"])
        versions = outcomes["pattern_version"].dropna().unique().tolist()
        if len(versions) != 1:
            raise InputError([f"the answers were read by {len(versions)} versions of the rules"])
        error = measured_error(language, metric, str(versions[0]))
    except InputError as problem:
        return row | without_numbers("not_measured", problem.problems[0])
    counts = (outcomes[name].to_numpy(dtype=np.int64) for name in ("hits", "n_measured"))
    alike = design_effect([case_clusters(outcomes)], *counts)
    found = corrected_rate(hits, n, *error, conf, design_effect=alike)
    status = "reader_uninformative" if found.status == "judge_uninformative" else found.status
    said = {"status": status, "note": found.reason.replace("the judge", "the reader")}
    return row | corrected(found, error.m_pos, error.m_neg) | said


def _pooled(metric: str, arm: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Weight the languages by their answers; without one of them there is no number for all."""
    n = sum(part["n_answers"] for part in parts)
    head = {"metric": metric, "arm": arm, "language": ALL, "n_answers": n}
    head["raw"] = sum(part["raw"] * part["n_answers"] for part in parts) / n
    missing = [part["language"] for part in parts if part["status"] not in SOLVED]
    if missing:
        return head | without_numbers("not_measured", f"no corrected rate for: {', '.join(missing)}")
    weights = np.array([part["n_answers"] for part in parts]) / n
    value, lo, hi = (np.array([part[name] for part in parts]) for name in ("value", "lo", "hi"))
    middle = float(weights @ value)
    below, above = (float(np.sqrt(np.sum((weights * gap) ** 2))) for gap in (value - lo, hi - value))
    found = without_numbers("ok", "each language corrected with its own error")
    found |= {"value": middle, "lo": max(0.0, middle - below), "hi": min(1.0, middle + above)}
    for share, count in (("sensitivity", "n_pos"), ("specificity", "n_neg")):
        found[share] = float(weights @ np.array([part[share] for part in parts]))
        found[count] = sum(part[count] for part in parts)
    return head | found
