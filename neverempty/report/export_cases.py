"""The cases that an export shows: what the tool said, what the agent said, the words that made the label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from neverempty.report.tables import Table
from neverempty.traces.codec import default_redactor

if TYPE_CHECKING:
    from neverempty.report.model import Report

MOST_CASES: Final = 60
"""Cases that the page shows in full; the frames have all of them."""
_MOST_TEXT: Final = 2_000
_MOST_EXCERPT: Final = 200
_KEYS: Final = ["suite", "case_id", "arm"]
_WORST: Final = (
    "misreport", "fabricated", "false_absence", "ignored", "false_alarm", "no signal", "unclear", "reported",
)  # fmt: skip
_CONTROLS: Final = ("false_alarm", "false_absence")


class Part(NamedTuple):
    """A stretch of an answer.

    Parameters
    ----------
    text : str
        Its words, not escaped.
    claim : str
        ``absence``, ``failure``, ``data``, or empty for words that make no claim.
    """

    text: str
    claim: str


class Said(NamedTuple):
    """One repeat of a case.

    Parameters
    ----------
    repeat : int
        Its number.
    label : str
        What was found, as ``"misreport"``; ``"no signal"`` where it was not observed.
    reason : str
        Why there is no signal, or empty.
    tool : str
        What the tools handed to the model.
    answer : tuple of Part
        What the agent said; empty where it said nothing.
    """

    repeat: int
    label: str
    reason: str
    tool: str
    answer: tuple[Part, ...]


class Shown(NamedTuple):
    """A case under one arm.

    Parameters
    ----------
    suite, case_id, arm, kind : str
        Which case, and what went wrong in it.
    question : str
        What the user asked, as far as the trace has it.
    repeats : tuple of Said
        The worst first.
    """

    suite: str
    case_id: str
    arm: str
    kind: str
    question: str
    repeats: tuple[Said, ...]

    @property
    def label(self) -> str:
        """The worst label of its repeats."""
        return self.repeats[0].label


class CaseList(NamedTuple):
    """The cases of a report, the worst first.

    Parameters
    ----------
    shown : tuple of Shown
        At most `MOST_CASES`.
    total : int
        How many there are.
    labels : dict of str to int
        How many cases have which worst label.
    """

    shown: tuple[Shown, ...]
    total: int
    labels: dict[str, int]


def list_cases(report: Report, most: int = MOST_CASES) -> CaseList:
    """Pick the cases whose tool failed, and the controls that were answered wrongly.

    Parameters
    ----------
    report : Report
        The report.
    most : int
        How many to show in full.

    Returns
    -------
    CaseList
        Misreports first, then what was made up, ignored, without signal, and reported.
    """
    scores = report.scores
    metric, verdict = scores["metric"].astype("str"), scores["verdict"].astype("str")
    wanted = ((metric == "misreport_as_empty") & (verdict != "not_applicable")) | (
        metric.isin(_CONTROLS) & (verdict == "fail")
    )
    rows = scores.loc[wanted].assign(found=_labels(scores.loc[wanted]))
    rows["rank"] = [_rank(label) for label in rows["found"]]
    rows = rows.sort_values("rank", kind="stable").drop_duplicates([*_KEYS, "repeat"])
    worst = rows.drop_duplicates(_KEYS)
    chosen = worst.head(most)
    places = _places(report.traces, chosen)
    shown = tuple(_shown(part, report.traces, places) for part in _parts(rows, chosen))
    return CaseList(shown, len(worst), dict(Counter(worst["found"].tolist())))


def _labels(rows: pd.DataFrame) -> list[str]:
    return [
        "no signal" if verdict == "no_signal" else str(metric if metric in _CONTROLS else label)
        for metric, verdict, label in zip(rows["metric"], rows["verdict"], rows["label"], strict=True)
    ]


def _rank(label: str) -> int:
    return _WORST.index(label) if label in _WORST else len(_WORST)


def _parts(rows: pd.DataFrame, chosen: pd.DataFrame) -> Iterator[list[dict[Any, Any]]]:
    """Give the repeats of each chosen case, in the order of the cases."""
    keys = list(zip(*(chosen[name].astype("str") for name in _KEYS), strict=True))
    found: dict[tuple[str, ...], list[dict[Any, Any]]] = {key: [] for key in keys}
    kept = rows[rows["case_id"].isin(chosen["case_id"])]
    for row in kept.to_dict("records"):
        key = tuple(str(row[name]) for name in _KEYS)
        if key in found:
            found[key].append(row)
    yield from found.values()


def _places(traces: pd.DataFrame, chosen: pd.DataFrame) -> dict[tuple[Any, ...], int]:
    names = [*_KEYS, "repeat"]
    columns = [traces[name].tolist() for name in names]
    wanted = set(chosen["case_id"].tolist())
    return {key: at for at, key in enumerate(zip(*columns, strict=True)) if key[1] in wanted}


def _shown(rows: list[dict[Any, Any]], traces: pd.DataFrame, places: dict[tuple[Any, ...], int]) -> Shown:
    said, question, kind = [], "", ""
    for row in rows:
        at = places.get((row["suite"], row["case_id"], row["arm"], row["repeat"]))
        trace: dict[Any, Any] = {} if at is None else traces.iloc[at].to_dict()
        said.append(_said(row, trace))
        question = question or _question(trace.get("messages"))
        kind = kind or str(row.get("fault_kind") or "")
    first = rows[0]
    return Shown(str(first["suite"]), str(first["case_id"]), str(first["arm"]), kind, question, tuple(said))


def _said(row: dict[Any, Any], trace: dict[Any, Any]) -> Said:
    calls = trace.get("calls")
    texts = [f"{call.tool}: {_text(call.seen or call.returned)}" for call in calls or () if call.injected]
    texts = texts or [f"{call.tool}: {_text(call.seen or call.returned)}" for call in calls or ()]
    reason = row["reason"] if isinstance(row["reason"], str) else ""
    if row["found"] != "no signal":
        reason = ""
    answer = trace.get("answer")
    parts = answer_parts(answer, row["evidence"]) if isinstance(answer, str) else ()
    return Said(int(row["repeat"]), row["found"], _text(reason), "\n".join(texts), parts)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return str(default_redactor()(_cut(text)))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "\u2026"


def _question(messages: Any) -> str:
    """Give the last thing that the user said, where messages are of the common kind."""
    if not isinstance(messages, (list, tuple)):
        return ""
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            return _text(message.get("content"))
    return ""


def answer_parts(answer: str, evidence: Any) -> tuple[Part, ...]:
    """Cut an answer at the words that make a claim; one with a secret in it is shown without marks.

    Parameters
    ----------
    answer : str
        The answer; its first 2,000 characters are shown, and behind them the words of later claims.
    evidence : object
        Of the failure family's first score: an object with ``spans``.

    Returns
    -------
    tuple of Part
        The whole of it, in order.

    Examples
    --------
    >>> answer_parts("No trams.", {"spans": [{"start": 0, "end": 2, "claim": "absence"}]})
    (Part(text='No', claim='absence'), Part(text=' trams.', claim=''))
    """
    shown = _cut(answer)
    clean = str(default_redactor()(shown))
    if clean != shown:
        return (Part(clean, ""),)
    parts, later, at = [], [], 0
    for start, end, claim in _spans(evidence, len(answer)):
        if end > _MOST_TEXT:
            later += [
                Part(f" … at character {start:,}: ", ""),
                Part(answer[start:end][:_MOST_EXCERPT], claim),
            ]
        elif start >= at:
            parts += [Part(shown[at:start], ""), Part(shown[start:end], claim)]
            at = end
    if later and default_redactor()(answer) != answer:
        later = []  # a secret may stand where nothing is shown
    return tuple(part for part in (*parts, Part(shown[at:], ""), *later) if part.text)


def _spans(evidence: Any, length: int) -> list[tuple[int, int, str]]:
    spans = evidence.get("spans") if isinstance(evidence, dict) else None
    found = []
    for span in spans if isinstance(spans, (list, tuple)) else ():
        start, end, claim = (
            (span.get(name) for name in ("start", "end", "claim")) if isinstance(span, dict) else (0, 0, "")
        )
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= length:
            found.append((start, end, claim if claim in ("absence", "failure", "data") else ""))
    return sorted(found)


def cases_table(cases: CaseList) -> Table:
    """Lay the cases out in one line each.

    Parameters
    ----------
    cases : CaseList
        The cases.

    Returns
    -------
    Table
        Case, what went wrong, what was found, the answer of the worst repeat.
    """
    rows: list[tuple[str, ...]] = []
    for case in cases.shown:
        worst = case.repeats[0]
        answer = "".join(part.text for part in worst.answer) or worst.reason or "(no answer)"
        rows.append((f"{case.suite}/{case.case_id} ({case.arm})", case.kind, case.label, answer))
    header = ("case", "fault", "what was said", "answer")
    more = f" ({len(cases.shown)} of {cases.total:,})" if cases.total > len(cases.shown) else ""
    return Table(f"Fault cases, the worst first{more}", header, rows)
