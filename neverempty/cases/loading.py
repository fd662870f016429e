"""Load cases from JSONL files: fast on good lines, exact about bad ones."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from pydantic import TypeAdapter, ValidationError

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError, holds_every_key_once, loads_strict, read_lines
from neverempty.cases.collection import Cases
from neverempty.cases.explain import explain
from neverempty.cases.model import Case


def load_cases(*paths: str | os.PathLike[str]) -> Cases:
    """Load cases from one or more JSONL files, one case a line.

    Parameters
    ----------
    *paths : path-like
        UTF-8 files; together they form one set of cases, in which a suite's ids are unique.

    Returns
    -------
    Cases
        An immutable sequence in the order of the files.

    Raises
    ------
    InputError
        Lists every bad line of every file, as ``"path:line: what is wrong"``.
    UsageError
        Where no path is given.
    """
    if not paths:
        raise UsageError("load_cases needs a file; name at least one")
    cases: list[Case] = []
    lines: list[tuple[str, list[int]]] = []
    problems: list[str] = []
    for path in paths:
        name, numbers = os.fspath(path), list[int]()
        faults = len(problems)
        for number, case in _read(name, problems):
            cases.append(case)
            numbers.append(number)
        lines.append((name, numbers))
        if not numbers and len(problems) == faults:
            problems.append(f"{name}: holds no case; write one JSON object a line")
    if problems or len({(case.suite, case.id) for case in cases}) < len(cases):
        places = [f"{name}:{number}" for name, numbers in lines for number in numbers]
        raise InputError(problems + _repeated_ids(cases, places))
    return Cases(cases)


def _repeated_ids(cases: list[Case], places: list[str]) -> list[str]:
    """Name each case whose id its suite has already."""
    first: dict[tuple[str, str], str] = {}
    return [
        f"{place}: the id {case.id!r} of suite {case.suite!r} stands at {earlier} already"
        for case, place in zip(cases, places, strict=True)
        if (earlier := first.setdefault(case.key, place)) is not place
    ]


def validate_file(path: str | os.PathLike[str]) -> list[str]:
    """List everything that is wrong with a file of cases.

    Parameters
    ----------
    path : path-like
        The JSONL file.

    Returns
    -------
    list of str
        One line per problem, as ``"path:line: what is wrong"``; empty for a good file.
    """
    try:
        load_cases(path)
    except InputError as error:
        return list(error.problems)
    return []


def _read(name: str, problems: list[str]) -> Iterator[tuple[int, Case]]:
    """Yield each good line's number and case; append what is wrong with the others."""
    validate = _adapter().validate_json
    try:
        for number, raw in read_lines(name):
            try:
                yield number, validate(raw) if holds_every_key_once(raw) else parse_case(raw)
            except ValidationError as error:
                problems.extend(f"{name}:{number}: {problem}" for problem in explain(error, Case))
            except JsonError as error:
                problems.append(f"{name}:{number}: column {error.column}: {error.reason}")
    except InputError as error:
        problems.extend(error.problems)


@functools.cache
def _adapter() -> TypeAdapter[Case]:
    return TypeAdapter(Case)


def parse_case(raw: str | bytes) -> Case:
    """Read one case by the exact way.

    Parameters
    ----------
    raw : str or bytes
        One JSON object.

    Returns
    -------
    Case
        The case.

    Raises
    ------
    JsonError
        Where the text is not strict JSON.
    pydantic.ValidationError
        Where its fields are wrong.
    """
    return _adapter().validate_python(loads_strict(raw))
