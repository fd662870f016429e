"""Where a key stands in a TOML file, so that a message can name its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from neverempty.cli.parser import shown

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?")
_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART: Final = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")

_Key = tuple[str, ...]


class Places:
    r"""The lines of a TOML file's tables and keys.

    Parameters
    ----------
    path : pathlib.Path
        The file, for messages.
    text : str
        Its content.

    Examples
    --------
    >>> Places(Path("a.toml"), "[project]\nname = 1\n").sentence("project.name: must be a string")
    'a.toml:2: project.name: must be a string'
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._lines: dict[_Key, int] = {}
        table: _Key = ()
        counts: dict[_Key, int] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if header := _HEADER.fullmatch(line):
                table = _parts(header[2])
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    self._lines.setdefault(table, number)
                    table = (*table, str(counts[table]))
                self._lines.setdefault(table, number)
            elif key := _KEY.match(line):
                self._lines.setdefault(table + _parts(key[1]), number)

    def of(self, key: Sequence[str | int]) -> str:
        """Name the line of a key, or of the nearest table around it.

        Parameters
        ----------
        key : sequence of str or int
            As ``("suite", 0, "cases")``.

        Returns
        -------
        str
            As ``"a.toml:7"``; the file alone where nothing of the key stands in it.
        """
        parts = tuple(str(part) for part in key)
        for length in range(len(parts), 0, -1):
            if line := self._lines.get(parts[:length]):
                return f"{shown(self.path)}:{line}"
        return shown(self.path)

    def sentence(self, problem: str) -> str:
        """Put its line before a problem.

        Parameters
        ----------
        problem : str
            As ``"run.repeats: must be a whole number, got 'x'"``.

        Returns
        -------
        str
            With the file and line in front.
        """
        return f"{self.of(problem.partition(': ')[0].split('.'))}: {problem}"


def _parts(dotted: str) -> _Key:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))
