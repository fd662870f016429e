"""The badge: shields endpoint JSON that shows a number only where one was earned."""

from __future__ import annotations

from typing import Final

from neverempty._io import dumps
from neverempty.report import numbers
from neverempty.report.export_content import Content
from neverempty.scorers import HEADLINES

LABEL: Final = "neverempty"
UNKNOWN: Final = "n/a"
_GREY: Final = "lightgrey"
_COLORS: Final = {"good": "brightgreen", "bad": "red", "plain": "blue"}
_NAMES: Final = {
    "misreport_as_empty": "misreports",
    "false_alarm": "false alarms",
    "undisclosed": "undisclosed",
}


def badge_json(content: Content | None) -> str:
    """Write the badge.

    Parameters
    ----------
    content : Content or None
        What is exported; None where there is nothing to export.

    Returns
    -------
    str
        The endpoint's JSON. ``n/a`` unless the report is ``ok``, at least fifty cases with a failed tool were
        measured under every arm, and no gate left it inconclusive. All three headlines stand in it, since an
        agent can always have a good one; of several arms each shows the worst.

    Examples
    --------
    >>> print(badge_json(None), end="")
    {"color":"lightgrey","label":"neverempty","message":"n/a","schemaVersion":1}
    """
    message, color = (UNKNOWN, _GREY) if content is None else _message(content)
    return dumps({"schemaVersion": 1, "label": LABEL, "message": message, "color": color}) + "\n"


def _message(content: Content) -> tuple[str, str]:
    rates = [_worst(content, name) for name in HEADLINES]
    if content.heading.tone == "unsure" or rates[0] is None:
        return UNKNOWN, _GREY
    shown = [
        f"{_NAMES[name]} {UNKNOWN if rate is None else numbers.percent(rate)}"
        for name, rate in zip(HEADLINES, rates, strict=True)
    ]
    verdict = [] if content.decision is None else [content.heading.word.lower()]
    return ", ".join([*verdict, *shown]), _COLORS[content.heading.tone]


def _worst(content: Content, metric: str) -> float | None:
    """Give the highest rate over the arms; None unless that of every arm is earned."""
    rows = content.metrics[content.metrics["metric"].astype("str") == metric]
    asked = rows[rows["n_applicable"] > 0]
    if asked.empty or (asked["n_measured"] < numbers.ENOUGH).any() or asked["value"].isna().any():
        return None
    return float(asked["value"].max())
