"""The file behind the panels: every action is on disk before the next item shows, and none is there twice."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from neverempty._errors import InputError, UsageError
from neverempty._io import dumps
from neverempty._json import BOM, JsonError, loads_strict
from neverempty.widgets.label_events import CANT_TELL, MARKING, LabelEvent, LabelKey, read_event

if TYPE_CHECKING:
    import pandas as pd


class Mark(NamedTuple):
    """What one annotator last said of one item.

    Parameters
    ----------
    label : str or None
        The label, or ``"cant_tell"``; None where there is none yet.
    reason, note : str or None
        Why the annotator could not tell or overruled; remarks.
    deferred : bool
        Whether it was put off.
    said : LabelEvent or None
        The event that the label comes from.
    """

    label: str | None = None
    reason: str | None = None
    note: str | None = None
    deferred: bool = False
    said: LabelEvent | None = None


class LabelStore:
    """Labels in an append-only file, one JSON line per action.

    A line is flushed to the disk before the call returns. Nothing is rewritten: an undo is a line too. A line
    that a killed program left unfinished is not counted, and is cut off before the next one. Several
    programs may append to one file.

    Parameters
    ----------
    path : path-like
        The file; it is made with the first action.

    Raises
    ------
    InputError
        Where the file cannot be read or holds what is no event; lists every such line.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = LabelStore(folder.name + "/labels.jsonl")
    >>> key = LabelKey("", "ferry", "typed", 0, "answer")
    >>> first = store.record("label", "ann", key, label="absence", blind=True)
    >>> again = store.record("label", "ann", key, label="failure", blind=True)
    >>> store.labels()[["case_id", "annotator", "label"]].to_dict("records")
    [{'case_id': 'ferry', 'annotator': 'ann', 'label': 'failure'}]
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._forget()
        self.refresh()

    def _forget(self) -> None:
        self._offset = self._line = 0
        self._events: dict[str, LabelEvent] = {}
        self._standing: dict[tuple[LabelKey, str], list[LabelEvent]] = {}
        self._undone: set[str] = set()  # joined files may have an undo before what it takes back

    def record(self, action: str, annotator: str, key: LabelKey | None = None, **details: Any) -> LabelEvent:
        """Put one action on disk.

        Parameters
        ----------
        action : str
            One of `label_events.ACTIONS`.
        annotator : str
            Who.
        key : LabelKey, optional
            What it is about; every action but ``"session"`` needs it.
        **details : object
            Further fields of `LabelEvent`.

        Returns
        -------
        LabelEvent
            As it was written; the line is with the disk.

        Raises
        ------
        UsageError
            Where a field is missing, unknown or of a wrong type; nothing was written.
        InputError
            Where the file cannot be written, or somebody wrote into it what is no event.
        """
        if not isinstance(annotator, str) or not annotator.strip():
            raise UsageError(f"annotator is {annotator!r}; name who labels")
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            event = LabelEvent(secrets.token_hex(8), action, annotator, now, key, **details)
        except TypeError as error:
            raise UsageError(f"a label event cannot be made so: {error}") from None
        line = dumps(event.as_dict()).encode("utf-8") + b"\n"
        checked = read_event(loads_strict(line))
        if isinstance(checked, str):
            raise UsageError(checked)
        with self._lock:
            self._append(line)
        return event

    def _append(self, line: bytes) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b", buffering=0) as file, _held(file.fileno()):
                tail = self._read(file)
                if tail is not None:
                    file.truncate(tail)
                elif self._offset and _last_byte(file, self._offset) != b"\n":
                    line = b"\n" + line  # an editor left out the last line end
                _write_whole(file, line)
                os.fsync(file.fileno())
                self._read(file)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def refresh(self) -> None:
        """Read what others appended since.

        Raises
        ------
        InputError
            Lists every line that is no event.
        """
        with self._lock:
            try:
                with self.path.open("rb", buffering=0) as file:
                    self._read(file)
            except FileNotFoundError:
                self._forget()
            except OSError as error:
                raise InputError(f"{self.path}: cannot be read: {error.strerror or error}") from error

    def _read(self, file: Any) -> int | None:
        """Take in new lines; give the place of an unfinished last one."""
        if os.fstat(file.fileno()).st_size < self._offset:
            self._forget()  # the file was replaced
        file.seek(self._offset)
        *whole, tail = file.read().split(b"\n")
        problems: list[str] = []
        found: list[LabelEvent] = []
        for number, raw in enumerate(whole, self._line + 1):
            self._parse(raw, number, found, problems)
        ends_whole = not tail.strip() or (not problems and tail.rstrip().endswith(b"}") and _is_json(tail))
        if tail and ends_whole:
            self._parse(tail, self._line + len(whole) + 1, found, problems)
        if problems:
            raise InputError(problems)
        self._offset += sum(map(len, whole)) + len(whole) + (len(tail) if ends_whole else 0)
        self._line += len(whole)
        for event in found:
            self._take(event)
        return None if ends_whole else self._offset

    def _parse(self, raw: bytes, number: int, found: list[LabelEvent], problems: list[str]) -> None:
        raw = raw.removeprefix(BOM).strip()
        if not raw:
            return
        try:
            event = read_event(loads_strict(raw))
        except JsonError as error:
            event = f"column {error.column}: {error.reason}"
        if isinstance(event, str):
            problems.append(f"{self.path}:{number}: {event}")
        else:
            found.append(event)

    def _take(self, event: LabelEvent) -> None:
        if event.id in self._events:
            return
        self._events[event.id] = event
        if event.key is None:
            return
        standing = self._standing.setdefault((event.key, event.annotator), [])
        if event.action == "undo" and event.of is not None:
            self._undone.add(event.of)
            standing[:] = [one for one in standing if one.id != event.of]
        elif event.action in MARKING and event.id not in self._undone:
            standing.append(event)

    def events(self, annotator: str | None = None) -> list[LabelEvent]:
        """List what happened, in order.

        Parameters
        ----------
        annotator : str, optional
            Only what this one did.

        Returns
        -------
        list of LabelEvent
            Undone ones and undos too.
        """
        return [one for one in self._events.values() if annotator in (None, one.annotator)]

    def is_standing(self, event: LabelEvent) -> bool:
        """Tell whether an event marks something and was not undone.

        Parameters
        ----------
        event : LabelEvent
            An event.

        Returns
        -------
        bool
            True where an undo could take it back.
        """
        return event.key is not None and event in self._standing.get((event.key, event.annotator), ())

    def mark(self, key: LabelKey, annotator: str) -> Mark:
        """Tell what one annotator last said of one item.

        Parameters
        ----------
        key : LabelKey
            The item.
        annotator : str
            Who.

        Returns
        -------
        Mark
            Empty where nothing was said.
        """
        mark = Mark()
        for event in self._standing.get((key, annotator), ()):
            if event.action == "later":
                mark = Mark(note=mark.note, deferred=True)
            elif event.action == "note":
                mark = mark._replace(note=event.note or None)
            else:
                label = CANT_TELL if event.action == "cant_tell" else event.label
                mark = Mark(label, event.reason, event.note or mark.note, False, event)
        return mark

    def annotators(self) -> list[str]:
        """Name everyone who has labelled something.

        Returns
        -------
        list of str
            Sorted.
        """
        return sorted({who for key, who in self._standing if self.mark(key, who).label is not None})

    def labels(self, annotator: str | None = None) -> pd.DataFrame:
        """Give the labels as they stand.

        Parameters
        ----------
        annotator : str, optional
            Only those of this one; `neverempty.judge.calibrate` wants one row per item.

        Returns
        -------
        DataFrame
            One row per key and annotator, in the order in which they were first touched: suite, case_id, arm,
            repeat, item, annotator, label (``cant_tell`` where that was said), judge_label, blind, reason,
            note, language, labelled_at (UTC), then judge_id, tags and action (``label``, ``cant_tell`` or
            ``overrule``) and was (the label that was overruled).
        """
        from neverempty.widgets.label_frames import labels_frame

        marks = [(key, who, self.mark(key, who)) for key, who in self._standing if annotator in (None, who)]
        return labels_frame([one for one in marks if one[2].label is not None])

    def __repr__(self) -> str:
        return f"<LabelStore {self.path.name}: {len(self._events)} events>"


def _is_json(raw: bytes) -> bool:
    try:
        loads_strict(raw)
    except JsonError:
        return False
    return True


def _last_byte(file: Any, end: int) -> bytes:
    file.seek(end - 1)
    return bytes(file.read(1))


def _write_whole(file: Any, data: bytes) -> None:
    written = file.write(data)
    while written < len(data):
        written += file.write(data[written:])


@contextlib.contextmanager
def _held(file: int) -> Iterator[None]:
    """Keep other writers waiting; the system lets go of the file when the process ends, however it ends."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, 1 << 40, os.SEEK_SET)  # a byte far behind the end, so that readers stay free
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            os.lseek(file, 1 << 40, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
