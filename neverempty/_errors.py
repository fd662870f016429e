"""The errors a user can meet; the command line prints their text without a traceback."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class NeverEmptyError(Exception):
    """Base of every error that neverempty raises on purpose."""


class UsageError(NeverEmptyError, ValueError):
    """The call or the command line asks for something that does not exist (exit code 64)."""


class InputError(NeverEmptyError, ValueError):
    """A file or frame that was handed in cannot be used (exit code 4); lists every fault at once.

    Parameters
    ----------
    problems : sequence of str
        One line each, as ``"path:line: what is wrong; what to do"``.

    Examples
    --------
    >>> InputError(["cases.jsonl:3: duplicate id 'a'"]).problems
    ("cases.jsonl:3: duplicate id 'a'",)
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems: Sequence[str] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))
