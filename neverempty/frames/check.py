"""Does a frame keep its contract? Every breach is found, not only the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from neverempty._errors import InputError
from neverempty.frames.schema import SCHEMAS, Column, FrameName, Schema

_INTEGERS = ("int", "Int")


def check_frame(df: pd.DataFrame, name: FrameName) -> pd.DataFrame:
    """Refuse a frame that breaks its contract, naming every breach at once.

    Parameters
    ----------
    df : DataFrame
        The frame; columns of your own are no breach.
    name : str
        Key of `SCHEMAS`.

    Returns
    -------
    DataFrame
        The frame itself, so that the call can stand in a chain.

    Raises
    ------
    InputError
        With one problem per missing column, wrong dtype, missing or infinite value, value outside the
        categories or the range, repeated key, and contradiction between columns; each with the number of
        rows and the first of them.

    Examples
    --------
    >>> import pandas as pd
    >>> check_frame(pd.DataFrame({"metric": ["misreport_as_empty"]}), "scores")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    neverempty._errors.InputError: scores: column 'suite' is missing...
    """
    problems = frame_problems(df, name)
    if problems:
        raise InputError(problems)
    return df


def frame_problems(df: pd.DataFrame, name: FrameName) -> list[str]:
    """List what breaks a frame's contract.

    Parameters
    ----------
    df : DataFrame
        The frame.
    name : str
        Key of `SCHEMAS`.

    Returns
    -------
    list of str
        One sentence per breach, with counts and the first row; empty where the frame is sound.
    """
    schema = SCHEMAS[name]
    problems: list[str] = []
    for column in schema.columns:
        if column.name in df.columns:
            problems += _column_problems(df[column.name], column)
        elif column.required:
            problems.append(f"column {column.name!r} is missing")
    problems += _key_problems(df, schema)
    if not problems:
        problems += _contradictions(df, name)
    return [f"{name}: {problem}" for problem in problems]


def _column_problems(series: pd.Series[Any], column: Column) -> Iterator[str]:
    if isinstance(series, pd.DataFrame):
        yield f"column {column.name!r} stands {series.shape[1]} times"
        return
    if not _has_dtype(series, column):
        yield (
            f"column {column.name!r} is {series.dtype}, not {column.dtype}; read files with read_frame, "
            "which casts every column"
        )
        return
    if not column.nullable and (column.kind not in ("int", "bool")):
        yield from _found(series, series.isna(), f"column {column.name!r} has no value")
    if column.kind == "category" and column.categories:
        outside = sorted(set(series.cat.categories) - set(column.categories))
        if outside:
            mask = series.isin(outside)
            text = f"column {column.name!r} has the value {outside[0]!r}, none of {column.categories}"
            yield from _found(series, mask, text)
    if column.kind in (*_INTEGERS, "float"):
        yield from _range_problems(series, column)


def _has_dtype(series: pd.Series[Any], column: Column) -> bool:
    if column.kind == "category":
        return isinstance(series.dtype, pd.CategoricalDtype)
    if column.kind == "datetime":
        return isinstance(series.dtype, pd.DatetimeTZDtype)
    return bool(series.dtype == column.dtype)


def _range_problems(series: pd.Series[Any], column: Column) -> Iterator[str]:
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.kind == "float":
        yield from _found(series, np.isinf(values), f"column {column.name!r} is infinite")
    if column.lo is not None:
        yield from _found(series, values < column.lo, f"column {column.name!r} is less than {column.lo:g}")
    if column.hi is not None:
        yield from _found(series, values > column.hi, f"column {column.name!r} is more than {column.hi:g}")


def _found(series: pd.Series[Any], mask: Any, text: str) -> Iterator[str]:
    rows = np.flatnonzero(np.asarray(mask, dtype=bool))
    if len(rows):
        yield f"{text} in {_rows(len(rows))}, first at index {series.index[rows[0]]!r}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _key_problems(df: pd.DataFrame, schema: Schema) -> Iterator[str]:
    known = {column.name for column in schema.columns}
    # a summary may be grouped by any column; those stand beside the documented ones
    groups = [name for name in df.columns if name not in known] if schema.name == "metrics" else []
    keys = [*schema.keys, *groups]
    if any(key not in df.columns for key in keys) or not df.columns.is_unique:
        return
    repeated = df.duplicated(keys)
    rows = np.flatnonzero(repeated.to_numpy())
    if len(rows):
        first = df[keys].astype(object).iloc[rows[0]].tolist()
        key = ", ".join(f"{name}={value!r}" for name, value in zip(keys, first, strict=True))
        yield f"the key ({key}) stands more than once; {_rows(len(rows))} repeat a key"


_Rule = tuple[str, str, Callable[[pd.DataFrame], Any]]


def _rate_outside(df: pd.DataFrame) -> Any:
    value = df["value"].to_numpy(dtype=np.float64)
    return df["hits"].notna().to_numpy() & ((value < 0) | (value > 1))


def _not_within(low: str, mid: str, high: str) -> Callable[[pd.DataFrame], Any]:
    def outside(df: pd.DataFrame) -> Any:
        lo, value, hi = (df[name].to_numpy(dtype=np.float64) for name in (low, mid, high))
        return df["hits"].notna().to_numpy() & ((lo > value) | (value > hi))

    return outside


def _more(more: str, less: str) -> Callable[[pd.DataFrame], Any]:
    def greater(df: pd.DataFrame) -> Any:
        left, right = (df[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in (more, less))
        return left > right

    return greater


_RULES: dict[FrameName, tuple[_Rule, ...]] = {
    "traces": (),
    "calls": (),
    "scores": (),
    "outcomes": (
        ("hits exceed n_measured", "hits", _more("hits", "n_measured")),
        ("n_measured exceeds n_repeats", "n_measured", _more("n_measured", "n_repeats")),
    ),
    "metrics": (
        ("the rate lies outside 0 to 1", "value", _rate_outside),
        ("the rate lies outside lo to hi", "value", _not_within("lo", "value", "hi")),
        ("hits exceed n_measured", "hits", _more("hits", "n_measured")),
        ("n_measured exceeds n_applicable", "n_measured", _more("n_measured", "n_applicable")),
        ("n_applicable exceeds n_cases", "n_applicable", _more("n_applicable", "n_cases")),
    ),
}


def _contradictions(df: pd.DataFrame, name: FrameName) -> Iterator[str]:
    for text, column, broken in _RULES[name]:
        yield from _found(df[column], broken(df), text)
