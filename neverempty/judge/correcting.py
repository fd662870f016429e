"""Rates that a judge gives, corrected for how often it is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from neverempty._errors import UsageError
from neverempty.stats import CorrectedRate, corrected_rate


def correct_by_matrix(
    matrix: Sequence[Sequence[int]],
    labels: Sequence[str],
    verdict: str,
    flagged: int,
    n: int,
    *,
    design_effect: float = 1.0,
    calibrated_for: str | None = None,
    used_judge: str | None = None,
) -> CorrectedRate:
    """Correct the share of claims with a verdict for the judge's sensitivity and specificity.

    Parameters
    ----------
    matrix : sequence of sequence of int
        People's labels down, the judge's across.
    labels : sequence of str
        What its rows and columns are.
    verdict : str
        One of them.
    flagged, n : int
        Claims to which the judge gave that verdict, and claims that it judged.
    design_effect : float, default 1
        Variance inflation of claims that come in clusters, as those of a case do.
    calibrated_for, used_judge : str, optional
        The judge of the matrix, and the one that gave the verdicts; where they differ, there is no number.

    Returns
    -------
    CorrectedRate
        With an interval that covers both sources of error (`neverempty.stats.corrected_rate`).

    Raises
    ------
    UsageError
        For an unknown verdict.

    Examples
    --------
    >>> rate = correct_by_matrix([[90, 10], [20, 80]], ["contradicted", "supported"], "contradicted", 30, 100)
    >>> rate.naive, rate.sensitivity, rate.specificity, round(rate.value, 4)
    (0.3, 0.9, 0.8, 0.1429)
    """
    if verdict not in labels:
        raise UsageError(f"there is no verdict {verdict!r}; there are {', '.join(labels)}")
    at = list(labels).index(verdict)
    tp, m_pos = int(matrix[at][at]), sum(matrix[at])
    m_neg = sum(map(sum, matrix)) - m_pos
    tn = m_neg - (sum(row[at] for row in matrix) - tp)
    return corrected_rate(
        flagged,
        n,
        tp,
        m_pos,
        tn,
        m_neg,
        design_effect=design_effect,
        calibrated_for=calibrated_for,
        used_judge=used_judge,
    )
