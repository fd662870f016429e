"""Lists of Python values to pandas arrays of a column's dtype, and back to plain values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neverempty._errors import InputError
from neverempty.frames.schema import Column, Kind

# Arrow-backed text, pandas' choice where pyarrow is installed, cannot hold a lone surrogate.
TEXT = pd.StringDtype("python", na_value=np.nan)
_TEXT_ARRAY: Any = TEXT.construct_array_type()
_MISFITS = (TypeError, ValueError, KeyError, OverflowError)


def objects(values: Sequence[Any]) -> Any:
    """Put values into an object array one by one, lists and tuples too."""
    return np.fromiter(values, dtype=object, count=len(values))


def make_array(column: Column, values: Sequence[Any]) -> Any:
    """Turn a column's values into an array of its dtype.

    Parameters
    ----------
    column : Column
        The contract.
    values : sequence
        One value per row; None is missing.

    Returns
    -------
    array-like
        What a DataFrame takes as a column.

    Raises
    ------
    InputError
        Where a value does not fit the dtype; names the column, the first such row and the value.
    """
    try:
        return _MAKERS[column.kind](column, values)
    except _MISFITS as error:
        raise InputError(_misfit(column, values)) from error


def _misfit(column: Column, values: Sequence[Any]) -> str:
    allowed = f", one of {', '.join(column.categories)}" if column.categories else ""
    for row, value in enumerate(values):
        try:
            _MAKERS[column.kind](column, [value])
        except _MISFITS:
            return f"column {column.name!r}, row {row}: {value!r:.80} is no {column.dtype} value{allowed}"
    return f"column {column.name!r}: its values do not fit {column.dtype}{allowed}"


def _text(_: Column, values: Sequence[Any]) -> Any:
    return _TEXT_ARRAY(objects([np.nan if value is None else value for value in values]), dtype=TEXT)


def _category(column: Column, values: Sequence[Any]) -> Any:
    names = column.categories or tuple(sorted({_word(value) for value in values if value is not None}))
    codes: dict[Any, int] = {name: code for code, name in enumerate(names)}
    codes[None] = -1
    found = np.fromiter((codes[value] for value in values), dtype=np.int32, count=len(values))
    dtype = pd.CategoricalDtype(pd.Index(_text(column, names), dtype=TEXT))
    return pd.Categorical.from_codes(found, dtype=dtype)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _integers(values: Sequence[Any]) -> Any:
    found = np.fromiter(values, dtype=np.int64, count=len(values))
    if any(not isinstance(value, (int, np.integer)) for value in values):
        raise TypeError("a number with a fraction")
    return found


def _int(_: Column, values: Sequence[Any]) -> Any:
    return _integers(values)


def _nullable_int(_: Column, values: Sequence[Any]) -> Any:
    missing = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
    filled = values if not missing.any() else [0 if value is None else value for value in values]
    return pd.arrays.IntegerArray(_integers(filled), missing)


def _float(_: Column, values: Sequence[Any]) -> Any:
    if any(isinstance(value, str) for value in values):
        raise TypeError("text")
    return np.array(values, dtype=np.float64).reshape(len(values))


def _bool(_: Column, values: Sequence[Any]) -> Any:
    if any(not isinstance(value, (bool, np.bool_)) for value in values):
        raise TypeError("not a bool")
    return np.fromiter(values, dtype=bool, count=len(values))


def _datetime(_: Column, values: Sequence[Any]) -> Any:
    times = pd.to_datetime(objects(values), utc=True, format="ISO8601")
    return times.as_unit("us")


def _object(_: Column, values: Sequence[Any]) -> Any:
    # a Series, because a bare object array of texts alone would become a text column
    return pd.Series(objects(values), dtype=object)


_MAKERS: Mapping[Kind, Callable[[Column, Sequence[Any]], Any]] = {
    "str": _text,
    "category": _category,
    "int": _int,
    "Int": _nullable_int,
    "float": _float,
    "bool": _bool,
    "datetime": _datetime,
    "object": _object,
}


def plain_values(column: Column, series: pd.Series[Any]) -> list[Any]:
    """Turn a frame's column back into Python values, None where it is missing.

    Parameters
    ----------
    column : Column
        The contract; the series may have another dtype, as after a join.
    series : Series
        The column.

    Returns
    -------
    list
        One value per row: text, numbers, bools, ISO 8601 text of times, or the objects as they are.
    """
    if column.kind == "object":
        return [None if value is pd.NA or _is_nan(value) else value for value in series.tolist()]
    missing = series.isna().to_numpy()
    values = series.tolist()
    if column.kind == "datetime":
        values = [value if gone else iso(value) for value, gone in zip(values, missing, strict=True)]
    if not missing.any():
        return values
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def iso(moment: dt.datetime) -> str:
    """Write a moment as the traces do: UTC, microseconds, ``+00:00``."""
    return moment.astimezone(dt.UTC).isoformat(timespec="microseconds")
