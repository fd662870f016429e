"""Keep traces on disk as they finish: an append-only file that a killed run leaves readable."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError, dumps, jsonable, loads_strict
from neverempty.traces.codec import TRACE_SCHEMA_VERSION, default_redactor, trace_to_json
from neverempty.traces.model import Trace
from neverempty.traces.reading import HEADER_KEY, check_version, read_traces
from neverempty.traces.redaction import Redactor

_COMPARED: Final = ("seed", "split_hash", "arms", "repeats", "settings")


@dataclass(frozen=True)
class RunIdentity:
    """What makes two runs the same run: a store is resumed only by the run that began it.

    Parameters
    ----------
    run_id : str
        Name of the run; not compared, a resumed run takes over the store's.
    seed : int
        The seed.
    split_hash : str
        Hash of the cases that run.
    arms : tuple
        The arms, as JSON values.
    repeats : int
        Repeats per case and arm.
    versions : mapping of str to str
        Versions of package and interpreter; noted, not compared.
    settings : mapping
        Whatever else must be equal, as JSON values.
    """

    run_id: str
    seed: int
    split_hash: str
    arms: tuple[Any, ...]
    repeats: int
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


class TraceStore:
    """An append-only file of traces, one flushed line each, open to one writer at a time.

    The first line says which run it belongs to. A line that a killed process left unfinished is cut off when
    the store is opened again; every finished line stays. Secrets are taken out before anything is written.

    Parameters
    ----------
    path : path-like
        The JSONL file; made where it does not exist.
    identity : RunIdentity
        The run that writes.
    redactor : Redactor, optional
        What takes the secrets out; the package's own rules by default.

    Raises
    ------
    InputError
        Where the file belongs to another run, is open in another writer, is no store or cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], identity: RunIdentity, *, redactor: Redactor | None = None
    ) -> None:
        self.path = Path(path)
        self.run_id = identity.run_id
        self._redactor = redactor or default_redactor()
        self._lock = threading.Lock()
        self._torn = False
        self._file: int | None = _open(self.path)
        try:
            _lock_file(self._file, self.path)
            self._begin_or_resume(self._file, identity)
        except BaseException:
            self.close()
            raise

    def _begin_or_resume(self, file: int, identity: RunIdentity) -> None:
        _cut_torn_tail(file)
        if os.fstat(file).st_size == 0:
            header = {HEADER_KEY: TRACE_SCHEMA_VERSION, **asdict(identity)}
            _write_all(file, dumps(self._redactor(jsonable(header))).encode("utf-8") + b"\n")
            os.fsync(file)
            return
        header = _read_header(self.path)
        mine = self._redactor(jsonable(asdict(identity)))
        other = [name for name in _COMPARED if header.get(name) != mine[name]]
        if other:
            differences = "; ".join(
                f"{name} is {_short(header.get(name))} there, {_short(mine[name])} here" for name in other
            )
            way_out = "name another file, or run with the same settings"
            raise InputError(f"{self.path}: holds another run ({differences}); {way_out}")
        self.run_id = str(header.get("run_id") or identity.run_id)

    def append(self, trace: Trace) -> None:
        """Write one finished trace; it is with the operating system when this returns.

        Parameters
        ----------
        trace : Trace
            The trace. A later one of the same suite, case, arm and repeat takes the place of an earlier one.

        Raises
        ------
        ValueError
            Where a field holds what could not be read back.
        OSError
            Where the disk refuses; an unfinished line is cut off before the next.
        """
        data = trace_to_json(trace, self._redactor).encode() + b"\n"
        with self._lock:
            if self._file is None:
                raise UsageError(f"{self.path}: the store is closed; open it again to append")
            if self._torn:
                _cut_torn_tail(self._file)
            self._torn = True
            _write_all(self._file, data)
            self._torn = False

    def traces(self) -> list[Trace]:
        """Read back what the store holds.

        Returns
        -------
        list of Trace
            In the order of their first writing.
        """
        return read_traces(self.path)

    def close(self) -> None:
        """Close the file and let another writer have it."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666)
    except OSError as error:
        raise InputError(f"{path}: cannot be opened for writing: {error.strerror or error}") from error


def _write_all(file: int, data: bytes) -> None:
    written = os.write(file, data)
    while written < len(data):
        written += os.write(file, data[written:])


def _cut_torn_tail(file: int) -> None:
    """Cut what follows the last line feed: a line that was never finished."""
    size = end = os.fstat(file).st_size
    block = 1 << 16
    while end > 0:
        start = max(0, end - block)
        os.lseek(file, start, os.SEEK_SET)
        chunk = os.read(file, end - start)
        at = chunk.rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)


def _read_header(path: Path) -> dict[str, Any]:
    with path.open("rb") as handle:
        first = handle.readline()
    try:
        header = loads_strict(first)
    except JsonError as error:
        raise InputError(f"{path}:1: the store's first line is not JSON: {error.reason}") from None
    if not isinstance(header, dict) or HEADER_KEY not in header:
        raise InputError(f"{path}:1: the file is no trace store; name a file that does not exist yet")
    check_version(header, f"{path}:1")
    return header


def _short(value: Any) -> str:
    text = dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _lock_file(file: int, path: Path) -> None:
    """Hold the file for this writer; the system lets go of it when the process ends, however it ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 1 << 40, os.SEEK_SET)  # a byte far behind the end, so that readers stay free
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            raise InputError(
                f"{path}: another run is writing to it; wait for it, or name another file"
            ) from None
        raise InputError(f"{path}: cannot be locked: {error.strerror}; name a file on a local disk") from None
