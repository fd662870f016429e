"""Numbers of model judges, cut wherever nobody knows how far the judge agrees with people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from neverempty.frames import SCHEMAS
from neverempty.frames.arrays import make_array
from neverempty.report import numbers
from neverempty.report.status import earned

if TYPE_CHECKING:
    from neverempty.report.model import Report

JUDGES: Final = "judges"
"""Key of a report's provenance: metric → ``agreement`` with people, ``lo``, ``hi``, ``n``, ``trust``."""

_SIGN: Final = "judge"
_HASH: Final = re.compile(r"judge\.([^+\s]+)$")
_SHOWN: Final = ("trusted", "provisional")
CUT: Final = "cut: the judge's agreement with people is unknown or too low"
"""Why a number of a judge is not shown."""


def judged_metrics(report: Report) -> dict[str, dict[str, Any]]:
    """List the metrics that a model judged, with what is known of the judge's agreement.

    Parameters
    ----------
    report : Report
        Its provenance may say so under ``judges``; a scorer whose version names a judge says so too.

    Returns
    -------
    dict of str to dict
        Empty facts where nothing is known.
    """
    said = report.provenance.get(JUDGES)
    known = {str(name): facts for name, facts in said.items()} if isinstance(said, dict) else {}
    scores = report.scores
    versions = scores["scorer_version"].astype("str").str.lower()
    for name in scores.loc[versions.str.contains(_SIGN, regex=False), "metric"].unique().tolist():
        known.setdefault(str(name), {})
    known = {name: facts if isinstance(facts, dict) else {} for name, facts in known.items()}
    return {name: {} if _is_stale(scores, name, facts) else facts for name, facts in known.items()}


def _is_stale(scores: pd.DataFrame, metric: str, facts: dict[str, Any]) -> bool:
    """Tell whether an agreement is that of another judge than the one whose hash the scores carry."""
    named = {judge for judge in _judges_of(scores).get(metric, ()) if judge is not None}
    return "judge_id" in facts and bool(named) and named != {facts["judge_id"]}


def _judges_of(scores: pd.DataFrame) -> dict[str, set[str | None]]:
    """Collect by metric the hashes of judges in its scorers' versions; None where a version has none."""
    found: dict[str, set[str | None]] = {}
    pairs = scores[["metric", "scorer_version"]].astype("str").drop_duplicates()
    for metric, version in pairs.itertuples(index=False):
        mark = _HASH.search(version)
        found.setdefault(metric, set()).add(mark[1] if mark else None)
    return found


def metrics_of_judge(scores: pd.DataFrame, judge_id: str | None) -> list[str]:
    """Name the metrics that one judge scored.

    Parameters
    ----------
    scores : DataFrame
        The scores frame.
    judge_id : str or None
        The judge's hash.

    Returns
    -------
    list of str
        Those all of whose scores carry the hash in their scorer's version; none without a hash.
    """
    if not judge_id:
        return []
    return [metric for metric, judges in _judges_of(scores).items() if judges == {judge_id}]


def is_trusted(facts: dict[str, Any]) -> bool:
    """Say whether a judge's numbers may be shown.

    Parameters
    ----------
    facts : dict
        As in a report's provenance.

    Returns
    -------
    bool
        False without an agreement, and where it was found too low or could not be told.

    Examples
    --------
    >>> is_trusted({}), is_trusted({"agreement": 0.8}), is_trusted({"agreement": 0.3, "trust": "cut"})
    (False, True, False)
    """
    agreement = facts.get("agreement")
    known = isinstance(agreement, (int, float)) and not isinstance(agreement, bool) and agreement == agreement
    return known and facts.get("trust", "trusted") in _SHOWN


def untrusted(report: Report) -> set[str]:
    """Name the metrics whose numbers are cut.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    set of str
        Names.
    """
    return {name for name, facts in judged_metrics(report).items() if not is_trusted(facts)}


def shown_metrics(report: Report) -> pd.DataFrame:
    """Return the metrics as far as they may be shown.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    DataFrame
        The report's metrics; those of a judge without agreement have no number, the status ``withheld`` and
        a note.
    """
    metrics = report.metrics
    cut = metrics["metric"].astype("str").isin(untrusted(report)).to_numpy()
    if not cut.any():
        return metrics
    kept, gone = metrics[~cut], earned(metrics[cut], numbers.WITHHELD)
    gone["note"] = CUT
    same = {name: kind for name, kind in metrics.dtypes.items() if name != "status"}
    frame = pd.concat([kept, gone.astype(same)]).sort_index(kind="stable")
    frame["status"] = make_array(SCHEMAS["metrics"].column("status"), frame["status"].tolist())
    return frame
