"""How often the answer reader is wrong: its claims against labelled answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from neverempty._errors import InputError
from neverempty._io import read_jsonl
from neverempty.claims import Reading, read_answer
from neverempty.claims.rulebook import patterns_version

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.stats import Estimate

FLAGS = ("absence", "failure", "both", "misreport")
_FAULT_LABELS = frozenset({"misreport", "honest", "ignored", "fabricated"})


class FlagScore(NamedTuple):
    """How one flag was read on one group of answers.

    Parameters
    ----------
    by, group
        ``all``, ``language`` or ``tag``, and which.
    flag
        ``absence``, ``failure``, ``both`` (the two pooled) or ``misreport``.
    tp, fp, fn, tn
        Answers on which the label and the reading agree that it is so, and so on.
    """

    by: str
    group: str
    flag: str
    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> Estimate:
        """The share of readings that the label bears out."""
        return _rate(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Estimate:
        """The share of labels that were read (the sensitivity)."""
        return _rate(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Estimate:
        """The share of answers without the flag that were read as without."""
        return _rate(self.tn, self.tn + self.fp)

    @property
    def f1(self) -> Estimate:
        """The harmonic mean of precision and recall.

        F1 = 2J / (1 + J), where J = tp / (tp + fp + fn) is a plain proportion; its Wilson interval carries
        over because the function is increasing.
        """
        ratio = _rate(self.tp, self.tp + self.fp + self.fn)
        value, lo, hi = (None if x is None else 2 * x / (1 + x) for x in (ratio.value, ratio.lo, ratio.hi))
        return dataclasses.replace(
            ratio, value=value, lo=lo, hi=hi, method="wilson of tp/(tp+fp+fn), transformed"
        )


class WrongRow(NamedTuple):
    """An answer of which a flag was read wrong.

    Parameters
    ----------
    id, language, text, tags
        The answer.
    wanted, read
        The flags of the label and of the reading, such as ``("absence",)``.
    rules
        What fired, as ``rule: words``.
    """

    id: str
    language: str
    text: str
    tags: tuple[str, ...]
    wanted: tuple[str, ...]
    read: tuple[str, ...]
    rules: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The reader's error on labelled answers.

    Parameters
    ----------
    version : str
        The version of the rules.
    n : int
        Answers scored.
    n_disputed : int
        Answers left out because their labellers disagree.
    n_unreadable : int
        Scored answers in a language without rules; nothing is read in them.
    scores : tuple of FlagScore
        Over all, by language and by tag, for each of ``FLAGS``.
    wrong : tuple of WrongRow
        The answers of which a flag was read wrong.

    Examples
    --------
    >>> row = {"id": "1", "text": "No trams found.", "language": "en"}
    >>> row |= {"absence_claim": True, "failure_mention": False}
    >>> evaluate([row]).score("absence").f1.value
    1.0
    """

    version: str
    n: int
    n_disputed: int
    n_unreadable: int
    scores: tuple[FlagScore, ...]
    wrong: tuple[WrongRow, ...]

    def score(self, flag: str, *, language: str | None = None, tag: str | None = None) -> FlagScore:
        """Pick the score of a flag: over all, of a language, or of a tag.

        Raises
        ------
        KeyError
            Where no such answers were scored.
        """
        by, group = ("language", language) if language else ("tag", tag) if tag else ("all", "all")
        for one in self.scores:
            if (one.by, one.group, one.flag) == (by, group, flag):
                return one
        raise KeyError(f"no answer was scored for the flag {flag!r} and {by} {group!r}")

    def as_dict(self) -> dict[str, Any]:
        """Give the evaluation as plain values for JSON."""
        return {
            "version": self.version,
            "n": self.n,
            "n_disputed": self.n_disputed,
            "n_unreadable": self.n_unreadable,
            "scores": [_flat(one) for one in self.scores],
            "wrong": [{**one._asdict()} for one in self.wrong],
        }

    def frame(self) -> pd.DataFrame:
        """Give the scores as a frame, one row per group and flag, with intervals."""
        import pandas as pd

        return pd.DataFrame([_flat(one) for one in self.scores])

    def __str__(self) -> str:
        """Show the scores over all and by language as a table."""
        left_out = f", {self.n_disputed} disputed ones left out" if self.n_disputed else ""
        lines = [f"{self.n} answers{left_out}; rules {self.version}"]
        lines.append(f"{'':10} {'flag':9} {'true':>5}  {'precision':20} {'recall':20} {'F1':20}")
        for one in self.scores:
            if one.by != "tag":
                three = " ".join(f"{_shown(value):20}" for value in (one.precision, one.recall, one.f1))
                lines.append(f"{one.group:10} {one.flag:9} {one.tp + one.fn:5}  {three}".rstrip())
        return "\n".join(lines)


def evaluate(rows: Iterable[Mapping[str, Any]]) -> Evaluation:
    """Read labelled answers and count where reading and label differ.

    Parameters
    ----------
    rows
        Mappings with ``id, text, language, absence_claim, failure_mention`` and optionally ``tool_outcome,
        label, tags, disputed``. Disputed rows are left out. Misreport is scored on rows whose outcome is
        ``error``.

    Returns
    -------
    Evaluation
        Precision, recall and F1 with intervals, over all, by language and by tag, and the rows read wrong.

    Raises
    ------
    InputError
        Where rows lack a field or give it a value of another type; all of them are named.

    Examples
    --------
    >>> row = {"id": "1", "text": "The server is down.", "language": "en"}
    >>> found = evaluate([row | {"absence_claim": False, "failure_mention": True}])
    >>> found.score("failure").recall.value, found.wrong
    (1.0, ())
    """
    checked = list(rows)
    problems = [problem for at, row in enumerate(checked, 1) for problem in _problems(row, f"row {at}")]
    if problems:
        raise InputError(problems)
    kept = [row for row in checked if not row.get("disputed")]
    counts: dict[tuple[str, str, str], list[int]] = {}
    wrong: list[WrongRow] = []
    unreadable = 0
    for row in kept:
        reading = read_answer(row["text"])
        unreadable += not reading.readable
        for flag, is_so, read in _pairs(row, reading):
            for by, group in _groups(row):
                cell = counts.setdefault((by, group, flag), [0, 0, 0, 0])
                cell[(2 if is_so else 3) if not read else (0 if is_so else 1)] += 1
        if (bool(reading.absence), bool(reading.failure)) != (row["absence_claim"], row["failure_mention"]):
            wrong.append(_wrong(row, reading))
    scores = tuple(FlagScore(*key, *cell) for key, cell in sorted(counts.items(), key=_order))
    return Evaluation(
        patterns_version(), len(kept), len(checked) - len(kept), unreadable, scores, tuple(wrong)
    )


def load_answers(path: str | Path) -> list[dict[str, Any]]:
    """Read labelled answers from a JSONL file.

    Parameters
    ----------
    path
        The file, one answer per line.

    Raises
    ------
    InputError
        Where lines cannot be read or lack a field; every one is named with its line number.
    """
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    for number, row in read_jsonl(path):
        problems += _problems(row, f"{path}:{number}")
        rows.append(row)
    if problems:
        raise InputError(problems)
    return rows


def _problems(row: Any, where: str) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield f"{where}: an answer is an object with id, text and its labels, not {type(row).__name__}"
        return
    for field, kind in (
        ("id", str),
        ("text", str),
        ("language", str),
        ("absence_claim", bool),
        ("failure_mention", bool),
    ):
        if not isinstance(row.get(field), kind):
            given = f"is {row[field]!r}" if field in row else "is missing"
            yield f"{where}: {field!r} {given}; it must be {'text' if kind is str else 'true or false'}"


def _pairs(row: Mapping[str, Any], reading: Reading) -> Iterator[tuple[str, bool, bool]]:
    """Yield each flag with its label and its reading; the pooled one twice."""
    absence, failure = bool(reading.absence), bool(reading.failure)
    yield "absence", row["absence_claim"], absence
    yield "failure", row["failure_mention"], failure
    yield "both", row["absence_claim"], absence
    yield "both", row["failure_mention"], failure
    label = row.get("label")
    if row.get("tool_outcome") == "error" and (label is None or label in _FAULT_LABELS):
        yield "misreport", row["absence_claim"] if label is None else label == "misreport", absence


def _groups(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("all", "all"),
        ("language", row["language"]),
        *(("tag", tag) for tag in dict.fromkeys(row.get("tags") or ())),
    ]


def _order(item: tuple[tuple[str, str, str], list[int]]) -> tuple[int, str, int]:
    by, group, flag = item[0]
    return ("all", "language", "tag").index(by), group, FLAGS.index(flag)


def _wrong(row: Mapping[str, Any], reading: Reading) -> WrongRow:
    wanted = [
        flag for flag, field in (("absence", "absence_claim"), ("failure", "failure_mention")) if row[field]
    ]
    return WrongRow(
        id=row["id"],
        language=row["language"],
        text=row["text"],
        tags=tuple(row.get("tags") or ()),
        wanted=tuple(wanted),
        read=tuple(flag for flag in ("absence", "failure") if getattr(reading, flag)),
        rules=tuple(f"{span.rule}: {span.text}" for span in reading.absence + reading.failure),
    )


def _rate(x: int, n: int) -> Estimate:
    from neverempty.stats import wilson_interval

    return wilson_interval(x, n)


def _flat(one: FlagScore) -> dict[str, Any]:
    flat: dict[str, Any] = one._asdict()
    for name in ("precision", "recall", "specificity", "f1"):
        estimate: Estimate = getattr(one, name)
        flat |= {name: estimate.value, f"{name}_lo": estimate.lo, f"{name}_hi": estimate.hi}
    return flat


def _shown(estimate: Estimate) -> str:
    if estimate.value is None or estimate.lo is None or estimate.hi is None:
        return "not measured"
    return f"{estimate.value:.3f} ({estimate.lo:.2f}-{estimate.hi:.2f})"
