"""What a judge's own error does to the rates that it gives, corrected and laid out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty.judge import correct_by_matrix
from neverempty.metrics.correcting import corrected, corrected_columns, design_effect, without_numbers
from neverempty.report.reading import reading_table
from neverempty.report.tables import Table
from neverempty.scorers.statements import JUDGED

JUDGED_CAPTION: Final = "Per claim, corrected for the judge's error"
JUDGED_REMARK: Final = (
    "Correct if the judge errs on these claims as often as on the labelled ones that it was calibrated with. "
    "Metrics count answers, this table counts claims; a gate judges rates as the judge gave them."
)
_COLUMNS: Final = corrected_columns("verdict", "n_claims")


def correct_for_judge(scores: pd.DataFrame, judges: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Correct the share of claims with a judge's verdict for the judge's sensitivity and specificity.

    Parameters
    ----------
    scores : DataFrame
        What `score` returned; the evidence of judged scores counts their claims.
    judges : mapping of str to mapping
        By metric, what `Calibration.facts` gives: ``labels`` and ``matrix``.

    Returns
    -------
    DataFrame
        One row per metric and arm: ``verdict`` (the one that is counted), ``n_claims``, ``raw`` (its share as
        the judge gave it), ``sensitivity, n_pos, specificity, n_neg`` (of the judge, with the labelled claims
        behind them), ``value, lo, hi`` (the corrected share), ``status`` and ``note``.

    Notes
    -----
    Rogan and Gladen's correction with the interval of Lang and Reiczigel at the effective number of claims,
    those of a case being alike.

    Examples
    --------
    >>> import neverempty as ne
    >>> case = ne.Case(id="a", input={"payload": "Any jobs?"}, language="en")
    >>> traces = ne.traces_frame([ne.Trace("default", "a", "typed", 0, answer="No jobs found.")])
    >>> len(correct_for_judge(ne.score(traces, [case]), {}))
    0
    """
    judged = scores[scores["metric"].isin([*judges]).to_numpy()]
    counts = [row.get(JUDGED) if isinstance(row, dict) else None for row in judged["evidence"]]
    told = pd.DataFrame([one for one in counts if one is not None], columns=["verdict", "hits", "n"])
    seen = np.array([one is not None for one in counts], dtype=bool)
    keys = judged.loc[seen, ["suite", "case_id", "arm", "metric"]].reset_index(drop=True)
    known = pd.concat([keys, told], axis="columns")
    rows = [
        _row(str(metric), str(arm), str(verdict), part.reset_index(drop=True), judges[str(metric)])
        for (metric, arm, verdict), part in known.groupby(
            ["metric", "arm", "verdict"], sort=False, observed=True
        )
    ]
    return pd.DataFrame(rows, columns=[*_COLUMNS]).astype(_COLUMNS)


def _row(metric: str, arm: str, verdict: str, part: pd.DataFrame, judge: Mapping[str, Any]) -> dict[str, Any]:
    hits, sizes = (part[name].to_numpy(dtype=np.int64) for name in ("hits", "n"))
    flagged, n = int(hits.sum()), int(sizes.sum())
    head = {"metric": metric, "arm": arm, "verdict": verdict, "n_claims": n, "raw": flagged / n}
    matrix, labels = judge.get("matrix"), judge.get("labels") or ()
    if not matrix or verdict not in labels:
        return head | without_numbers("not_measured", "the calibration has no matrix for this verdict")
    alike = design_effect([part["suite"].array, part["case_id"].array], hits, sizes)
    found = correct_by_matrix(matrix, labels, verdict, flagged, n, design_effect=alike)
    positive = sum(matrix[list(labels).index(verdict)])
    return head | corrected(found, positive, sum(map(sum, matrix)) - positive)


def judged_table(corrected: pd.DataFrame) -> Table:
    """Lay the corrected shares out.

    Parameters
    ----------
    corrected : DataFrame
        From `correct_for_judge`.

    Returns
    -------
    Table
        As `reading_table`, with claims in the place of answers, and the verdict in that of the language.
    """
    table = reading_table(corrected.rename(columns={"verdict": "language", "n_claims": "n_answers"}))
    names = {"language": "verdict", "as read": "as judged", "answers": "claims"}
    return Table(JUDGED_CAPTION, tuple(names.get(name, name) for name in table.header), table.rows)
