"""What can happen while people label: one event a line, checked when it is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

ACTIONS: Final = ("session", "label", "cant_tell", "later", "note", "goto", "overrule", "undo")
MARKING: Final = ("label", "cant_tell", "later", "note", "overrule")
"""Actions that change what is known of an item, and that can be undone."""
CANT_TELL: Final = "cant_tell"

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "session": ("order",),
    "label": ("label",),
    "cant_tell": ("reason",),
    "note": ("note",),
    "overrule": ("label", "reason"),
    "undo": ("of",),
}
_KEY: Final[Mapping[str, type]] = {"suite": str, "case_id": str, "arm": str, "repeat": int, "item": str}
_BOOLS: Final = ("blind", "revealed")
_LISTS: Final = ("order", "options", "tags")


class LabelKey(NamedTuple):
    """What a label belongs to; never a case alone.

    Parameters
    ----------
    suite, case_id, arm : str
        As in every frame; empty where there is none.
    repeat : int
        As in every frame.
    item : str
        What is labelled: the id of a claim or of an answer, or the name of an overruled metric.
    """

    suite: str
    case_id: str
    arm: str
    repeat: int
    item: str


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """One action of one annotator.

    Parameters
    ----------
    id : str
        Its own name; an event that stands twice in a file counts once.
    action : str
        One of `ACTIONS`.
    annotator : str
        Who.
    at : str
        When, in UTC, as ISO 8601.
    key : LabelKey or None
        What it is about; None for a session.
    label, reason, note : str or None
        What was said.
    was : str or None
        The label that an overruling replaces.
    judge_label, judge_id : str or None
        What a judge says of the item, and which judge.
    blind : bool or None
        Whether the annotator had seen no other label of the item.
    revealed : bool or None
        Whether the judge's label is shown once this event is stored.
    language : str or None
        The item's language.
    tags : tuple of str
        The item's kinds.
    options : tuple of str
        The labels in the order in which they were shown.
    of : str or None
        The event that an undo takes back.
    seed : int or None
        Of a session: what its shuffle was drawn from.
    order : tuple of str
        Of a session: its items as they come.
    """

    id: str
    action: str
    annotator: str
    at: str
    key: LabelKey | None = None
    label: str | None = None
    reason: str | None = None
    note: str | None = None
    was: str | None = None
    judge_label: str | None = None
    judge_id: str | None = None
    blind: bool | None = None
    revealed: bool | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    of: str | None = None
    seed: int | None = None
    order: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Give the event as plain values, without what it does not have."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        key = plain.pop("key")
        kept = {name: value for name, value in plain.items() if value is not None and value != ()}
        if self.action == "session":
            kept["order"] = list(self.order)
        return {**kept, **(key._asdict() if key else {})}


_TEXTS: Final = tuple(
    field.name for field in dataclasses.fields(LabelEvent) if field.type in ("str", "str | None")
)


def read_event(row: Any) -> LabelEvent | str:
    """Check one line of a label file.

    Parameters
    ----------
    row : object
        The JSON value.

    Returns
    -------
    LabelEvent or str
        The event, or what is wrong with the line. Fields that are not known are left out.

    Examples
    --------
    >>> read_event({"id": "1", "action": "lable", "annotator": "ann", "at": "2026-01-01T00:00:00Z"})
    "'action' is 'lable', none of session, label, cant_tell, later, note, goto, overrule, undo"
    """
    if not isinstance(row, dict):
        return f"an event is an object, not {type(row).__name__}"
    action = row.get("action")
    if action not in ACTIONS:
        return f"'action' is {action!r:.60}, none of {', '.join(ACTIONS)}"
    problem = _bad_field(row)
    if problem:
        return problem
    needed = ("id", "annotator", "at", *(() if action == "session" else _KEY), *_NEEDS.get(action, ()))
    missing = [name for name in needed if name not in row]
    if missing:
        return f"item {row.get('item')!r:.60}: a {action!r} event needs {', '.join(map(repr, missing))}"
    fields = {name: row.get(name) for name in (*_TEXTS, *_BOOLS, "seed")}
    lists = {name: tuple(row.get(name, ())) for name in _LISTS}
    key = None if action == "session" else LabelKey(*(row[name] for name in _KEY))
    return LabelEvent(key=key, **fields, **lists)  # type: ignore[arg-type]  # checked just above


def _bad_field(row: Mapping[str, Any]) -> str:
    """Say which field holds another type than it must."""
    kinds = {**dict.fromkeys(_TEXTS, str), **dict.fromkeys(_BOOLS, bool), **_KEY, "seed": int}
    for name, kind in kinds.items():
        value = row.get(name)
        if name in row and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            return f"{name!r} is {value!r:.60}, not {kind.__name__}"
    for name in _LISTS:
        value = row.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            return f"{name!r} is {value!r:.60}, not a list of texts"
    return ""
