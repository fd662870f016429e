"""Rates corrected for an imperfect judge, with an interval that covers both sources of error."""

from __future__ import annotations

import dataclasses
import math

from neverempty.stats import _validate as check
from neverempty.stats._estimate import Estimate, Status


@dataclasses.dataclass(frozen=True)
class CorrectedRate(Estimate):
    """A judge-derived rate after correction; `naive` is the share flagged, `unclipped` the raw solution."""

    naive: float | None = None
    unclipped: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None


def _lang_reiczigel(
    flagged: float, n: float, tp: int, m_pos: int, tn: int, m_neg: int, conf: float
) -> tuple[float, float]:
    """Unclipped bounds after Lang and Reiczigel: Agresti-Coull-like shrinkage, then the delta method."""
    z = check.z_value(conf)
    n_adj, p = n + z * z, (flagged + z * z / 2.0) / (n + z * z)
    se, sp = (tp + 1.0) / (m_pos + 2.0), (tn + 1.0) / (m_neg + 2.0)
    v_se, v_sp = se * (1.0 - se) / (m_pos + 2.0), sp * (1.0 - sp) / (m_neg + 2.0)
    youden = se + sp - 1.0
    theta = (p + sp - 1.0) / youden
    shift = 2.0 * z * z * (theta * v_se - (1.0 - theta) * v_sp)
    spread = math.sqrt(p * (1.0 - p) / n_adj + (1.0 - theta) ** 2 * v_sp + theta**2 * v_se) / youden
    return theta + shift - z * spread, theta + shift + z * spread


def corrected_rate(
    flagged: int,
    n: int,
    tp: int,
    m_pos: int,
    tn: int,
    m_neg: int,
    conf: float = 0.95,
    *,
    design_effect: float = 1.0,
    calibrated_for: str | None = None,
    used_judge: str | None = None,
) -> CorrectedRate:
    """Rate behind a judge's flags, corrected for its sensitivity and specificity.

    Rogan and Gladen's estimate (flagged/n + sp - 1) / (se + sp - 1) with the interval of Lang and
    Reiczigel, clipped to [0, 1]. Sensitivity measured on planted defects speaks for planted defects:
    that it holds for real ones is an assumption, to be stated beside the number.

    Parameters
    ----------
    flagged, n : int
        Answers flagged by the judge, and judged.
    tp, m_pos : int
        Labelled positives that the judge flagged, and all labelled positives.
    tn, m_neg : int
        Labelled negatives that the judge did not flag, and all labelled negatives.
    design_effect : float, default 1
        Variance inflation of answers that come in clusters, as repeats of a case do; the interval is that of
        n / design_effect answers.
    conf, calibrated_for, used_judge
        Confidence level; hashes of (model, prompt, rubric) behind labels and flags: stale if they differ.

    Returns
    -------
    CorrectedRate
        Status ``clipped``: the estimate lay outside [0, 1]. ``inconsistent``: the whole interval did,
        so the calibration contradicts the data. ``judge_uninformative``: se + sp <= 1, if only after
        the interval's shrinkage.
        ``not_measured``: no answers or no labels of one kind, or a stale calibration.

    Raises
    ------
    ValueError
        If a count is negative, not whole, or exceeds its total, or the design effect is not positive.

    References
    ----------
    Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71-76; Lang and Reiczigel (2014), Prev. Vet. Med.
    113, 13-22.

    Examples
    --------
    >>> e = corrected_rate(20, 210, tp=46, m_pos=50, tn=48, m_neg=50)
    >>> round(e.value, 4), round(e.lo, 4), round(e.hi, 4)
    (0.0628, 0.0, 0.1319)
    """
    check.open_unit("conf", conf)
    deff = check.finite("design_effect", design_effect)
    if deff <= 0.0:
        raise ValueError(f"design_effect must be positive; got {deff}")
    flagged, n = check.count_of("flagged", flagged, "n", n)
    tp, m_pos = check.count_of("tp", tp, "m_pos", m_pos)
    tn, m_neg = check.count_of("tn", tn, "m_neg", m_neg)
    why = _why_not_measured(n, m_pos, m_neg, calibrated_for, used_judge)
    return _correct((flagged, n, tp, m_pos, tn, m_neg), conf, deff, why)


def _correct(
    counts: tuple[int, int, int, int, int, int], conf: float, deff: float, missing: str
) -> CorrectedRate:
    flagged, n, tp, m_pos, tn, m_neg = counts
    head = CorrectedRate(
        None,
        n=n,
        conf=conf,
        method="rogan_gladen_lang_reiczigel",
        status="not_measured",
        reason=missing or "not solved yet",
        naive=flagged / n if n else None,
        sensitivity=tp / m_pos if m_pos else None,
        specificity=tn / m_neg if m_neg else None,
    )
    if missing:
        return head
    if tp * m_neg + tn * m_pos <= m_pos * m_neg:
        reason = "sensitivity + specificity <= 1: the judge's flags carry no information"
        return dataclasses.replace(head, status="judge_uninformative", reason=reason)
    if (tp + 1) * (m_neg + 2) + (tn + 1) * (m_pos + 2) <= (m_pos + 2) * (m_neg + 2):
        reason = f"{m_pos} + {m_neg} labels are too few to tell the judge from a coin"
        return dataclasses.replace(head, status="judge_uninformative", reason=reason)
    sp, youden = tn / m_neg, tp / m_pos + tn / m_neg - 1.0
    theta = (flagged / n + sp - 1.0) / youden
    lo, hi = _lang_reiczigel(flagged / deff, n / deff, tp, m_pos, tn, m_neg, conf)
    status, reason = _position(theta, lo, hi)
    return dataclasses.replace(
        head, value=_clip(theta), lo=_clip(lo), hi=_clip(hi), status=status, reason=reason, unclipped=theta
    )


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _why_not_measured(n: int, m_pos: int, m_neg: int, calibrated_for: str | None, used: str | None) -> str:
    if n == 0:
        return "no judged answer"
    if m_pos == 0 or m_neg == 0:
        return f"the judge's {'sensitivity' if m_pos == 0 else 'specificity'} has no label behind it"
    if calibrated_for is not None and used is not None and calibrated_for != used:
        return f"stale calibration: labels belong to judge {calibrated_for}, flags to {used}; calibrate again"
    return ""


def _position(theta: float, lo: float, hi: float) -> tuple[Status, str]:
    if hi < 0.0 or lo > 1.0:
        return "inconsistent", "the whole interval lies outside [0, 1]: the calibration contradicts the data"
    # A solution that misses the edge by rounding only is not outside.
    if theta < -1e-12 or theta > 1.0 + 1e-12:
        return "clipped", f"the estimate {theta:.4f} lies outside [0, 1]"
    return "ok", ""


def allocate_labels(budget: int, theta: float, sensitivity: float, specificity: float) -> tuple[int, int]:
    """Split labels between true positives and true negatives so that the corrected rate is sharpest.

    Parameters
    ----------
    budget : int
        Labels that can be afforded, at least 2.
    theta : float
        Expected rate.
    sensitivity, specificity : float
        Expected quality of the judge.

    Returns
    -------
    tuple of int
        (positives, negatives), each at least 1: proportional to theta sqrt(se (1 - se)) and
        (1 - theta) sqrt(sp (1 - sp)), which minimises their part of the variance.

    Raises
    ------
    ValueError
        If the budget is below 2 or a probability outside [0, 1].

    Examples
    --------
    >>> allocate_labels(200, theta=0.1, sensitivity=0.8, specificity=0.95)
    (34, 166)
    """
    total = check.count("budget", budget, 2)
    theta = check.probability("theta", theta)
    se, sp = check.probability("sensitivity", sensitivity), check.probability("specificity", specificity)
    pos, neg = theta * math.sqrt(se * (1.0 - se)), (1.0 - theta) * math.sqrt(sp * (1.0 - sp))
    share = 0.5 if pos + neg == 0.0 else pos / (pos + neg)
    positives = min(max(round(total * share), 1), total - 1)
    return positives, total - positives
