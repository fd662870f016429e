"""Frames as CSV for spreadsheets: no cell is ever a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from neverempty._io import dumps, jsonable
from neverempty.frames import SCHEMAS
from neverempty.frames.arrays import plain_values
from neverempty.frames.schema import Column
from neverempty.report.escape import plain
from neverempty.report.export_content import Content
from neverempty.report.json_export import metric_record
from neverempty.traces.codec import default_redactor

if TYPE_CHECKING:
    import pandas as pd

_MOST_TEXT: Final = 32_000  # a spreadsheet's cell holds 32,767 characters
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NESTED: Final = ("calls", "messages")


def csv_files(content: Content) -> Iterator[tuple[str, str]]:
    """Write each frame of an export as CSV.

    Parameters
    ----------
    content : Content
        What to write.

    Yields
    ------
    tuple of (str, str)
        Name and text: traces (without the nested messages and calls), calls, scores, outcomes, metrics; of a
        comparison also flips and left_out.
    """
    report = content.report
    traces = report.traces
    yield "traces", frame_csv(traces.drop(columns=[name for name in _NESTED if name in traces.columns]))
    for name in ("calls", "scores", "outcomes"):
        yield name, frame_csv(getattr(report, name), name)
    yield "metrics", _text(list(_metric_header(content)), _metric_rows(content))
    if content.comparison is not None:
        for name in ("flips", "left_out"):
            yield name, frame_csv(getattr(content.comparison, name))


def frame_csv(frame: pd.DataFrame, name: str = "traces") -> str:
    r"""Write a frame as CSV.

    Parameters
    ----------
    frame : DataFrame
        Any frame.
    name : str, default "traces"
        Key of `SCHEMAS`, for the dtypes of its columns.

    Returns
    -------
    str
        Text of more than 32,000 characters is cut; secrets are taken out.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_csv(pd.DataFrame({"answer": ["=1+1", None], "n": [-1.0, 2.0]}))
    "answer,n\n'=1+1,-1.0\n,2.0\n"
    """
    known = {column.name: column for column in SCHEMAS[name].columns}  # type: ignore[index]
    columns = {
        str(label): plain_values(known.get(str(label), Column(str(label), "object", "")), frame[label])
        for label in frame.columns
    }
    safe = [_cells(values) for values in columns.values()]
    return _text(list(columns), zip(*safe, strict=True))


def _cells(values: list[Any]) -> list[Any]:
    """Make a column safe; its texts repeat, so each is made safe once."""
    known: dict[str, Any] = {}
    cells = []
    for value in values:
        if value is None or isinstance(value, (bool, int, float)):
            cells.append("" if value is None else value)
            continue
        text = value if isinstance(value, str) else _json(value)
        if text not in known:
            known[text] = cell(text)
        cells.append(known[text])
    return cells


def _text(header: list[str], rows: Any) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([cell(name) for name in header])
    writer.writerows(rows)
    return buffer.getvalue()


def _json(value: Any) -> str:
    """Write an object as JSON, without what its keys say is secret."""
    text, redactor = dumps(jsonable(value)), default_redactor()
    return dumps(redactor(jsonable(value))) if redactor.suspects(text.encode("utf-8")) else text


def cell(text: str) -> str:
    """Make a text safe in a spreadsheet.

    Parameters
    ----------
    text : str
        The text of a cell.

    Returns
    -------
    str
        Without control characters and secrets, and with an apostrophe before what a spreadsheet would take
        for a formula.

    Examples
    --------
    >>> cell("=1+1"), cell("a = b")
    ("'=1+1", 'a = b')
    """
    shown = plain(default_redactor()(text), _MOST_TEXT)
    return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) else shown


def _metric_header(content: Content) -> dict[str, None]:
    return dict.fromkeys([*map(str, content.metrics.columns), "indicative", "shown"])


def _metric_rows(content: Content) -> Iterator[list[Any]]:
    header = list(_metric_header(content))
    for row in content.metrics.to_dict("records"):
        record = metric_record(row)
        yield _cells([record[name] for name in header])
