"""What a frame says about the nature of its metrics: which way is better, how repeats collapse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neverempty._errors import InputError
from neverempty.metrics.groups import group_rows
from neverempty.scorers.registry import builtin_metrics

_FIELDS = ("direction", "collapse")


def natures(rows: pd.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
    """Tell direction and collapse of each row's metric: as the frame says, else as the package declares.

    Parameters
    ----------
    rows : DataFrame
        With the column ``metric`` and, for metrics of the user's own, ``direction`` and ``collapse``.

    Returns
    -------
    tuple of (array of str, array of str)
        Direction and collapse, one per row.

    Raises
    ------
    InputError
        Names every metric about which nothing says them.
    """
    groups = group_rows([rows["metric"].array])
    firsts = rows.iloc[groups.first]
    known = builtin_metrics()
    found: dict[str, list[str]] = {field: [] for field in _FIELDS}
    problems: list[str] = []
    for at, name in enumerate(firsts["metric"].tolist()):
        for field in _FIELDS:
            said = firsts[field].iloc[at] if field in firsts.columns else None
            if isinstance(said, str):
                found[field].append(said)
            elif name in known:
                found[field].append(getattr(known[name], field))
            else:
                problems.append(
                    f"nothing says the {field} of the metric {name!r}; keep the columns 'direction' and "
                    "'collapse' that score() wrote"
                )
    if problems:
        raise InputError(problems)
    direction, how = (np.array(found[field], dtype=object)[groups.ids] for field in _FIELDS)
    return direction, how
