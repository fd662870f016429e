"""A labelling session without widgets: which item is next, and what each action puts on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.widgets.label_events import MARKING, LabelEvent, LabelKey
from neverempty.widgets.label_frames import JUDGE, LabelAgreement, disagreements, label_agreement
from neverempty.widgets.label_items import LabelItem, read_items, usual_labels
from neverempty.widgets.label_store import LabelStore, Mark

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.widgets.label_items import Items

MOST_LABELS: Final = 9  # one digit each
_PLACING: Final = (*MARKING, "undo", "goto")


class Progress(NamedTuple):
    """How far a session is.

    Parameters
    ----------
    labelled, cant_tell, deferred : int
        Items with a label, items that could not be told, items put off.
    total : int
        All items.
    """

    labelled: int
    cant_tell: int
    deferred: int
    total: int

    @property
    def left(self) -> int:
        """Items without a label, those put off among them."""
        return self.total - self.labelled - self.cant_tell


class LabelSession:
    """Label items one after the other; every action is on disk before the next item shows.

    Parameters
    ----------
    items : iterable of mapping, or DataFrame
        As for `label_items.read_items`.
    store : LabelStore or path-like
        Where the labels go; the same store and annotator go on where they were.
    annotator : str
        Who labels.
    labels : sequence of str, optional
        Two to nine labels; by default a judge's verdicts for claims, and what an answer claims for answers.
    seed : int, default 0
        Of the order, which is kept in the store and then no longer depends on it.
    blind : bool, default True
        Whether other labels (the judge's; in a session over disagreements, the two annotators') stay hidden
        until one's own is stored. Each label says whether it was made blind.
    reveal : bool, default True
        Whether the judge's label shows once one's own is stored.
    balance : bool, default True
        Whether every label stands at every place equally often; turn it off for labels with an order.
    between : tuple of (str, str), optional
        Two annotators, or one and ``"judge"``: only the items on which they differ.

    Raises
    ------
    UsageError
        Where labels, annotator or ``between`` make no sense.
    InputError
        Where items or the store cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> claims = [{"id": "a", "claim": "Two trams."}, {"id": "b", "claim": "No trams."}]
    >>> session = LabelSession(claims, folder.name + "/labels.jsonl", "ann")
    >>> session.later()
    >>> session.label("supported")
    >>> session.progress()
    Progress(labelled=1, cant_tell=0, deferred=1, total=2)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        items: Items,
        store: LabelStore | str | os.PathLike[str],
        annotator: str,
        *,
        labels: Sequence[str] | None = None,
        seed: int = 0,
        blind: bool = True,
        reveal: bool = True,
        balance: bool = True,
        between: tuple[str, str] | None = None,
    ) -> None:
        self.store = store if isinstance(store, LabelStore) else LabelStore(store)
        self.annotator, self.blind, self.reveal, self.balance = annotator, blind, reveal, balance
        known = read_items(items)
        self.labels = _checked(usual_labels(known) if labels is None else labels)
        self.between = between
        if between is not None:
            known = self._disputed(known, between)
        self.items = self._ordered(known, seed)
        self._at_of: dict[Any, int] = {item.key: at for at, item in enumerate(self.items)}
        self._marks = [self.store.mark(item.key, annotator) for item in self.items]
        self._seen = {one.key for one in self.store.events(annotator) if one.revealed}
        self._at = self._resumed()
        self.last: LabelItem | None = None

    def _disputed(self, items: list[LabelItem], between: tuple[str, str]) -> list[LabelItem]:
        if self.annotator in between:
            raise UsageError(f"{self.annotator!r} is one of the two who differ; decide under another name")
        strange = [who for who in between if who not in (*self.store.annotators(), JUDGE)]
        if strange or between[0] == JUDGE:
            raise UsageError(
                f"between is {between!r}; name two who labelled ({', '.join(self.store.annotators())}), "
                f"or one of them and {JUDGE!r}"
            )
        differ = set(disagreements(self.store, *between))
        return [item for item in items if item.key in differ]

    def _ordered(self, items: list[LabelItem], seed: int) -> list[LabelItem]:
        """Take the order from the store; shuffle what it does not know behind, and write that down."""
        by_name = {item.key.item: item for item in items}
        sessions = [one for one in self.store.events(self.annotator) if one.action == "session"]
        names = list(dict.fromkeys(name for one in sessions for name in one.order))
        known = set(names)
        fresh = [name for name in by_name if name not in known]
        mixed = [fresh[at] for at in np.random.default_rng(seed).permutation(len(fresh))]
        if mixed or not sessions:
            self.store.record("session", self.annotator, seed=seed, order=tuple(mixed), options=self.labels)
        return [by_name[name] for name in (*names, *mixed) if name in by_name]

    def _resumed(self) -> int | None:
        """Find the place at which the last action left the annotator."""
        for event in reversed(self.store.events(self.annotator)):
            if event.key in self._at_of and event.action in _PLACING:
                at = self._at_of[event.key]
                return at if event.action in ("undo", "goto", "note") else self._next(at)
        return self._next(-1)

    def _next(self, at: int) -> int | None:
        """Find the next untouched item, else the next that was put off, from a place on and around."""
        around: list[int] = [*range(at + 1, len(self.items)), *range(at + 1)]
        deferred: int | None = None
        for place in around:
            mark = self._marks[place]
            if mark.label is None and not mark.deferred:
                return place
            if mark.label is None and deferred is None:
                deferred = place
        return deferred

    @property
    def current(self) -> LabelItem | None:
        """The item that is shown; None when all are labelled."""
        return None if self._at is None else self.items[self._at]

    @property
    def place(self) -> int | None:
        """The shown item's number, from 1."""
        return None if self._at is None else self._at + 1

    @property
    def mark(self) -> Mark:
        """What was said of the shown item before."""
        return Mark() if self._at is None else self._marks[self._at]

    def mark_of(self, item: LabelItem) -> Mark:
        """Tell what this annotator last said of an item.

        Parameters
        ----------
        item : LabelItem
            One of the session's items.

        Returns
        -------
        Mark
            Empty where nothing was said.
        """
        return self._marks[self._at_of[item.key]]

    def options(self) -> tuple[str, ...]:
        """Give the labels in the order in which they stand beside the shown item.

        Returns
        -------
        tuple of str
            Over the session every label has every place equally often, where ``balance`` is on.
        """
        shift = (self._at or 0) % len(self.labels) if self.balance else 0
        return self.labels[shift:] + self.labels[:shift]

    def others(self) -> list[tuple[str, str]]:
        """List who else labelled the shown item and how, as far as it may be seen.

        Returns
        -------
        list of (str, str)
            Empty while one's own label is missing and the session is blind.
        """
        item = self.current
        if item is None or (self.blind and (self.mark.label is None or not self.reveal)):
            return []
        people = [who for who in self.between or () if who != JUDGE]
        said = [(who, self.store.mark(item.key, who).label) for who in people] + [(JUDGE, item.judge_label)]
        return [(who, label) for who, label in said if label is not None]

    def progress(self) -> Progress:
        """Count the items.

        Returns
        -------
        Progress
            Labelled, not to be told, put off, all.
        """
        told = [mark.said.action for mark in self._marks if mark.said is not None]
        cant = told.count("cant_tell")
        return Progress(len(told) - cant, cant, sum(mark.deferred for mark in self._marks), len(self.items))

    def label(self, value: str) -> None:
        """Label the shown item and go on.

        Parameters
        ----------
        value : str
            One of the labels.

        Raises
        ------
        UsageError
            For another label.
        """
        if value not in self.labels:
            hint = did_you_mean(value, self.labels)
            raise UsageError(f"there is no label {value!r}{hint}; there are {', '.join(self.labels)}")
        self._say("label", label=value)

    def cannot_tell(self, reason: str) -> None:
        """Say that the shown item cannot be told, and go on; it is counted, and in no agreement.

        Parameters
        ----------
        reason : str
            Why.

        Raises
        ------
        UsageError
            Without a reason.
        """
        if not reason.strip():
            raise UsageError("say why it cannot be told; without a reason, put it off instead")
        self._say("cant_tell", reason=reason.strip())

    def later(self) -> None:
        """Put the shown item off and go on; it comes again when the others are done."""
        self._say("later")

    def note(self, text: str) -> None:
        """Remark something on the shown item; an empty text takes the remark away.

        Parameters
        ----------
        text : str
            The remark.
        """
        item = self.current
        if item is not None:
            self.store.record("note", self.annotator, item.key, note=text.strip())
            self._marks[self._at_of[item.key]] = self.store.mark(item.key, self.annotator)

    def _say(self, action: str, **said: Any) -> None:
        item = self.current
        if item is None:
            return
        reveals = self.reveal and action != "later" and item.judge_label is not None
        self.store.record(
            action,
            self.annotator,
            item.key,
            judge_label=item.judge_label,
            judge_id=item.judge_id,
            language=item.language,
            tags=item.tags,
            options=self.options(),
            blind=self.blind and item.key not in self._seen,
            revealed=reveals,
            **said,
        )
        if reveals:
            self._seen.add(item.key)
        at = self._at_of[item.key]
        self._marks[at] = self.store.mark(item.key, self.annotator)
        self.last = None if action == "later" else item
        self._at = self._next(at)

    def undo(self) -> LabelEvent | None:
        """Take the last action back, one by one and across restarts, and return to its item.

        Returns
        -------
        LabelEvent or None
            What was taken back; None where nothing is left.
        """
        for event in reversed(self.store.events(self.annotator)):
            if event.key is not None and event.key in self._at_of and self.store.is_standing(event):
                self.store.record("undo", self.annotator, event.key, of=event.id)
                self._at = self._at_of[event.key]
                self._marks[self._at] = self.store.mark(event.key, self.annotator)
                self.last = None
                return event
        return None

    def goto(self, name: str) -> None:
        """Show an item, labelled or not.

        Parameters
        ----------
        name : str
            Its id, its case's id, or its number in the session's order, from 1.

        Raises
        ------
        UsageError
            Where there is none.
        """
        named = [item for item in self.items if name == item.key.item]
        named = named or [item for item in self.items if name == item.key.case_id]
        if not named and name.isascii() and name.isdecimal() and 1 <= int(name) <= len(self.items):
            named = [self.items[int(name) - 1]]
        if not named:
            hint = did_you_mean(name, [item.key.item for item in self.items])
            raise UsageError(f"there is no item {name!r}{hint}; give an id or a number to {len(self.items)}")
        self.store.record("goto", self.annotator, named[0].key)
        self._at = self._at_of[named[0].key]
        self.last = None

    def agreement(self, other: str = JUDGE) -> LabelAgreement:
        """Compare one's labels with the judge's or with another annotator's; only on request.

        Parameters
        ----------
        other : str, default "judge"
            The other.

        Returns
        -------
        LabelAgreement
            Over the items that both labelled.
        """
        self.store.refresh()
        return label_agreement(self.store, self.annotator, other, self._at_of.keys())

    def frame(self) -> pd.DataFrame:
        """Give this annotator's labels of this session; a judge's calibration reads them as they are.

        Returns
        -------
        DataFrame
            As from `LabelStore.labels`.
        """
        frame = self.store.labels(self.annotator)
        keys = zip(*(frame[name] for name in LabelKey._fields), strict=True)
        return frame.loc[[key in self._at_of for key in keys]].reset_index(drop=True)

    def __repr__(self) -> str:
        done = self.progress()
        return f"<LabelSession: {done.total - done.left} of {done.total} labelled by {self.annotator}>"


def _checked(labels: Sequence[str]) -> tuple[str, ...]:
    names = tuple(labels)
    usable = not isinstance(labels, str) and all(isinstance(name, str) and name.strip() for name in names)
    if not usable or len(set(names)) != len(names) or not 2 <= len(names) <= MOST_LABELS:
        raise UsageError(f"labels is {labels!r:.100}; give two to {MOST_LABELS} different texts")
    return names
