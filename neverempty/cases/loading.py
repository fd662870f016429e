"""Load cases from JSONL files: fast on good lines, exact about bad ones."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from pydantic import TypeAdapter, ValidationError

from neverempty._errors import InputError
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
    """
    cases: list[Case] = []
    problems: list[str] = []
    first_seen: dict[tuple[str, str], str] = {}
    for path in paths:
        before = len(problems)
        count = len(cases)
        for place, case in _read(path, problems):
            earlier = first_seen.setdefault(case.key, place)
            if earlier is not place:
                problems.append(
                    f"{place}: the id {case.id!r} of suite {case.suite!r} stands at {earlier} already"
                )
            cases.append(case)
        if len(cases) == count and len(problems) == before:
            problems.append(f"{os.fspath(path)}: holds no case; write one JSON object a line")
    if problems:
        raise InputError(problems)
    return Cases(cases)


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


def _read(path: str | os.PathLike[str], problems: list[str]) -> Iterator[tuple[str, Case]]:
    """Yield each good line's place and case; append what is wrong with the others."""
    name = os.fspath(path)
    validate = _adapter().validate_json
    try:
        for number, raw in read_lines(path):
            try:
                if holds_every_key_once(raw):
                    yield f"{name}:{number}", validate(raw)
                else:
                    yield f"{name}:{number}", parse_case(raw)
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
