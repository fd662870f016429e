"""Floors and limits: which metric each is about, and whether it is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from neverempty._errors import InputError
from neverempty._suggest import did_you_mean
from neverempty.gating.rows import Alone
from neverempty.stats import floor_min_passes, max_unstable_cases, wilson_interval

_MOST: Final = "_max"


@dataclasses.dataclass(frozen=True, slots=True)
class Floor:
    """A floor of a metric that is better when higher, or a limit of one that is better when lower.

    Parameters
    ----------
    metric : str
        The metric.
    value : float
        Least, or greatest, rate.
    is_limit : bool
        Whether it is the greatest.
    on_bound : bool
        Whether the far end of the rate's interval is held against it, rather than the rate.
    """

    metric: str
    value: float
    is_limit: bool
    on_bound: bool

    def breached(self, counts: Alone) -> bool:
        """Say whether a candidate breaks it.

        Parameters
        ----------
        counts : Alone
            What the candidate shows.

        Returns
        -------
        bool
            False where nothing was measured: that is another rule's business.

        Examples
        --------
        >>> Floor("route", 0.95, False, False).breached(Alone(60, 60, 4))
        True
        >>> Floor("misreport_as_empty", 0.02, True, True).breached(Alone(188, 188, 0))
        True
        """
        n, failed = counts.n_measured, counts.n_failed
        if n == 0:
            return False
        if self.on_bound:
            interval = wilson_interval(failed if self.is_limit else n - failed, n)
            end = interval.hi if self.is_limit else interval.lo
            return end is None or (end > self.value if self.is_limit else end < self.value)
        if self.is_limit:
            return failed > max_unstable_cases(n, self.value)
        return n - failed < floor_min_passes(n, self.value)


def read_floors(
    floors: Mapping[str, float], natures: Mapping[str, tuple[str, str]], *, on_bound: bool
) -> tuple[Floor, ...]:
    """Find the metric of each floor.

    Parameters
    ----------
    floors : mapping of str to float
        As configured.
    natures : mapping of str to (str, str)
        Direction and collapse of each metric of the report.
    on_bound : bool
        As in `Floor`.

    Returns
    -------
    tuple of Floor
        In order.

    Raises
    ------
    InputError
        Lists every name that is no metric of the report, or says the wrong end of one.
    """
    found: list[Floor] = []
    problems: list[str] = []
    for name, value in floors.items():
        is_limit = name not in natures and name.endswith(_MOST)
        metric = name.removesuffix(_MOST) if is_limit else name
        if problem := _problem(name, metric, is_limit, natures):
            problems.append(f"gate.floors.{name}: {problem}")
        else:
            found.append(Floor(metric, value, is_limit, on_bound))
    if problems:
        raise InputError(problems)
    return tuple(found)


def _problem(name: str, metric: str, is_limit: bool, natures: Mapping[str, tuple[str, str]]) -> str | None:
    if metric not in natures:
        rates = [one for one, (_, collapse) in natures.items() if collapse != "median"]
        return f"the report has no metric {metric!r}{did_you_mean(metric, rates)}"
    direction, collapse = natures[metric]
    if collapse == "median":
        return f"{metric!r} is a number, not a rate; numbers only warn"
    if is_limit and direction == "higher":
        return f"{metric!r} is better when higher; give its least rate as {metric!r}"
    if not is_limit and direction == "lower":
        return f"{metric!r} is better when lower; give its greatest rate as '{metric}{_MOST}'"
    return None
