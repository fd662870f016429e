"""Frames in files, the same there and back."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from neverempty._errors import InputError, UsageError
from neverempty._io import dumps, jsonable, read_jsonl, write_atomic
from neverempty._suggest import did_you_mean
from neverempty.frames.arrays import make_array, plain_values
from neverempty.frames.build import build_frame
from neverempty.frames.check import check_frame
from neverempty.frames.schema import SCHEMAS, Column, FrameName, Schema
from neverempty.traces.codec import default_redactor
from neverempty.traces.model import ToolCall

_CALL_FIELDS = frozenset(field.name for field in dataclasses.fields(ToolCall))
_JSON_COLUMNS = "neverempty_json_columns"


def frame_name(df: pd.DataFrame) -> FrameName:
    """Tell which documented frame a DataFrame is, by its columns.

    Parameters
    ----------
    df : DataFrame
        A frame with every required column of one schema.

    Returns
    -------
    str
        Key of `SCHEMAS`.

    Raises
    ------
    InputError
        Where the columns are those of no documented frame; names the nearest and what it lacks.
    """
    present = set(map(str, df.columns))
    lacking = {
        name: [column.name for column in schema.columns if column.required and column.name not in present]
        for name, schema in SCHEMAS.items()
    }
    # outcomes carry the traces' groups too: among complete frames, the one with most columns is meant
    complete = [name for name, absent in lacking.items() if not absent]
    if complete:
        return max(complete, key=lambda name: sum(column.required for column in SCHEMAS[name].columns))
    nearest = min(lacking, key=lambda name: len(lacking[name]))
    absent = ", ".join(map(repr, lacking[nearest]))
    raise InputError(f"the columns are those of no documented frame; the nearest, {nearest}, needs {absent}")


def write_frame(df: pd.DataFrame, path: str | os.PathLike[str], name: FrameName | None = None) -> None:
    """Write a frame to a file, in one step: a reader sees the old file or the whole new one.

    Parameters
    ----------
    df : DataFrame
        A frame that keeps its contract; columns of your own are written too. Secrets are redacted.
    path : path-like
        ``.jsonl`` (one row a line, strict JSON) or ``.parquet`` (``pip install 'neverempty[parquet]'``).
    name : str, optional
        Key of `SCHEMAS`; told from the columns where it is left out.

    Raises
    ------
    InputError
        Where the frame breaks its contract; nothing is written.
    UsageError
        For any other file ending.
    """
    ending = _ending(path)
    name = name or frame_name(df)
    check_frame(df, name)
    if ending == ".jsonl":
        write_atomic(path, "".join(f"{_line(row)}\n" for row in _plain_rows(df, SCHEMAS[name])))
    else:
        write_atomic(path, _parquet_bytes(df, SCHEMAS[name]))


def read_frame(path: str | os.PathLike[str], name: FrameName) -> pd.DataFrame:
    """Read a frame that `write_frame` wrote, with every dtype as documented.

    Parameters
    ----------
    path : path-like
        ``.jsonl`` or ``.parquet``.
    name : str
        Key of `SCHEMAS`.

    Returns
    -------
    DataFrame
        The frame, checked against its contract.

    Raises
    ------
    InputError
        Lists every bad line or value of the file.
    UsageError
        For an unknown name or file ending.
    """
    if name not in SCHEMAS:
        raise UsageError(f"there is no frame {name!r}; {did_you_mean(name, SCHEMAS)}")
    columns = _jsonl_columns(path) if _ending(path) == ".jsonl" else _parquet_columns(path)
    schema = SCHEMAS[name]
    if not columns:  # a file without rows does not name its columns
        columns = {column.name: [] for column in schema.columns}
    for column in schema.columns:
        if column.name in columns:
            columns[column.name] = [_restore(column, value) for value in columns[column.name]]
    try:
        return check_frame(build_frame(name, columns), name)
    except InputError as error:
        raise InputError([f"{os.fspath(path)}: {problem}" for problem in error.problems]) from error


def _ending(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in (".jsonl", ".parquet"):
        raise UsageError(f"{os.fspath(path)}: frames are stored as .jsonl or .parquet, not {ending!r}")
    return ending


def _plain_columns(df: pd.DataFrame, schema: Schema) -> dict[str, list[Any]]:
    """Take a frame apart into JSON-ready values; calls become objects of their fields."""
    known = {column.name: column for column in schema.columns}
    return {
        str(name): plain_values(known.get(str(name), Column(str(name), "object", "")), df[name])
        for name in df.columns
    }


def _plain_rows(df: pd.DataFrame, schema: Schema) -> Iterator[dict[str, Any]]:
    columns = _plain_columns(df, schema)
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


def _line(row: dict[str, Any]) -> str:
    """Write a row without the secrets that a frame of someone else's making may hold."""
    redactor = default_redactor()
    text = dumps(row)
    return dumps(redactor(jsonable(row))) if redactor.suspects(text.encode("utf-8")) else text


def _restore(column: Column, value: Any) -> Any:
    """Give an object column's value back its Python type; leave all others to the column's dtype."""
    if column.name == "tags" and isinstance(value, list):
        return tuple(value)
    if column.name == "calls" and isinstance(value, list):
        return [_restore_call(call) for call in value]
    if column.kind == "float" and isinstance(value, int):
        return float(value)
    return value


def _restore_call(value: Any) -> ToolCall:
    if not isinstance(value, dict) or not {"call", "tool", "args", "truth"} <= value.keys() <= _CALL_FIELDS:
        raise InputError(f"{value!r:.80} is no tool call; it needs call, tool, args and truth")
    return ToolCall(**value)


def _jsonl_columns(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    problems: list[str] = []
    for number, value in read_jsonl(path):
        if not isinstance(value, dict):
            problems.append(f"{os.fspath(path)}:{number}: a row is a JSON object, not {type(value).__name__}")
            continue
        rows.append(value)
        names.update(dict.fromkeys(value))
    if problems:
        raise InputError(problems)
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet_bytes(df: pd.DataFrame, schema: Schema) -> bytes:
    """Write objects as JSON text, and text too where Arrow's UTF-8 cannot hold it."""
    _need_pyarrow()
    columns = _plain_columns(df, schema)
    as_json = [name for name, values in columns.items() if not all(map(_arrow_can_hold, values))]
    for name in as_json:
        columns[name] = [dumps(value) for value in columns[name]]
    whole = [column for column in schema.columns if column.kind == "Int" and column.name in columns]
    # pandas would take whole numbers with a gap for fractions
    table = pd.DataFrame(
        columns | {column.name: make_array(column, columns[column.name]) for column in whole}
    )
    table.attrs = {_JSON_COLUMNS: as_json}
    return table.to_parquet(engine="pyarrow", index=False)


def _arrow_can_hold(value: Any) -> bool:
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
    return value is None or isinstance(value, (bool, int, float))


def _parquet_columns(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    _need_pyarrow()
    table = pd.read_parquet(path, engine="pyarrow")
    as_json = table.attrs.get(_JSON_COLUMNS, [])
    columns: dict[str, list[Any]] = {}
    for name in table.columns:
        values = plain_values(Column(name, "float", ""), table[name])
        columns[name] = [json.loads(value) for value in values] if name in as_json else values
    return columns


def _need_pyarrow() -> None:
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise UsageError("Parquet files need pyarrow: pip install 'neverempty[parquet]'") from error
