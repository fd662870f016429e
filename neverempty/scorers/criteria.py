"""Whether a structured router chose acceptable criteria, compared by their hash."""

from __future__ import annotations

from typing import Any, Final

from neverempty._io import digest, dumps
from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.traces.model import Trace

_METRIC: Final = "route_criteria"
KEY: Final = "criteria"
"""Where criteria stand, in ``expect.custom`` and in the structured answer."""


def criteria_hash(criteria: Any) -> str:
    """Hash criteria by what they mean: neither the order of keys nor that of lists counts, nor 2 against 2.0.

    Parameters
    ----------
    criteria : object
        Any JSON value.

    Returns
    -------
    str
        SHA-256, its first 16 hex digits.

    Examples
    --------
    >>> criteria_hash({"tags": ["a", "b"], "n": 2}) == criteria_hash({"n": 2.0, "tags": ["b", "a"]})
    True
    """
    return digest(_plain(criteria))[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return sorted((_plain(one) for one in value), key=dumps)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class CriteriaScorer:
    """Passes a repeat whose structured answer holds one of the acceptable criteria.

    ``expect.custom["criteria"]`` lists them, as values or as hashes (``"sha:..."``); the structured answer
    has them under ``criteria``, or is them.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1}, expect={"custom": {"criteria": [{"city": "Pune"}]}})
    >>> trace = Trace("default", "a", "typed", 0, answer="Ok.", structured={"criteria": {"city": "Puna"}})
    >>> CriteriaScorer().score(trace, case)[0].label
    'other'
    """

    name = "route_criteria"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "route"),)

    def score(self, trace: Trace, case: Case) -> tuple[Score, ...]:
        """Score one repeat.

        Parameters
        ----------
        trace : Trace
            The repeat.
        case : Case
            Its case.

        Returns
        -------
        tuple of Score
            One score; a repeat without structured answer is ``no_signal: no_structure``.
        """
        acceptable = case.expect.custom.get(KEY)
        if acceptable is None:
            return (not_applicable(_METRIC, "no_expectation"),)
        if not isinstance(acceptable, list) or not acceptable:
            return (no_signal(_METRIC, "bad_expectation: criteria is a list of acceptable ones"),)
        reason = unobserved(trace) or ("no_structure" if trace.structured is None else None)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        chosen = trace.structured
        if isinstance(chosen, dict) and KEY in chosen:
            chosen = chosen[KEY]
        found = criteria_hash(chosen)
        if found not in {_hashed(one) for one in acceptable}:
            return (check(_METRIC, False, "other", evidence={"chosen": chosen, "hash": found}),)
        return (check(_METRIC, True, "acceptable"),)


def _hashed(criteria: Any) -> str:
    if isinstance(criteria, str) and criteria.startswith("sha:"):
        return criteria.removeprefix("sha:")
    return criteria_hash(criteria)
