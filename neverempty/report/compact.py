"""A large frame once more, packed: a gate must not spend its time on parsing 100,000 lines of JSON."""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final

import numpy as np
import pandas as pd

from neverempty._errors import InputError
from neverempty._io import dumps, loads_strict
from neverempty.frames import SCHEMAS
from neverempty.frames.arrays import make_array, plain_values
from neverempty.frames.schema import Column, FrameName

ROWS: Final = 10_000
"""From this number of rows on, a frame is worth packing."""

_INDEX: Final = "index"
_PLAIN: Final = ("int", "float", "bool")


def pack(frame: pd.DataFrame, name: FrameName) -> bytes | None:
    """Pack a frame into the bytes of an ``.npz`` file: numbers as they are, all else as codes of its values.

    Parameters
    ----------
    frame : DataFrame
        A frame that keeps its contract.
    name : str
        Key of `SCHEMAS`.

    Returns
    -------
    bytes or None
        None where the frame has columns of its own, whose dtypes nothing describes.

    Examples
    --------
    >>> from neverempty.frames import build_frame
    >>> empty = build_frame("outcomes", {c.name: [] for c in SCHEMAS["outcomes"].columns})
    >>> unpack(pack(empty, "outcomes"), "outcomes").equals(empty)
    True
    """
    columns = {column.name: column for column in SCHEMAS[name].columns}
    if not set(frame.columns) <= columns.keys():
        return None
    arrays: dict[str, Any] = {}
    tables: list[list[Any] | None] = []
    for at, label in enumerate(frame.columns):
        column = columns[label]
        if column.kind in _PLAIN:
            arrays[f"c{at}"] = frame[label].to_numpy()
            tables.append(None)
        else:
            codes, distinct = pd.factorize(frame[label])
            arrays[f"c{at}"] = codes.astype(np.int32)
            tables.append(plain_values(column, pd.Series(distinct)))
    index = dumps({"columns": list(frame.columns), "tables": tables}).encode("utf-8")
    buffer = io.BytesIO()
    arrays[_INDEX] = np.frombuffer(index, dtype=np.uint8)
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def unpack(data: bytes, name: FrameName) -> pd.DataFrame:
    """Unpack what `pack` packed.

    Parameters
    ----------
    data : bytes
        Content of the file. Nothing in it is executed: pickled objects are refused.
    name : str
        Key of `SCHEMAS`.

    Returns
    -------
    DataFrame
        The same frame that its JSONL file holds.

    Raises
    ------
    InputError
        Where the bytes are no packed frame.
    """
    schema = SCHEMAS[name]
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            index = loads_strict(file[_INDEX].tobytes())
            arrays = [file[f"c{at}"] for at in range(len(index["columns"]))]
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{name}: is no packed frame ({type(error).__name__})") from error
    columns = {
        label: values if table is None else _spread(schema.column(label), table, values)
        for label, table, values in zip(index["columns"], index["tables"], arrays, strict=True)
    }
    return pd.DataFrame(columns, copy=False)


def _spread(column: Column, table: list[Any], codes: Any) -> Any:
    if column.kind == "object":
        table = [tuple(value) if isinstance(value, list) else value for value in table]
    values = pd.Series(make_array(column, table))
    return values.array.take(codes.astype(np.intp), allow_fill=True)
