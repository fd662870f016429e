"""An immutable sequence of cases with its hash, its frame and its picture in a notebook."""

from __future__ import annotations

import hashlib
import html
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from neverempty._errors import InputError
from neverempty._io import dumps
from neverempty.cases.model import Case

if TYPE_CHECKING:
    import pandas as pd


class Cases(Sequence[Case]):
    """An immutable sequence of cases.

    Parameters
    ----------
    cases : iterable of Case
        The cases, in order.

    Raises
    ------
    InputError
        Where an id stands twice in its suite.

    Examples
    --------
    >>> slow = Case(id="a", tags=("slow",), input={"payload": 1})
    >>> Cases([slow, Case(id="b", input={"payload": 2})]).filter(tags=["slow"])
    <Cases: 1 case of 1 suite, 1 dev, 0 test, fault kinds: none>
    """

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._cases = tuple(cases)
        if len({case.key for case in self._cases}) < len(self._cases):
            counts = Counter(case.key for case in self._cases)
            twice = sorted(key for key, count in counts.items() if count > 1)
            raise InputError([f"the id {name!r} of suite {suite!r} stands twice" for suite, name in twice])

    @overload
    def __getitem__(self, index: int) -> Case: ...
    @overload
    def __getitem__(self, index: slice) -> Cases: ...
    def __getitem__(self, index: int | slice) -> Case | Cases:
        return Cases(self._cases[index]) if isinstance(index, slice) else self._cases[index]

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cases) and self._cases == other._cases

    __hash__ = None  # type: ignore[assignment]  # cases may hold dicts

    def filter(
        self, *, split: str | None = None, tags: Iterable[str] = (), suite: str | None = None
    ) -> Cases:
        """Keep some of the cases.

        Parameters
        ----------
        split : {"dev", "test"}, optional
            Only this split.
        tags : iterable of str
            Only cases that carry all of these.
        suite : str, optional
            Only this suite.

        Returns
        -------
        Cases
            The cases that meet every condition, in order.
        """
        wanted = {tags} if isinstance(tags, str) else set(tags)
        return Cases(
            case
            for case in self._cases
            if split in (None, case.split) and suite in (None, case.suite) and wanted.issubset(case.tags)
        )

    def split_hash(self, split: str | None = "test") -> str:
        """Hash the content of a split, whatever the order and layout of its files.

        Parameters
        ----------
        split : {"dev", "test"} or None, default "test"
            Which split; None takes every case.

        Returns
        -------
        str
            SHA-256, in hex, over the canonical JSON of the split's cases sorted by suite and id. Fields at
            their defaults are left out, so that a later field does not change the hash of older cases.
        """
        chosen = self._cases if split is None else self.filter(split=split)
        digest = hashlib.sha256()
        for case in sorted(chosen, key=lambda case: case.key):
            digest.update(dumps(case.model_dump(exclude_defaults=True)).encode("utf-8"))
            digest.update(b"\n")
        return digest.hexdigest()

    def frame(self) -> pd.DataFrame:
        """Lay the cases out as a frame.

        Returns
        -------
        pandas.DataFrame
            One row per case: suite, case_id, split, language, tags (tuple), must_pass, fault_kind,
            fault_tools (tuple), prompt.
        """
        import pandas as pd

        columns = [
            "suite",
            "case_id",
            "split",
            "language",
            "tags",
            "must_pass",
            "fault_kind",
            "fault_tools",
            "prompt",
        ]
        return pd.DataFrame([_row(case) for case in self._cases], columns=columns)

    def __repr__(self) -> str:
        splits = Counter(case.split for case in self._cases)
        suites = len({case.suite for case in self._cases})
        kinds = ", ".join(sorted({case.fault_kind for case in self._cases})) or "none"
        return (
            f"<Cases: {_count(len(self), 'case')} of {_count(suites, 'suite')}, {splits['dev']} dev, "
            f"{splits['test']} test, fault kinds: {kinds}>"
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("suite", "id", "split", "language", "fault", "prompt"))
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_clip(value))}</td>" for value in _cells(case)) + "</tr>"
            for case in self._cases[:10]
        )
        more = f"<p>and {len(self) - 10} more</p>" if len(self) > 10 else ""
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>{more}"


def _row(case: Case) -> dict[str, Any]:
    return {
        "suite": case.suite,
        "case_id": case.id,
        "split": case.split,
        "language": case.language,
        "tags": case.tags,
        "must_pass": case.must_pass,
        "fault_kind": case.fault_kind,
        "fault_tools": tuple(fault.tool for fault in case.faults),
        "prompt": case.prompt,
    }


def _cells(case: Case) -> tuple[str, ...]:
    return (case.suite, case.id, case.split, case.language or "", case.fault_kind, case.prompt)


def _clip(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "\u2026"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
