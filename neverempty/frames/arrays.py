"""Lists of Python values to pandas arrays of a column's dtype, and back to plain values."""

from __future__ import annotations

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
    first = values[0] if values else None
    if values and values[-1] is first and values.count(first) == len(values):
        # most columns of most runs hold one value
        one = _TEXT_ARRAY(objects([np.nan if first is None else first]), dtype=TEXT)
        return one.repeat(len(values))
    if None in values:
        values = [np.nan if value is None else value for value in values]
    return _TEXT_ARRAY(objects(values), dtype=TEXT)


def _category(column: Column, values: Sequence[Any]) -> Any:
    names = column.categories or tuple(sorted(set(values) - {None}))
    codes: dict[Any, int] = {name: code for code, name in enumerate(names)}
    codes[None] = -1
    found = np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))
    dtype = pd.CategoricalDtype(pd.Index(_text(column, names), dtype=TEXT))
    return pd.Categorical.from_codes(found, dtype=dtype)


def _refuse_other_types(values: Sequence[Any], *allowed: type) -> None:
    for kind in set(map(type, values)):
        if not issubclass(kind, allowed):
            raise TypeError(f"values of type {kind.__name__}")


def _int(_: Column, values: Sequence[Any]) -> Any:
    _refuse_other_types(values, int, np.integer)
    return np.fromiter(values, dtype=np.int64, count=len(values))


def _nullable_int(column: Column, values: Sequence[Any]) -> Any:
    missing = np.zeros(len(values), dtype=bool)
    if None in values:
        missing = np.fromiter([value is None for value in values], dtype=bool, count=len(values))
        values = [0 if value is None else value for value in values]
    return pd.arrays.IntegerArray(_int(column, values), missing)


def _float(_: Column, values: Sequence[Any]) -> Any:
    _refuse_other_types(values, int, float, np.number, type(None))
    # None becomes NaN
    return np.array(values, dtype=np.float64).reshape(len(values))


def _bool(_: Column, values: Sequence[Any]) -> Any:
    _refuse_other_types(values, bool, np.bool_)
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
    missing = series.isna().to_numpy()
    if column.kind == "object":
        if not missing.any():
            return series.tolist()
        return [None if _is_missing(value) else value for value in series.tolist()]
    if missing.all():
        return [None] * len(series)
    values = _iso_texts(series) if column.kind == "datetime" else series.tolist()
    if not missing.any():
        return values
    return [None if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]


def _is_missing(value: Any) -> bool:
    return value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _iso_texts(series: pd.Series[Any]) -> list[str]:
    """Write moments as the traces do: UTC, microseconds, ``+00:00``."""
    moments = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    return [f"{text}+00:00" for text in np.datetime_as_string(moments, unit="us").tolist()]
