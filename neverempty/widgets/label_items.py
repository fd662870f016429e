"""What is labelled: rows of any kind, brought into one shape, with what an annotator may see of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neverempty._errors import InputError
from neverempty._io import dumps
from neverempty.judge import VERDICTS
from neverempty.widgets.label_events import LabelKey

if TYPE_CHECKING:
    import pandas as pd

    Items = Iterable[Mapping[str, Any]] | pd.DataFrame

ANSWER_LABELS: Final = ("absence", "failure", "data", "none")
"""What an answer claims; the labels of answers, where none are given."""
_PARTS: Final = ("question", "context", "evidence", "claim", "answer")


class LabelItem(NamedTuple):
    """One thing to label.

    Parameters
    ----------
    key : LabelKey
        What its labels belong to.
    parts : tuple of (str, str)
        What is shown, as heading and text. A row's other fields never are: they may hold a verdict.
    judge_label, judge_id : str or None
        What a judge says of it, and which judge.
    language : str or None
        Its language.
    tags : tuple of str
        Its kinds.
    """

    key: LabelKey
    parts: tuple[tuple[str, str], ...]
    judge_label: str | None = None
    judge_id: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def has_claim(self) -> bool:
        """Whether it is a claim rather than an answer."""
        return any(heading == "claim" for heading, _ in self.parts)


def read_items(items: Items) -> list[LabelItem]:
    """Read what is to be labelled.

    Parameters
    ----------
    items : iterable of mapping, or DataFrame
        Rows with ``id`` (or ``item``), or with ``case_id`` and, where there are any, ``suite``, ``arm`` and
        ``repeat``. Shown are ``question`` or ``messages``, ``context``, ``evidence``, ``claim`` and
        ``answer``; kept are ``judge_label`` (or ``outcome``), ``judge_id``, ``language`` and ``tags``.

    Returns
    -------
    list of LabelItem
        In order.

    Raises
    ------
    InputError
        Lists every row without a name, with a name that another one has, or with nothing to show.

    Examples
    --------
    >>> item = read_items([{"case_id": "ferry", "arm": "typed", "repeat": 2, "answer": ""}])[0]
    >>> item.key.item, item.parts
    ('ferry/typed/2', (('answer', ''),))
    """
    rows = items.to_dict("records") if hasattr(items, "to_dict") else list(items)
    problems: list[str] = []
    found: dict[str, LabelItem] = {}
    for at, row in enumerate(rows, 1):
        item = _read(row, f"item {at}", problems)
        if item is not None and item.key.item in found:
            problems.append(f"item {at}: {item.key.item!r} stands twice; give each row an 'id' of its own")
        elif item is not None:
            found[item.key.item] = item
    if problems:
        raise InputError(problems)
    return list(found.values())


def _read(row: Any, where: str, problems: list[str]) -> LabelItem | None:
    if not isinstance(row, Mapping):
        problems.append(f"{where} is {type(row).__name__}, not a mapping")
        return None
    known = {key: value for key, value in row.items() if not _is_missing(value)}
    repeat = _whole(known.get("repeat", 0))
    if repeat is None:
        problems.append(f"{where}: 'repeat' is {known['repeat']!r:.60}, not a whole number")
        return None
    place = [str(known[name]) for name in ("suite", "case_id", "arm") if name in known]
    place += [str(repeat)] if "repeat" in known else []
    name = str(known.get("id", known.get("item", "/".join(place) if "case_id" in known else "")))
    parts = tuple(_parts(known))
    if not name:
        problems.append(f"{where} has neither 'id' nor 'case_id'")
    elif not parts:
        problems.append(f"{where} ({name!r:.60}) has nothing to show: no {', '.join(_PARTS)} or messages")
    else:
        suite, case, arm = (
            str(known.get(key, other)) for key, other in (("suite", ""), ("case_id", name), ("arm", ""))
        )
        tags = known.get("tags", ())
        judged, judge = known.get("judge_label", known.get("outcome")), known.get("judge_id")
        return LabelItem(
            LabelKey(suite, case, arm, repeat, name),
            parts,
            None if judged is None else str(judged),
            None if judge is None else str(judge),
            str(known["language"]) if "language" in known else None,
            (tags,) if isinstance(tags, str) else tuple(map(str, tags)),
        )
    return None


def _parts(row: Mapping[Any, Any]) -> Iterable[tuple[str, str]]:
    """Give what is shown; an empty answer is an answer."""
    if "question" not in row and isinstance(row.get("messages"), (list, tuple)):
        yield from _conversation(row["messages"], row.get("answer"))
    for name in _PARTS:
        value = row.get(name)
        pieces = list(value) if isinstance(value, (list, tuple)) else [value]
        if name in row and (value != "" or name == "answer"):
            yield from ((name, _text(one)) for one in pieces)


def _conversation(messages: Sequence[Any], answer: Any) -> Iterable[tuple[str, str]]:
    """Give a conversation up to the answer that is labelled; a tool's words follow its name."""
    for message in messages:
        if not isinstance(message, Mapping):
            yield "message", _text(message)
            continue
        calls, content = message.get("tool_calls"), message.get("content")
        if calls:
            yield "tool call", _text(calls)
        is_answer = message.get("role") == "assistant" and content == answer
        if content not in (None, "") and not is_answer:
            name = message.get("name")
            yield f"{message.get('role', 'message')}{f' {name}' if name else ''}", _text(content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _whole(value: Any) -> int | None:
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return whole if isinstance(value, str) or whole == value else None


def _is_missing(value: Any) -> bool:
    # pandas' NA is neither equal to itself nor a float, and says so by its type's name without pandas.
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def usual_labels(items: Sequence[LabelItem]) -> tuple[str, ...]:
    """Choose labels where none are given.

    Parameters
    ----------
    items : sequence of LabelItem
        What is labelled.

    Returns
    -------
    tuple of str
        A judge's verdicts for claims, what an answer claims for answers.
    """
    return VERDICTS if all(item.has_claim for item in items) else ANSWER_LABELS
