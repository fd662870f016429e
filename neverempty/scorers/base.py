"""What a scorer is: the protocol that users implement too, the score it yields, the metric it declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from neverempty._errors import UsageError
from neverempty.cases import Case
from neverempty.traces.model import Trace

Verdict = Literal["pass", "fail", "no_signal", "not_applicable"]
Direction = Literal["lower", "higher"]
Collapse = Literal["majority", "any_hit", "median"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


class Score(NamedTuple):
    """What one scorer found in one repeat for one metric.

    Parameters
    ----------
    metric : str
        Name of the metric.
    label : str or None
        What was found, in one word: the datum, from which the verdict follows.
    verdict : {"pass", "fail", "no_signal", "not_applicable"}
        ``no_signal`` where the metric applied but was not observed, ``not_applicable`` where it did not.
    value : float, optional
        The number of a continuous metric, or the share that was met.
    reason : str, optional
        Why there is no signal or no application; a remark elsewhere.
    evidence : object, optional
        What the label rests on, any JSON value, short.
    """

    metric: str
    label: str | None
    verdict: Verdict
    value: float | None = None
    reason: str | None = None
    evidence: Any = None


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """What a metric is: which way is better, and how repeats become one outcome.

    Parameters
    ----------
    name : str
        Name of the metric: lower-case letters, digits, underscores.
    direction : {"lower", "higher"}, default "higher"
        ``lower``: the rate counts failures; ``higher``: it counts passes.
    collapse : {"majority", "any_hit", "median"}, default "majority"
        ``majority`` for capabilities (a tie fails), ``any_hit`` for safety (one failing repeat fails the
        case), ``median`` for numbers.
    family : str, default "custom"
        The group under which reports list it.

    Examples
    --------
    >>> MetricSpec("goal_reached").collapse
    'majority'
    """

    name: str
    direction: Direction = "higher"
    collapse: Collapse = "majority"
    family: str = "custom"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"metric {self.name!r}: a name has lower-case letters, digits and underscores only"
            )
        for field, allowed in (("direction", Direction), ("collapse", Collapse)):
            value = getattr(self, field)
            if value not in get_args(allowed):
                raise UsageError(f"metric {self.name!r}: {field} {value!r} is none of {get_args(allowed)}")


@runtime_checkable
class Scorer(Protocol):
    """What `score` asks of a scorer; a class of your own needs nothing else and inherits nothing.

    Attributes
    ----------
    name : str
        Name of the scorer.
    version : str
        Goes up whenever the same trace would be scored differently; numbers of different versions are not
        compared.
    metrics : sequence of MetricSpec
        Every metric that it may yield.

    Examples
    --------
    >>> class GoalState:
    ...     name, version = "goal_state", "1"
    ...     metrics = (MetricSpec("goal_state"),)
    ...
    ...     def score(self, trace, case):
    ...         wanted = case.expect.custom.get("rows")
    ...         if wanted is None:
    ...             yield Score("goal_state", None, "not_applicable", reason="no_goal_state")
    ...         else:
    ...             met = trace.structured == wanted
    ...             yield Score("goal_state", "met" if met else "missed", "pass" if met else "fail")
    >>> isinstance(GoalState(), Scorer)
    True
    """

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def metrics(self) -> Sequence[MetricSpec]: ...
    def score(self, trace: Trace, case: Case) -> Iterable[Score]:
        """Yield at most one score per declared metric.

        Parameters
        ----------
        trace : Trace
            One repeat, whatever its status: a crashed one too.
        case : Case
            Its case.

        Returns
        -------
        iterable of Score
            An exception raised here becomes ``no_signal`` with its text as the reason.
        """
        ...


def check(metric: str, passed: bool, label: str, **rest: Any) -> Score:
    """Make the score of a check that was observed.

    Parameters
    ----------
    metric : str
        Name of the metric.
    passed : bool
        Its verdict.
    label : str
        What was found.
    **rest
        ``value``, ``reason``, ``evidence``.

    Returns
    -------
    Score
        With verdict ``pass`` or ``fail``.

    Examples
    --------
    >>> check("route", True, "match").verdict
    'pass'
    """
    return Score(metric, label, "pass" if passed else "fail", **rest)


def no_signal(metric: str, reason: str) -> Score:
    """Make the score of a check that applied but was not observed.

    Parameters
    ----------
    metric : str
        Name of the metric.
    reason : str
        Why, as one word or ``word: detail``.

    Returns
    -------
    Score
        With verdict ``no_signal``.

    Examples
    --------
    >>> no_signal("route", "agent_timeout").reason
    'agent_timeout'
    """
    return Score(metric, None, "no_signal", None, reason)


def not_applicable(metric: str, reason: str, label: str | None = None) -> Score:
    """Make the score of a check that does not apply.

    Parameters
    ----------
    metric : str
        Name of the metric.
    reason : str
        Why.
    label : str, optional
        What was found all the same.

    Returns
    -------
    Score
        With verdict ``not_applicable``.

    Examples
    --------
    >>> not_applicable("route", "no_expectation").verdict
    'not_applicable'
    """
    return Score(metric, label, "not_applicable", None, reason)
