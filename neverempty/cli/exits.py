"""Exit codes of the command line; a gate's own codes are listed with it."""

from __future__ import annotations

from typing import Final

OK: Final = 0
NOTHING_MEASURED: Final = 3
INVALID: Final = 4
USAGE: Final = 64
INTERNAL: Final = 70
INTERRUPTED: Final = 130

_NOTHING: Final = ("no_cases", "nothing_measured")


def of_report(status: str) -> int:
    """Turn a report's status into the exit code of the command that made it.

    Parameters
    ----------
    status : str
        As `neverempty.report.Report` carries it.

    Returns
    -------
    int
        0 for a complete report, 3 where nothing was measured, 4 for everything else.

    Examples
    --------
    >>> [of_report(status) for status in ("ok", "nothing_measured", "budget_stopped")]
    [0, 3, 4]
    """
    if status == "ok":
        return OK
    return NOTHING_MEASURED if status in _NOTHING else INVALID
