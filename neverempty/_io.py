"""Files as the whole package reads and writes them: replaced in one step, read line by line.

The JSON of `neverempty._json` can be taken from here too.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neverempty._errors import InputError
from neverempty._json import (
    BOM,
    JsonError,
    digest,
    dumps,
    escape_json,
    holds_every_key_once,
    jsonable,
    loads_strict,
)

__all__ = [
    "JsonError",
    "NonStrictJsonWarning",
    "digest",
    "dumps",
    "escape_json",
    "holds_every_key_once",
    "jsonable",
    "loads_strict",
    "read_jsonl",
    "read_lines",
    "write_atomic",
]

_LONE = re.compile("[\ud800-\udfff]")


class NonStrictJsonWarning(UserWarning):
    """A file written by another program holds NaN or Infinity, which strict JSON does not have."""


def write_atomic(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Replace a file in one step: a reader sees the old content or the new, never a part.

    Parameters
    ----------
    path : path-like
        The file; missing folders are made, an existing file keeps its mode, a symbolic link stays one.
    data : str or bytes
        The content. Text is written as UTF-8 with its line ends untouched; a lone surrogate, which UTF-8
        cannot hold, becomes U+FFFD (JSON from `dumps` carries it as an escape instead).
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    raw = data if isinstance(data, bytes) else _LONE.sub("\ufffd", data).encode("utf-8")
    temp = target.with_name(f".{target.name[:80]}.{secrets.token_hex(6)}.tmp")
    # os.open rather than tempfile: the kernel applies the umask, which cannot be read without a race.
    descriptor = os.open(temp, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(raw)
            handle.flush()
            os.fsync(handle.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temp, target.stat().st_mode & 0o7777)
        os.replace(temp, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temp.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable; Windows cannot open a folder and needs no such step."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """Walk the records of a line-based file with the numbers that an editor shows.

    Only a line feed ends a line: U+2028, U+2029 and U+0085 inside a string do not. A byte order mark,
    carriage returns before the line feed, blank lines and a missing last newline are all accepted.

    Parameters
    ----------
    path : path-like
        A UTF-8 file.

    Yields
    ------
    tuple of (int, bytes)
        The physical line number, from 1, and the line's bytes without its end; blank lines are left out.

    Raises
    ------
    InputError
        Where the file cannot be read or is UTF-16 or UTF-32.
    """
    try:
        with open(path, "rb") as handle:
            for number, raw in enumerate(handle, 1):
                if number == 1:
                    _refuse_wide_encoding(raw, path)
                line = raw.removeprefix(BOM).strip()
                if line:
                    yield number, line
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error


def _refuse_wide_encoding(head: bytes, path: str | os.PathLike[str]) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) or b"\x00" in head[:4]:
        raise InputError(
            f"{os.fspath(path)}:1: the file is UTF-16 or UTF-32; save it as UTF-8 and load it again"
        )


def read_jsonl(path: str | os.PathLike[str], *, allow_nan: bool = False) -> Iterator[tuple[int, Any]]:
    """Read a JSONL file and report every bad line of it in one error.

    Parameters
    ----------
    path : path-like
        A UTF-8 file with one JSON value a line.
    allow_nan : bool, default False
        Accept NaN and Infinity, which other programs write, with one `NonStrictJsonWarning` for the file.

    Yields
    ------
    tuple of (int, object)
        The physical line number and the value.

    Raises
    ------
    InputError
        After the last line, naming each line that is not strict JSON or repeats a key.
    """
    name, problems, warned = os.fspath(path), [], False
    for number, raw in read_lines(path):
        strange: list[str] = []
        try:
            value = loads_strict(raw, on_nan=strange.append if allow_nan else None)
        except JsonError as fault:
            problems.append(f"{name}:{number}: column {fault.column}: {fault.reason}")
            continue
        if strange and not warned:
            warned = True
            warnings.warn(
                f"{name}:{number}: {strange[0]} is not JSON, read as a float", NonStrictJsonWarning, 2
            )
        yield number, value
    if problems:
        raise InputError(problems)
