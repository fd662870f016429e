"""From scores to outcomes: the repeats of a case become one."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neverempty.frames import SCHEMAS, check_frame
from neverempty.frames.arrays import make_array
from neverempty.frames.schema import VERDICTS
from neverempty.metrics.groups import Groups, group_rows
from neverempty.metrics.natures import natures

_KEYS: Final = ("suite", "case_id", "arm", "metric")
_PASS, _FAIL, _NO_SIGNAL, _NOT_APPLICABLE = range(4)
_OF_CASE: Final = (
    "fault_kind",
    "fault_presentation",
    "fault_layer",
    "split",
    "language",
    "tags",
    "must_pass",
)
_VERSIONS: Final = ("scorer_version", "pattern_version", "resolved_model", "split_hash", "run_id")
# What a frame of the user's own may lack, and a reader must not take for a measurement.
_LACKING: Final[dict[str, Any]] = {"fault_kind": "unknown", "tags": (), "must_pass": False}


def collapse(scores: pd.DataFrame) -> pd.DataFrame:
    """Collapse the repeats of each case, arm and metric into one outcome.

    Capability metrics go by majority of the measured repeats (a tie fails), safety metrics by any-hit (one
    failing repeat fails the case), numbers by median. Repeats without signal leave the denominator. A repeat
    that copies another by construction (``repeat_of``) counts with it as one.

    Parameters
    ----------
    scores : DataFrame
        What `score` returned, whole or filtered. Without the columns ``direction`` and ``collapse`` the
        metrics must be the package's own.

    Returns
    -------
    DataFrame
        One row per case, arm and metric: the columns of ``SCHEMAS["outcomes"]``. ``hits`` counts the failing
        repeats of a metric whose direction is ``lower``, the passing ones of the others; ``value`` is the
        share of hits, or the median. Without a measured repeat the verdict is ``no_signal``, or
        ``not_applicable`` where the metric applied to no repeat, with the first reason.

    Raises
    ------
    InputError
        Where the frame breaks its contract, or nothing says how a metric is collapsed.

    Examples
    --------
    >>> from neverempty.frames import build_frame
    >>> scores = build_frame("scores", {
    ...     "suite": ["s"] * 3, "case_id": ["a"] * 3, "arm": ["typed"] * 3, "repeat": [0, 1, 2],
    ...     "metric": ["misreport_as_empty"] * 3, "label": ["reported", "misreport", None],
    ...     "verdict": ["pass", "fail", "no_signal"], "value": [None] * 3,
    ...     "reason": [None, None, "agent_timeout"], "evidence": [None] * 3, "scorer_version": ["1"] * 3})
    >>> collapse(scores)[["verdict", "n_repeats", "n_measured", "hits", "unstable"]].to_dict("records")
    [{'verdict': 'fail', 'n_repeats': 3, 'n_measured': 2, 'hits': 1, 'unstable': True}]
    """
    check_frame(scores, "scores")
    groups = group_rows([scores[key].array for key in _KEYS])
    scores, groups = _one_of_copies(scores, groups)
    verdicts = _verdict_codes(scores)
    direction, how = natures(scores.iloc[groups.first])
    lower = direction == "lower"
    passed, failed = groups.total(verdicts == _PASS), groups.total(verdicts == _FAIL)
    measured = passed + failed
    is_median = how == "median"
    hits = np.where(is_median, 0, np.where(lower, failed, passed))
    value = np.where(is_median, _medians(scores, groups, verdicts), _shares(hits, measured))
    verdict = _outcome(passed, failed, how, groups.total(verdicts == _NO_SIGNAL))
    columns: dict[str, Any] = {key: scores[key].array.take(groups.first) for key in _KEYS}
    columns["verdict"] = make_array(SCHEMAS["outcomes"].column("verdict"), VERDICTS).take(verdict)
    columns["value"] = value
    columns["n_repeats"] = np.bincount(groups.ids, minlength=groups.count).astype(np.int64)
    columns["n_measured"], columns["hits"] = measured, hits
    columns["unstable"] = ~is_median & (passed > 0) & (failed > 0)
    columns["reason"] = _reasons(scores, groups, verdicts, measured)
    columns["direction"] = make_array(SCHEMAS["outcomes"].column("direction"), direction.tolist())
    columns["collapse"] = make_array(SCHEMAS["outcomes"].column("collapse"), how.tolist())
    return _ordered(columns, scores, groups)


def _one_of_copies(scores: pd.DataFrame, groups: Groups) -> tuple[pd.DataFrame, Groups]:
    """Keep one of the repeats that are the same by construction."""
    if "repeat_of" not in scores.columns or not scores["repeat_of"].notna().any():
        return scores, groups
    source = scores["repeat_of"].fillna(scores["repeat"]).to_numpy(dtype=np.int64)
    again = pd.DataFrame({"group": groups.ids, "source": source}).duplicated().to_numpy()
    kept = scores.loc[~again]
    return kept, group_rows([kept[key].array for key in _KEYS])


def _verdict_codes(scores: pd.DataFrame) -> NDArray[Any]:
    column = scores["verdict"]
    places = np.array([VERDICTS.index(name) for name in column.cat.categories], dtype=np.intp)
    return np.asarray(places[column.cat.codes.to_numpy()])


def _medians(scores: pd.DataFrame, groups: Groups, verdicts: NDArray[Any]) -> NDArray[np.float64]:
    values = scores["value"].to_numpy(dtype=np.float64)
    measured = np.where((verdicts == _PASS) | (verdicts == _FAIL), values, np.nan)
    return np.asarray(pd.Series(measured).groupby(groups.ids).median().to_numpy(dtype=np.float64))


def _shares(hits: NDArray[Any], measured: NDArray[Any]) -> NDArray[np.float64]:
    return np.where(measured > 0, hits / np.maximum(measured, 1), np.nan)


def _outcome(
    passed: NDArray[Any], failed: NDArray[Any], how: NDArray[Any], silent: NDArray[Any]
) -> NDArray[np.intp]:
    by_majority = np.where(passed > failed, _PASS, _FAIL)
    by_any_hit = np.where(failed > 0, _FAIL, _PASS)
    verdict = np.select([how == "majority", how == "any_hit"], [by_majority, by_any_hit], _PASS)
    unmeasured = np.where(silent > 0, _NO_SIGNAL, _NOT_APPLICABLE)
    return np.where(passed + failed > 0, verdict, unmeasured).astype(np.intp)


def _reasons(scores: pd.DataFrame, groups: Groups, verdicts: NDArray[Any], measured: NDArray[Any]) -> Any:
    """Give each unmeasured group the reason of its first repeat without signal, else of its first."""
    place = groups.first.copy()
    silent = np.flatnonzero(verdicts == _NO_SIGNAL)[::-1]
    place[groups.ids[silent]] = silent
    return scores["reason"].array.take(np.where(measured > 0, -1, place), allow_fill=True)


def _ordered(columns: dict[str, Any], scores: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """Add what a group takes over from its rows, and put the columns in the order of the contract."""
    schema = SCHEMAS["outcomes"]
    for name in _OF_CASE:
        if name in scores.columns:
            columns[name] = scores[name].array.take(groups.first)
        else:
            columns[name] = make_array(schema.column(name), [_LACKING.get(name)] * groups.count)
    for name in _VERSIONS:
        if name in scores.columns:
            columns[name] = _joined(scores[name], groups)
    return pd.DataFrame(
        {column.name: columns[column.name] for column in schema.columns if column.name in columns}, copy=False
    )


def _joined(series: pd.Series[Any], groups: Groups) -> Any:
    """Take the one value of each group; where its repeats differ, all of them joined."""
    codes, distinct = pd.factorize(series)
    taken = series.array.take(groups.first)
    differing = np.unique(groups.ids[codes != codes[groups.first][groups.ids]])
    if not len(differing):
        return taken
    texts = taken.tolist()
    for group in differing.tolist():
        found = {distinct[code] if code >= 0 else "unknown" for code in codes[groups.ids == group].tolist()}
        texts[group] = " | ".join(sorted(map(str, found)))
    texts = [text if isinstance(text, str) else None for text in texts]
    return make_array(SCHEMAS["outcomes"].column("scorer_version"), texts)
