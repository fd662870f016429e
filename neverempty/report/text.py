"""Tables as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay a table out in columns.

    Parameters
    ----------
    head : sequence of str
        Titles of the columns.
    rows : iterable of sequence of str
        One text per column.

    Returns
    -------
    str
        Lines without trailing blanks; the first column is left-aligned, the others right-aligned.

    Examples
    --------
    >>> print(text_table(["agent", "n"], [["honest", "60"]]))
    agent    n
    ------  --
    honest  60
    """
    table = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(head))]
    table.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(
            text.rjust(width) if at else text.ljust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )
