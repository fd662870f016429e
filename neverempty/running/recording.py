"""The file of recorded model replies: written in a live run, answered from in a replay."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError, digest, dumps, jsonable, loads_strict, read_lines
from neverempty.faults.spec import Arm, FaultSpec
from neverempty.traces.codec import default_redactor
from neverempty.traces.seam import ModelReply, ModelRequest

VERSION: Final = 1
_HEADER: Final = "recording_version"
_PARTS: Final = ("messages", "tools", "params")

TraceKey = tuple[str, str, str, int]
"""Suite, case id, arm and repeat."""


def condition_of(arm: Arm, faults: Sequence[FaultSpec]) -> str:
    """Hash what a case and its arm add to a request: the arm and the faults.

    Parameters
    ----------
    arm : Arm
        The arm; the whole of it counts.
    faults : sequence of FaultSpec
        The case's faults.

    Returns
    -------
    str
        SHA-256, in hex.
    """
    specs = [fault.model_dump(mode="json", exclude_defaults=True) for fault in faults]
    return digest([arm.model_dump(mode="json", exclude_defaults=True), specs])


class RequestKey(NamedTuple):
    """The key of a recorded reply, except for the repeat."""

    request: str
    parts: dict[str, str]


def request_key(request: ModelRequest, condition: str) -> RequestKey:
    """Hash a request together with its arm and faults.

    Parameters
    ----------
    request : ModelRequest
        Messages, tools and params.
    condition : str
        From `condition_of`.

    Returns
    -------
    RequestKey
        The whole hash, and that of each part, by which a miss can say what changed.
    """
    values = (request.messages, request.tools, request.params)
    parts = {name: digest(value) for name, value in zip(_PARTS, values, strict=True)}
    return RequestKey(digest([parts, condition]), parts)


class Recorder:
    """Appends each model reply to a file, one flushed line each.

    Parameters
    ----------
    path : path-like
        The JSONL file; continued where it exists, so that a resumed run completes its recording.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self.replies = 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_file() and self.path.stat().st_size:
                _read_header(self.path)
            self._file = self.path.open("a+b")
        except OSError as error:
            raise InputError(f"{path}: cannot be opened for writing: {error.strerror or error}") from error
        if self._file.seek(0, os.SEEK_END) == 0:
            self._write({_HEADER: VERSION})
            return
        self._file.seek(-1, os.SEEK_END)
        if self._file.read() != b"\n":  # a killed run left half a line; alone on its line it is skipped
            self._file.write(b"\n")

    def reply(
        self, trace: TraceKey, occurrence: int, key: RequestKey, params: Mapping[str, Any], reply: ModelReply
    ) -> None:
        """Write down a live reply.

        Parameters
        ----------
        trace : tuple
            Suite, case id, arm and repeat.
        occurrence : int
            How often the same request was made before in the same repeat.
        key : RequestKey
            The request's key.
        params : mapping
            The request's params; noted for readers.
        reply : ModelReply
            What the model answered.
        """
        self.replies += 1
        line = {"request": key.request, "occurrence": occurrence, "parts": key.parts, "params": dict(params)}
        self._write(self._name(trace) | line | {"reply": dict(reply)})

    def end(self, trace: TraceKey, model_calls: int) -> None:
        """Write down that a repeat ended, and how many model calls it made.

        Parameters
        ----------
        trace : tuple
            Suite, case id, arm and repeat.
        model_calls : int
            Calls through the seam; a replay tells by a zero that the agent needs none here.
        """
        self._write(self._name(trace) | {"model_calls": model_calls})

    @staticmethod
    def _name(trace: TraceKey) -> dict[str, Any]:
        return dict(zip(("suite", "case_id", "arm", "repeat"), trace, strict=True))

    def _write(self, line: dict[str, Any]) -> None:
        text = dumps(default_redactor()(jsonable(line)))
        with self._lock:
            if not self._file.closed:
                self._file.write(text.encode("utf-8") + b"\n")
                self._file.flush()

    def close(self) -> None:
        """Close the file; later replies of abandoned agents are dropped."""
        with self._lock:
            self._file.close()


def _read_header(path: Path) -> None:
    with path.open("rb") as handle:
        first = handle.readline()
    try:
        header = loads_strict(first)
    except JsonError:
        header = None
    if not isinstance(header, dict) or _HEADER not in header:
        raise InputError(f"{path}:1: the file is no recording; name one that record= made")
    if header[_HEADER] != VERSION:
        raise InputError(f"{path}:1: recording version {header[_HEADER]!r} is not known; this is {VERSION}")


class Hit(NamedTuple):
    """A recorded reply and the repeat that it was recorded in."""

    reply: ModelReply
    repeat: int


class Recording:
    """Recorded replies, by request.

    Parameters
    ----------
    path : path-like
        A file that `Recorder` wrote.

    Raises
    ------
    InputError
        Where the file is no recording or a line of it is broken; an unfinished line is left out.
    UsageError
        Where it holds no reply: the agent that was recorded has no seam to replay at.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise UsageError(f"{self.path}: there is no such recording; make one with record=")
        _read_header(self.path)
        self._replies: dict[tuple[str, int], dict[int, dict[tuple[str, str], ModelReply]]] = {}
        self._parts: dict[TraceKey, list[dict[str, str]]] = {}
        self._ended: dict[TraceKey, int] = {}
        problems = []
        for number, raw in read_lines(self.path):
            if number == 1:
                continue
            try:
                self._add(loads_strict(raw))
            except JsonError:
                continue  # the half line of a killed run; what it lacks is a miss
            except (KeyError, TypeError):
                problems.append(f"{self.path}:{number}: the line is no recorded reply")
        if problems:
            raise InputError(problems)
        if not self._replies:
            raise UsageError(
                f"{self.path}: the recording holds no model reply, so there is nothing to replay; the agent "
                "must ask its model through tracer.model_call"
            )

    def _add(self, line: dict[str, Any]) -> None:
        trace: TraceKey = (line["suite"], line["case_id"], line["arm"], line["repeat"])
        if "model_calls" in line:
            self._ended[trace] = line["model_calls"]
            return
        same = self._replies.setdefault((line["request"], line["occurrence"]), {})
        same.setdefault(trace[3], {})[trace[:2]] = line["reply"]
        self._parts.setdefault(trace, []).append(line["parts"])

    def find(
        self, trace: TraceKey, occurrence: int, key: RequestKey, params: Mapping[str, Any]
    ) -> Hit | None:
        """Look a request up.

        Parameters
        ----------
        trace : tuple
            Suite, case id, arm and repeat.
        occurrence : int
            How often the same request was made before in the same repeat.
        key : RequestKey
            The request's key.
        params : mapping
            The request's params: at temperature 0 a reply of another repeat will do.

        Returns
        -------
        Hit or None
            None is a miss.
        """
        repeats = self._replies.get((key.request, occurrence))
        if repeats is None:
            return None
        repeat = trace[3]
        if repeat not in repeats:
            if params.get("temperature") != 0 or isinstance(params.get("temperature"), bool):
                return None
            repeat = min(repeats)
        # the same request may stand in two cases; each gets its own reply where it has one
        by_case = repeats[repeat]
        return Hit(by_case.get(trace[:2]) or next(iter(by_case.values())), repeat)

    def without_calls(self, trace: TraceKey) -> bool:
        """Tell whether the repeat was recorded and made no model call."""
        return self._ended.get(trace) == 0

    def why_missed(self, trace: TraceKey, index: int, key: RequestKey) -> str:
        """Say what is different from the recording.

        Parameters
        ----------
        trace : tuple
            Suite, case id, arm and repeat.
        index : int
            Number of the model call within the repeat.
        key : RequestKey
            The request that was not found.

        Returns
        -------
        str
            The reason for the trace's row.
        """
        recorded = self._parts.get(trace)
        if recorded is None:
            return "nothing was recorded for this case, arm and repeat"
        if index >= len(recorded):
            return f"the recording of this repeat ends after {len(recorded)} model calls"
        changed = [name for name in _PARTS if recorded[index].get(name) != key.parts[name]]
        return f"{', '.join(changed) or 'arm or faults'} of model call {index} changed since the recording"
