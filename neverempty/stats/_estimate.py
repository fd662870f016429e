"""The small frozen objects that every statistic returns, and the warnings for doubtful numbers."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Status = Literal[
    "ok",
    "undefined",
    "not_measured",
    "degenerate",
    "cannot_reject",
    "clipped",
    "inconsistent",
    "judge_uninformative",
    "no_discordant_pairs",
]
STATUSES: tuple[str, ...] = get_args(Status)


class StatisticalWarning(UserWarning):
    """A number was computed, but its assumptions are strained."""


class SmallSampleWarning(StatisticalWarning):
    """Too few cases, clusters or labels for the method's large-sample theory."""


class DegenerateTableWarning(StatisticalWarning):
    """A table has a constant margin, so the statistic carries no information."""


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number with its interval, and how far it can be trusted.

    Parameters
    ----------
    value : float or None
        The point estimate; None where it is undefined or was not measured.
    lo, hi : float or None
        Interval bounds; None where no interval is claimed.
    n : int
        Measured observations behind the number.
    n_missing : int
        Observations that were dropped because they were None or NaN.
    conf : float or None
        Confidence level of the interval.
    method : str
        Name of the method.
    status : str
        One of `STATUSES`; anything but ``"ok"`` comes with a reason.
    reason : str
        Why the status is not ``"ok"``, in one sentence.

    Examples
    --------
    >>> float(Estimate(0.5, n=2))
    0.5
    >>> Estimate(None, status="not_measured", reason="no case").defined
    False
    """

    value: float | None
    lo: float | None = None
    hi: float | None = None
    n: int = 0
    n_missing: int = 0
    conf: float | None = None
    method: str = ""
    status: Status = "ok"
    reason: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status must be one of {', '.join(STATUSES)}; got {self.status!r}")
        if self.value is None and self.status == "ok":
            raise ValueError("an estimate without a value needs a status other than 'ok'")
        if self.status != "ok" and not self.reason:
            raise ValueError(f"an estimate with status {self.status!r} needs a reason")

    @property
    def defined(self) -> bool:
        """Whether there is a number at all."""
        return self.value is not None

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.method or 'estimate'} is {self.status}: {self.reason}")
        return float(self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary, ready for strict JSON (None, never NaN)."""
        return dataclasses.asdict(self)


class IntervalArrays(NamedTuple):
    """What an interval function returns for array input.

    Attributes
    ----------
    value, lo, hi : numpy.ndarray of float
        Point estimates and bounds, element by element; NaN where nothing was measured (n = 0).
    """

    value: FloatArray
    lo: FloatArray
    hi: FloatArray
