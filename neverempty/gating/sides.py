"""The two sides of a comparison, however they were handed in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from neverempty._errors import UsageError
from neverempty.frames import check_frame
from neverempty.metrics.natures import natures
from neverempty.report import Report

if TYPE_CHECKING:
    from neverempty.report import ReportStatus


@dataclass(frozen=True, slots=True)
class Side:
    """One side: outcomes, and what is known about where they come from.

    Parameters
    ----------
    name : str
        ``"baseline"`` or ``"candidate"``.
    outcomes : DataFrame
        One row per case, arm and metric.
    status : str
        Of the report; ``ok`` for a bare frame.
    status_reason : str
        Its sentence.
    provenance : mapping
        Of the report; empty for a bare frame.
    """

    name: str
    outcomes: pd.DataFrame
    status: ReportStatus = "ok"
    status_reason: str = ""
    provenance: Mapping[str, Any] | None = None

    def only(self, arms: Collection[str] | None) -> Side:
        """Keep the named arms; None keeps all."""
        if arms is None:
            return self
        return replace(self, outcomes=self.outcomes.loc[self.outcomes["arm"].isin(arms)])

    def known(self, key: str) -> Any:
        """Look something up in the provenance; None where nothing is known."""
        return (self.provenance or {}).get(key)

    def distinct(self, column: str) -> set[str]:
        """Collect the values of a column of the outcomes; "unknown" stands for missing ones."""
        if column not in self.outcomes.columns:
            return set()
        return {value if isinstance(value, str) else "unknown" for value in self.outcomes[column].unique()}

    def natures(self) -> dict[str, tuple[str, str]]:
        """Tell direction and collapse of each metric, in order of appearance."""
        firsts = self.outcomes.drop_duplicates("metric")
        direction, collapse = natures(firsts)
        return dict(
            zip(
                firsts["metric"].tolist(),
                zip(direction.tolist(), collapse.tolist(), strict=True),
                strict=True,
            )
        )


def side_of(given: Report | pd.DataFrame, name: str) -> Side:
    """Take what was handed in as one side of a comparison.

    Parameters
    ----------
    given : Report or DataFrame
        A report, or outcomes as `collapse` returns them.
    name : str
        ``"baseline"`` or ``"candidate"``.

    Returns
    -------
    Side
        The side.

    Raises
    ------
    InputError
        Where a frame breaks the contract of outcomes.
    UsageError
        For anything else.
    """
    if isinstance(given, Report):
        return Side(name, given.outcomes, given.status, given.status_reason, given.provenance)
    if isinstance(given, pd.DataFrame):
        return Side(name, check_frame(given, "outcomes"))
    raise UsageError(
        f"{name}: a {type(given).__name__} is neither a Report nor a frame of outcomes; "
        "load a saved report with Report.load"
    )
