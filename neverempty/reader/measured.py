"""The reader's error as it was measured, shipped with the rules that it belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from neverempty._errors import InputError
from neverempty.claims import LANGUAGES, Reading, read_answer
from neverempty.claims.rulebook import patterns_version
from neverempty.reader.evaluation import Evaluation, FlagScore
from neverempty.stats import Estimate

FILE: Final = "measured.json"
HEADLINE_TRUTHS: Final[Mapping[str, tuple[str, ...]]] = {
    "misreport_as_empty": ("error",),
    "false_alarm": ("empty", "ok"),
    "undisclosed": ("error",),
}
"""The headline metrics, and the outcomes of a tool over which each is asked."""

_TITLES: Final = {
    "absence": "Claims of absence",
    "failure": "Mentions of a failure",
    "misreport": "Misreports (after a failed look-up)",
}


class ReaderError(NamedTuple):
    """How often the reader sees a headline where people see one, and none where they see none.

    Parameters
    ----------
    tp, m_pos
        Labelled answers with the headline that were read so, and all of them (sensitivity = tp / m_pos).
    tn, m_neg
        Labelled answers without it that were read so, and all of them (specificity = tn / m_neg).
    """

    tp: int
    m_pos: int
    tn: int
    m_neg: int


def count_errors(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, ReaderError]]:
    """Count, on labelled answers, how often the reader gets each headline right.

    An absence claim beats a failure mention, as in the scores. Disputed rows and rows without a
    ``tool_outcome`` are left out.

    Parameters
    ----------
    rows
        As for `evaluate`.

    Returns
    -------
    dict of str to dict
        Language → headline metric → counts; languages and metrics in sorted order.

    Examples
    --------
    >>> row = {"id": "1", "text": "No trams found.", "language": "en", "tool_outcome": "error"}
    >>> count_errors([row | {"absence_claim": True, "failure_mention": False}])["en"]["misreport_as_empty"]
    ReaderError(tp=1, m_pos=1, tn=0, m_neg=0)
    """
    counts: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        if row.get("disputed"):
            continue
        reading = read_answer(row["text"])
        for metric, truths in HEADLINE_TRUTHS.items():
            if row.get("tool_outcome") not in truths:
                continue
            is_so = _hits(metric, row["absence_claim"], row["failure_mention"])
            right = is_so == _read_hits(metric, reading)
            cell = counts.setdefault(row["language"], {}).setdefault(metric, [0, 0, 0, 0])
            first = 0 if is_so else 2
            cell[first] += right
            cell[first + 1] += 1
    return {
        language: {metric: ReaderError(*cell) for metric, cell in sorted(found.items())}
        for language, found in sorted(counts.items())
    }


def _hits(metric: str, absence: bool, failure: bool) -> bool:
    if metric == "misreport_as_empty":
        return absence
    reported = failure and not absence
    return reported if metric == "false_alarm" else not reported


def _read_hits(metric: str, reading: Reading) -> bool:
    return _hits(metric, bool(reading.absence), bool(reading.failure))


def as_json(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Give what the shipped file holds: the version of the rules, and the counts by language and metric.

    Parameters
    ----------
    rows
        As for `evaluate`.

    Returns
    -------
    dict
        Plain values.
    """
    found = count_errors(rows)
    return {
        "pattern_version": patterns_version(),
        "languages": {
            language: {metric: list(cell) for metric, cell in metrics.items()}
            for language, metrics in found.items()
        },
    }


def error_page(found: Evaluation) -> str:
    """Write an evaluation as a page of Markdown.

    Parameters
    ----------
    found : Evaluation
        Of the frozen answers.

    Returns
    -------
    str
        Precision, recall and specificity with 95 % intervals: over all, then each flag by language.
    """
    parts = [
        "# The reader's error on the frozen answers",
        f"{found.n:,} answers; rules {found.version}; 95 % intervals of Wilson.",
    ]
    for flag, title in _TITLES.items():
        lines = ["| answers | so labelled | precision | recall | specificity |", "|---|---|---|---|---|"]
        lines += [_error_line(one) for one in found.scores if one.flag == flag and one.by != "tag"]
        parts += [f"## {title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _error_line(one: FlagScore) -> str:
    shares = " | ".join(_share(share) for share in (one.precision, one.recall, one.specificity))
    return f"| {one.group} | {one.tp + one.fn} of {one.tp + one.fp + one.fn + one.tn} | {shares} |"


def _share(share: Estimate) -> str:
    if share.value is None or share.lo is None or share.hi is None:
        return "not measured"
    return f"{share.value:.3f} ({share.lo:.2f} to {share.hi:.2f})"


@cache
def _shipped() -> dict[str, Any]:
    text = resources.files("neverempty.reader").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def measured_error(language: str, metric: str, pattern_version: str) -> ReaderError:
    """Look up the reader's error for a language, as measured on answers that no rule was tuned on.

    Parameters
    ----------
    language : str
        Code of the language, as in `neverempty.claims.LANGUAGES`.
    metric : str
        A headline metric.
    pattern_version : str
        The rules that read the answers.

    Returns
    -------
    ReaderError
        The counts.

    Raises
    ------
    InputError
        Where nothing was measured; it says why.

    Examples
    --------
    >>> measured_error("en", "misreport_as_empty", patterns_version()).m_pos > 20
    True
    >>> measured_error("sv", "misreport_as_empty", patterns_version())
    Traceback (most recent call last):
    neverempty._errors.InputError: the reader has no rules for the language 'sv'
    """
    if language not in LANGUAGES:
        raise InputError([f"the reader has no rules for the language {language!r}"])
    shipped = _shipped()
    if shipped["pattern_version"] != pattern_version:
        raise InputError(
            [f"the reader's error was measured for rules {shipped['pattern_version']}, not {pattern_version}"]
        )
    cell = shipped["languages"].get(language, {}).get(metric)
    if cell is None:
        raise InputError([f"no labelled answers measure {metric} for the language {language!r}"])
    return ReaderError(*cell)
