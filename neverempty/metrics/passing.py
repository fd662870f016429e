"""pass@k and pass^k: the chance that any, or that all, of k repeats of a case pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty._errors import UsageError
from neverempty.frames import check_frame
from neverempty.metrics.natures import natures
from neverempty.stats import pass_at_k, pass_hat_k, wilson_interval

_ESTIMATORS: Final = {"pass_at_k": pass_at_k, "pass_hat_k": pass_hat_k}
_COLUMNS: Final[dict[str, Any]] = {
    "metric": "str",
    "arm": "str",
    "estimator": "str",
    "k": "int64",
    "n_cases": "int64",
    "n_measured": "int64",
    "n_too_few": "int64",
    "value": "float64",
    "lo": "float64",
    "hi": "float64",
    "status": "str",
    "note": "str",
}


def pass_rates(
    scores: pd.DataFrame,
    k: int | Sequence[int] = 1,
    *,
    metrics: Iterable[str] | None = None,
    conf: float = 0.95,
) -> pd.DataFrame:
    """Estimate pass@k and pass^k over the repeats of each case, without bias.

    Parameters
    ----------
    scores : DataFrame
        What `score` returned. Verdicts ``pass`` and ``fail`` are attempts; what had no signal was none, and
        a repeat that copies another by construction counts once.
    k : int or sequence of int, default 1
        Attempts that are allowed (pass@k) or needed (pass^k).
    metrics : iterable of str, optional
        Which metrics; by default every one that passes or fails.
    conf : float, default 0.95
        Confidence level.

    Returns
    -------
    DataFrame
        Per metric, arm, estimator and k: ``n_cases`` (the metric applied), ``n_measured`` (with at least k
        attempts), ``n_too_few``, ``value`` with ``lo`` and ``hi``, ``status``, ``note``. A case with fewer
        attempts than k is not measured and counted so; where none is measured there is no value, never 0.

    Raises
    ------
    UsageError
        For a k below 1.
    InputError
        Where the frame is not a scores frame.

    Notes
    -----
    The value is the mean over cases of 1 - C(n-c, k) / C(n, k), or of C(c, k) / C(n, k); the interval is
    Student's over the cases, Wilson's where every case gives 0 or 1.

    References
    ----------
    Chen et al. (2021), arXiv:2107.03374; Yao et al. (2024), arXiv:2406.12045.

    Examples
    --------
    >>> import neverempty as ne
    >>> case = ne.Case(id="a", input={"payload": 1}, expect={"route": {"label": "x"}})
    >>> traces = ne.traces_frame(
    ...     ne.Trace("default", "a", "typed", i, answer="Ok.", route=to) for i, to in enumerate("xxy"))
    >>> found = pass_rates(ne.score(traces, [case]), k=2, metrics=["route"])
    >>> found[["estimator", "n_measured", "value"]].round(3).values.tolist()
    [['pass_at_k', 1, 1.0], ['pass_hat_k', 1, 0.333]]
    """
    check_frame(scores, "scores")
    wanted = [k] if isinstance(k, int) else list(k)
    for one in wanted:
        if isinstance(one, bool) or not isinstance(one, int) or one < 1:
            raise UsageError(f"k is {one!r}; give a whole number from 1")
    rows = scores if metrics is None else scores[scores["metric"].isin(list(metrics))]
    rows = rows[rows["verdict"] != "not_applicable"]
    if "repeat_of" in rows.columns:
        original = rows["repeat_of"].fillna(rows["repeat"])
        keys = ["suite", "case_id", "arm", "metric"]
        rows = rows[~rows[keys].assign(original=original).duplicated().to_numpy()]
    rows = rows[natures(rows)[1] != "median"]
    found = [
        _row(str(metric), str(arm), name, one, attempts, conf)
        for (metric, arm), group in rows.groupby(["metric", "arm"], sort=False, observed=True)
        for attempts in [_attempts(group)]
        for one in wanted
        for name in _ESTIMATORS
    ]
    return pd.DataFrame(found, columns=[*_COLUMNS]).astype(_COLUMNS)


def _attempts(scores: pd.DataFrame) -> list[tuple[int, int]]:
    """Count attempts and passes of each case."""
    counted = pd.DataFrame(
        {
            "suite": scores["suite"],
            "case_id": scores["case_id"],
            "n": scores["verdict"].isin(["pass", "fail"]),
            "c": scores["verdict"] == "pass",
        }
    )
    sums = counted.groupby(["suite", "case_id"], sort=False)[["n", "c"]].sum()
    return list(zip(sums["n"].tolist(), sums["c"].tolist(), strict=True))


def _row(
    metric: str, arm: str, estimator: str, k: int, attempts: list[tuple[int, int]], conf: float
) -> dict[str, Any]:
    values = [float(_ESTIMATORS[estimator](n, c, k)) for n, c in attempts if n >= k]
    too_few = len(attempts) - len(values)
    row = {"metric": metric, "arm": arm, "estimator": estimator, "k": k, "n_cases": len(attempts)}
    row |= {"n_measured": len(values), "n_too_few": too_few}
    note = f"{too_few} of {len(attempts)} cases have fewer than {k} measured repeats" if too_few else ""
    if not values:
        return row | {"value": None, "lo": None, "hi": None, "status": "not_measured", "note": note}
    lo, hi = _interval(np.array(values), conf)
    return row | {"value": float(np.mean(values)), "lo": lo, "hi": hi, "status": "ok", "note": note}


def _interval(values: np.ndarray[Any, Any], conf: float) -> tuple[float | None, float | None]:
    if np.isin(values, (0.0, 1.0)).all():
        found = wilson_interval(int(values.sum()), len(values), conf)
        return found.lo, found.hi
    if len(values) < 2:
        return None, None
    from scipy import special

    half = float(special.stdtrit(len(values) - 1, (1 + conf) / 2)) * float(values.std(ddof=1))
    half /= math.sqrt(len(values))
    mean = float(values.mean())
    return max(0.0, mean - half), min(1.0, mean + half)
