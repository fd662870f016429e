"""Stated confidence against what the answers turned out to be."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.frames import check_frame
from neverempty.stats import augrc, aurc, coverage_at_risk, expected_calibration_error

_KEYS: Final = ["suite", "case_id", "arm", "repeat"]
_COLUMNS: Final[dict[str, Any]] = {
    "metric": "str",
    "arm": "str",
    "n_answers": "int64",
    "n_stated": "int64",
    "n_measured": "int64",
    "accuracy": "float64",
    "mean_confidence": "float64",
    "ece": "float64",
    "aurc": "float64",
    "augrc": "float64",
    "threshold": "float64",
    "coverage": "float64",
    "status": "str",
    "note": "str",
}


def confidence_pairs(traces: pd.DataFrame, scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Put beside each answer's stated confidence whether a metric failed it.

    Parameters
    ----------
    traces : DataFrame
        With the column ``confidence`` (0 to 1; missing where none was stated).
    scores : DataFrame
        What `score` made of them.
    metric : str
        The metric by which an answer is right: ``pass`` is.

    Returns
    -------
    DataFrame
        One row per answer to which the metric applied: keys, ``confidence`` and ``error`` (1.0 wrong, 0.0
        right, missing without signal), for `plots.reliability` and `plots.risk_coverage`.

    Raises
    ------
    UsageError
        For a metric that was not scored.
    InputError
        Where a frame is not what it should be.

    Examples
    --------
    >>> import neverempty as ne
    >>> case = ne.Case(id="a", input={"payload": 1}, expect={"route": {"label": "x"}})
    >>> trace = ne.Trace("default", "a", "typed", 0, answer="Ok.", route="y", confidence=0.9)
    >>> traces = ne.traces_frame([trace])
    >>> confidence_pairs(traces, ne.score(traces, [case]), "route")[["confidence", "error"]].values.tolist()
    [[0.9, 1.0]]
    """
    check_frame(traces, "traces")
    check_frame(scores, "scores")
    asked = scores[(scores["metric"] == metric) & (scores["verdict"] != "not_applicable")]
    if asked.empty:
        scored = scores.loc[scores["verdict"] != "not_applicable", "metric"].unique().tolist()
        raise UsageError(f"no answer was scored by {metric!r}{did_you_mean(metric, scored)}")
    verdicts = asked[[*_KEYS, "verdict"]].copy()
    verdicts["error"] = verdicts.pop("verdict").astype("str").map({"pass": 0.0, "fail": 1.0})
    joined = verdicts.merge(traces[[*_KEYS, "confidence"]], on=_KEYS, how="left", validate="one_to_one")
    joined["confidence"] = joined["confidence"].astype("float64")
    return joined[[*_KEYS, "confidence", "error"]]


def stated_confidence(
    traces: pd.DataFrame, scores: pd.DataFrame, metric: str, *, max_risk: float = 0.05, conf: float = 0.95
) -> pd.DataFrame:
    """Summarise how far stated confidence can be trusted, per arm.

    Parameters
    ----------
    traces, scores, metric
        As for `confidence_pairs`.
    max_risk : float, default 0.05
        The share of wrong answers that is wanted among the accepted ones.
    conf : float, default 0.95
        Confidence with which the threshold keeps that risk.

    Returns
    -------
    DataFrame
        Per arm: ``n_answers``; ``n_stated`` of them with a confidence; ``n_measured`` with a verdict as well;
        ``accuracy`` and ``mean_confidence`` of those; ``ece`` (expected calibration error, ten bins weighted
        by their answers, the top one closed); ``aurc`` and ``augrc`` (an answer without a confidence counts
        as an abstention); ``threshold`` that is certified to keep the risk, with its ``coverage`` (0 where
        none is certified); ``status`` and ``note``. Not measured where no answer has both.

    Raises
    ------
    UsageError, InputError
        As for `confidence_pairs`.

    References
    ----------
    Guo et al. (2017), arXiv:1706.04599; Geifman and El-Yaniv (2017), arXiv:1705.08500; Traub et al. (2024),
    arXiv:2407.01032.

    Examples
    --------
    >>> import neverempty as ne
    >>> cases = [ne.Case(id=i, input={"payload": 1}, expect={"route": {"label": "x"}}) for i in "ab"]
    >>> traces = ne.traces_frame(
    ...     ne.Trace("default", i, "typed", 0, answer="Ok.", route=to, confidence=sure)
    ...     for i, to, sure in (("a", "x", 0.9), ("b", "y", 0.6)))
    >>> row = stated_confidence(traces, ne.score(traces, cases), "route").iloc[0]
    >>> int(row["n_measured"]), float(row["accuracy"]), round(float(row["ece"]), 3)
    (2, 0.5, 0.35)
    """
    pairs = confidence_pairs(traces, scores, metric)
    rows = [
        {"metric": metric, "arm": str(arm)} | _of_arm(group, max_risk, conf)
        for arm, group in pairs.groupby("arm", sort=False, observed=True)
    ]
    return pd.DataFrame(rows, columns=[*_COLUMNS]).astype(_COLUMNS)


def _of_arm(pairs: pd.DataFrame, max_risk: float, conf: float) -> dict[str, Any]:
    sure, wrong = pairs["confidence"].to_numpy(), pairs["error"].to_numpy()
    stated = ~np.isnan(sure)
    both = stated & ~np.isnan(wrong)
    row: dict[str, Any] = {
        "n_answers": len(pairs),
        "n_stated": int(stated.sum()),
        "n_measured": int(both.sum()),
    }
    silent = int((~stated).sum())
    note = f"{silent} of {len(pairs)} answers state no confidence" if silent else ""
    if not both.any():
        return row | {"status": "not_measured", "note": note or "no answer has a verdict"}
    certified = coverage_at_risk(_listed(sure), _listed(wrong), max_risk, conf)
    return row | {
        "accuracy": float(1.0 - wrong[both].mean()),
        "mean_confidence": float(sure[both].mean()),
        "ece": expected_calibration_error(sure[both], 1.0 - wrong[both]).value,
        "aurc": aurc(_listed(sure), _listed(wrong)).value,
        "augrc": augrc(_listed(sure), _listed(wrong)).value,
        "threshold": certified.threshold,
        "coverage": certified.value,
        "status": "ok",
        "note": "; ".join(text for text in (note, certified.reason) if text),
    }


def _listed(values: np.ndarray[Any, Any]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
