"""Human labels of claims: from a file, a frame, or rows, each problem named with its place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neverempty._errors import InputError
from neverempty._io import read_jsonl
from neverempty.judge.verdicts import OUTCOMES, VERDICTS

if TYPE_CHECKING:
    import pandas as pd

    Labels = str | os.PathLike[str] | Iterable[Mapping[str, Any]] | pd.DataFrame

CANT_TELL: Final = "cant_tell"
_PLAIN: Final = ("claim", "language", "judge_id")
_LISTS: Final = ("evidence", "tags")
INJECTION: Final = "injection"
"""Tag of a claim whose evidence, or which itself, tries to give the judge orders."""


class Labelled(NamedTuple):
    """A claim with its human label.

    Parameters
    ----------
    id : str
        Its name.
    label : str or None
        A verdict; None where the annotator could not tell.
    claim : str
        The claim; empty where only labels are at hand.
    evidence : tuple of str
        What it is held against.
    language : str or None
        Its language.
    tags : tuple of str
        Its kinds.
    judged : str or None
        What a judge said of it, where the row has that.
    judge_id : str or None
        Which judge.
    """

    id: str
    label: str | None
    claim: str = ""
    evidence: tuple[str, ...] = ()
    language: str | None = None
    tags: tuple[str, ...] = ()
    judged: str | None = None
    judge_id: str | None = None


def read_labels(labels: Labels) -> list[Labelled]:
    """Read human labels.

    Parameters
    ----------
    labels : path-like, DataFrame or iterable of mapping
        A JSONL file, the frame of a label store, or rows. Read are ``id`` (or ``item``), ``label`` (or
        ``human``), ``claim``, ``evidence``, ``language``, ``tags``, ``judge_label`` (or ``judge``) and
        ``judge_id``.

    Returns
    -------
    list of Labelled
        In order.

    Raises
    ------
    InputError
        Lists every row that has no id or no known label, and every id that stands twice.

    Examples
    --------
    >>> read_labels([{"id": "1", "label": "supported", "language": "en"}])[0].label
    'supported'
    """
    if isinstance(labels, (str, os.PathLike)):
        placed = [(f"{labels}:{number}", row) for number, row in read_jsonl(labels)]
    else:
        rows = labels.to_dict("records") if hasattr(labels, "to_dict") else list(labels)
        placed = [(f"label {number}", row) for number, row in enumerate(rows, 1)]
    problems: list[str] = []
    found: dict[str, Labelled] = {}
    for where, row in placed:
        label = _read(row, where, problems)
        if label is not None and label.id in found:
            problems.append(f"{where}: the id {label.id!r} stands twice")
        elif label is not None:
            found[label.id] = label
    if problems:
        raise InputError(problems)
    return list(found.values())


def _read(row: Any, where: str, problems: list[str]) -> Labelled | None:
    if not isinstance(row, Mapping):
        problems.append(f"{where}: a label is an object, not {type(row).__name__}")
        return None
    known = {key: value for key, value in row.items() if not _is_missing(value)}
    name = known.get("id", known.get("item"))
    label = known.get("label", known.get("human"))
    judged = known.get("judge_label", known.get("judge", known.get("outcome")))
    problem = _problem(row, known, (name, label, judged))
    if problem is not None:
        problems.append(f"{where}: {problem}")
        return None
    claim, language, judge_id = (known.get(field) for field in _PLAIN)
    evidence, tags = (_texts(known.get(field)) for field in _LISTS)
    human = None if label == CANT_TELL else label
    return Labelled(str(name), human, claim or "", evidence, language, tags, judged, judge_id)


def _problem(row: Mapping[str, Any], known: dict[str, Any], said: tuple[Any, Any, Any]) -> str | None:
    name, label, judged = said
    if not isinstance(name, str) or not name:
        return f"'id' is {name!r}; it must be a text"
    if "label" not in row and "human" not in row:
        return f"{name!r} has no 'label'; where nobody could tell, it is {CANT_TELL}"
    if label is not None and label not in (*VERDICTS, CANT_TELL):
        return f"'label' of {name!r} is {label!r}, none of {', '.join(VERDICTS)}, {CANT_TELL}"
    if judged is not None and judged not in OUTCOMES:
        return f"'judge_label' of {name!r} is {judged!r}, nothing that a judge can say"
    for field in _PLAIN:
        if not isinstance(known.get(field, ""), str):
            return f"{field!r} of {name!r} is {known[field]!r:.60}; it must be a text"
    for field in _LISTS:
        value = known.get(field, "")
        if not isinstance(value, (str, list, tuple)) or not all(isinstance(one, str) for one in value):
            return f"{field!r} of {name!r} is {value!r:.60}; it must be a text or a list of texts"
    return None


def _texts(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' own marks, which equal nothing, from a value."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )


def read_judged(path: str | os.PathLike[str]) -> dict[str, tuple[str, str | None]]:
    """Read what a judge said of claims.

    Parameters
    ----------
    path : path-like
        A JSONL file with ``id``, ``outcome`` and ``judge_id``.

    Returns
    -------
    dict of str to (str, str or None)
        Outcome and judge by claim.

    Raises
    ------
    InputError
        Lists every line that says nothing a judge can say, and every id that stands twice.
    """
    found: dict[str, tuple[str, str | None]] = {}
    problems: list[str] = []
    for number, row in read_jsonl(Path(path)):
        where = f"{path}:{number}"
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            problems.append(f"{where}: 'id' is missing")
        elif row.get("outcome") not in OUTCOMES:
            problems.append(f"{where}: 'outcome' is {row.get('outcome')!r}, nothing that a judge can say")
        elif row["id"] in found:
            problems.append(f"{where}: the id {row['id']!r} stands twice")
        else:
            found[row["id"]] = (row["outcome"], row.get("judge_id"))
    if problems:
        raise InputError(problems)
    return found
