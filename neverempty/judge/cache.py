"""Replies of a judge by their content: the same question to the same judge is asked once."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Final

from neverempty._errors import InputError
from neverempty._io import JsonError, digest, dumps, loads_strict, read_lines

_VERSION: Final = 1


def cache_key(judge_id: str, messages: list[dict[str, Any]], params: dict[str, Any]) -> str:
    """Hash a question: the judge (model, prompt, rubric), the messages, and the settings.

    Parameters
    ----------
    judge_id : str
        From `neverempty.judge.judge_id_of`.
    messages : list of dict
        What is asked.
    params : dict
        With which settings.

    Returns
    -------
    str
        SHA-256, in hex.

    Examples
    --------
    >>> cache_key("a", [], {}) == cache_key("b", [], {})
    False
    """
    return digest([judge_id, messages, params])


class JudgeCache:
    """Replies that were kept, in a file that only grows.

    Parameters
    ----------
    path : path-like, optional
        A JSONL file: read first, then one flushed line per reply. Without it, the replies are kept in memory.

    Raises
    ------
    InputError
        Where the file is no cache. A line that a killed program left unfinished is left out.

    Examples
    --------
    >>> cache = JudgeCache()
    >>> cache.put("key", "reply")
    >>> cache.get("key"), cache.get("other")
    ('reply', None)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._replies: dict[str, str] = {}
        self._lock = threading.Lock()
        self._path = None if path is None else Path(path)
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def _read(self, path: Path) -> None:
        for number, raw in read_lines(path):
            try:
                line = loads_strict(raw)
            except JsonError:
                continue  # half a line that a killed program left; its question is asked again
            if not isinstance(line, dict) or not all(isinstance(line.get(k), str) for k in ("key", "reply")):
                raise InputError(f"{path}:{number}: is no line of a judge's cache")
            self._replies[line["key"]] = line["reply"]

    def get(self, key: str) -> str | None:
        """Return the reply that was kept.

        Parameters
        ----------
        key : str
            From `cache_key`.

        Returns
        -------
        str or None
            None where there is none.
        """
        return self._replies.get(key)

    def put(self, key: str, reply: str) -> None:
        """Keep a reply.

        Parameters
        ----------
        key : str
            From `cache_key`.
        reply : str
            The judge's words.
        """
        with self._lock:
            if key in self._replies:
                return
            self._replies[key] = reply
            if self._path is not None:
                _append(self._path, {"version": _VERSION, "key": key, "reply": reply})


def _append(path: Path, line: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":  # a killed program left half a line
                file.write(b"\n")
        file.write(dumps(line).encode("utf-8") + b"\n")
        file.flush()
        os.fsync(file.fileno())
