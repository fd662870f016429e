"""Count the cases in every branch and hold them against what a number needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.cases.model import Case

if TYPE_CHECKING:
    import pandas as pd

BRANCHES: Final = ("suite", "fault_kind", "language", "split", "must_pass")
# Without them neither false alarms nor genuine empties can be told.
CONTROLS: Final = ("empty", "none")


def coverage(
    cases: Sequence[Case],
    need: float = 50,
    by: Sequence[str] = ("suite", "fault_kind", "language"),
) -> pd.DataFrame:
    """Hold the number of cases in each branch against what a number needs.

    Within a suite, every fault kind is expected in every language, and a suite with faults also needs the
    controls: a genuine empty success and a clean call. What is absent stands in the frame with no case.

    Parameters
    ----------
    cases : sequence of Case
        The cases.
    need : int or float, default 50
        Cases per branch, at least 1 (below 10 no rate is shown, below 50 a rate is only indicative). A limit
        between 0 and 1 stands for the cases that are needed until the upper end of a 95 % Wilson interval
        over nothing but clean cases comes down to it: 189 for 0.02.
    by : sequence of str
        What makes a branch: any of suite, fault_kind, language, split, must_pass.

    Returns
    -------
    pandas.DataFrame
        One row per branch: the columns of `by`, then n (int), need (int), missing (int) and status
        (``"ok"`` or ``"short"``).

    Raises
    ------
    UsageError
        Where `need` or `by` asks for something that does not exist.

    Examples
    --------
    >>> faults = [{"tool": "find", "kind": "timeout"}]
    >>> case = Case(id="a", language="en", input={"payload": "?"}, faults=faults)
    >>> coverage([case], need=1)[["fault_kind", "language", "n", "status"]]
      fault_kind language  n status
    0      empty       en  0  short
    1       none       en  0  short
    2    timeout       en  1     ok
    """
    import pandas as pd

    wanted = _cases_needed(need)
    unknown = [name for name in by if name not in BRANCHES]
    if unknown or not by:
        hint = did_you_mean(unknown[0], BRANCHES) if unknown else "; name at least one"
        raise UsageError(f"by={tuple(by)!r} names no branch of a case{hint}")
    counts = Counter(tuple(_branch_value(case, name) for name in by) for case in cases)
    rows = [
        (*branch, counts[branch], wanted, max(0, wanted - counts[branch]), _status(counts[branch], wanted))
        for branch in sorted(set(counts) | _expected(list(counts), by))
    ]
    return pd.DataFrame(rows, columns=[*by, "n", "need", "missing", "status"])


def _branch_value(case: Case, name: str) -> str:
    value = getattr(case, name)
    return "" if value is None else str(value)


def _status(n: int, wanted: int) -> str:
    return "ok" if n >= wanted else "short"


def _cases_needed(need: float) -> int:
    """Turn a limit on the upper end into the clean cases that it needs."""
    from neverempty.stats import clean_cases_for_limit

    if isinstance(need, bool) or not math.isfinite(need) or need <= 0 or (need > 1 and need != int(need)):
        raise UsageError(f"need={need!r} is neither a number of cases nor a limit between 0 and 1")
    if need >= 1:
        return int(need)
    return clean_cases_for_limit(need)


def _expected(branches: list[tuple[str, ...]], by: Sequence[str]) -> set[tuple[str, ...]]:
    """Cross fault kinds with languages within each suite, with the controls that faults need."""
    if "fault_kind" not in by:
        return set()
    kind_at = by.index("fault_kind")
    varied = [by.index(name) for name in ("fault_kind", "language") if name in by]
    fixed = [index for index in range(len(by)) if index not in varied]
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for branch in branches:
        groups.setdefault(tuple(branch[index] for index in fixed), []).append(branch)
    expected = set()
    for members in groups.values():
        kinds = {branch[kind_at] for branch in members}
        if not kinds.issubset(CONTROLS):
            kinds.update(CONTROLS)
        for branch in members:
            for kind in kinds:
                expected.add((*branch[:kind_at], kind, *branch[kind_at + 1 :]))
    return expected
