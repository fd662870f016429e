"""Whether a value that one tool takes was returned by another one in the same episode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from neverempty._errors import UsageError
from neverempty._io import JsonError, loads_strict
from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.traces.model import ToolCall, Trace

_METRIC: Final = "provenance"
_WORD: Final = re.compile(r"[\w-]+")
_RULE: Final = re.compile(r"\s*([\w-]+)\.([\w.-]+)\s*<-\s*([\w-]+)(?:\.([\w.-]+))?\s*")


class ProvenanceRule(NamedTuple):
    """A value of one tool must have been returned by another one before.

    Parameters
    ----------
    tool, argument : str
        Who takes it: a tool and the path of an argument, such as ``create`` and ``order.preview_id``.
    source, field : str
        Who must have returned it: a tool and the path of a field in its result; without a field, any value.

    Examples
    --------
    >>> ProvenanceRule.of("create.preview_id <- preview.id")
    ProvenanceRule(tool='create', argument='preview_id', source='preview', field='id')
    """

    tool: str
    argument: str
    source: str
    field: str | None = None

    @classmethod
    def of(cls, text: str) -> ProvenanceRule:
        """Read a rule written as ``tool.argument <- source.field``.

        Parameters
        ----------
        text : str
            The rule.

        Returns
        -------
        ProvenanceRule
            The rule.

        Raises
        ------
        UsageError
            Where the text is no rule.
        """
        found = _RULE.fullmatch(text)
        if found is None:
            raise UsageError(f"{text!r} is no rule; write it as 'create.preview_id <- preview.id'")
        return cls(*found.groups())


class ProvenanceScorer:
    """Passes a repeat in which every value that a rule names was returned by its source before it was used.

    Only results of successful calls count, and only those that came before. Numbers and their texts are the
    same value; a list must have each of its values returned.

    Parameters
    ----------
    rules : iterable of ProvenanceRule or str
        What must come from where.

    Examples
    --------
    >>> preview = ToolCall(0, "preview", {}, "data", '{"id": "p-1"}')
    >>> create = ToolCall(1, "create", {"id": "p-2"}, "data")
    >>> trace = Trace("default", "a", "typed", 0, answer="Created.", calls=[preview, create])
    >>> case = Case(id="a", input={"payload": 1})
    >>> ProvenanceScorer(["create.id <- preview.id"]).score(trace, case)[0].label
    'unfounded'
    """

    name = "provenance"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "tools"),)

    def __init__(self, rules: Iterable[ProvenanceRule | str]) -> None:
        listed = [rules] if isinstance(rules, (str, ProvenanceRule)) else list(rules)
        self._rules = [ProvenanceRule.of(rule) if isinstance(rule, str) else rule for rule in listed]
        if not self._rules:
            raise UsageError("provenance needs a rule, such as 'create.preview_id <- preview.id'")

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
            One score; not applicable where no rule's tool was called with the rule's argument.
        """
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        used = [
            (rule, call, value)
            for rule in self._rules
            for call in trace.calls
            if call.tool == rule.tool
            for value in _values(_at(call.args, rule.argument.split(".")))
        ]
        if not used:
            return (not_applicable(_METRIC, "no_call"),)
        unfounded, unknown = [], 0
        for rule, call, value in used:
            before = [one for one in trace.calls[: trace.calls.index(call)] if one.tool == rule.source]
            if _key(value) in _returned(before, rule.field):
                continue
            if any(one.truth == "data" and _text(one) is None for one in before):
                unknown += 1
                continue
            unfounded.append({"tool": rule.tool, "argument": rule.argument, "value": value})
        if unfounded:
            return (check(_METRIC, False, "unfounded", evidence=unfounded[:10]),)
        if unknown:
            return (no_signal(_METRIC, "source_not_recorded"),)
        return (check(_METRIC, True, "founded"),)


def _returned(calls: Iterable[ToolCall], field: str | None) -> set[Any]:
    path = field.split(".") if field else []
    found: set[Any] = set()
    for call in calls:
        text = _text(call)
        if call.truth != "data" or text is None:
            continue
        try:
            result = loads_strict(text)
        except JsonError:
            result = [text, *_WORD.findall(text)]
        found.update(_key(value) for place in _places(result, path) for value in _values(place))
    return found


def _text(call: ToolCall) -> str | None:
    return call.returned if call.returned is not None else call.seen


def _places(result: Any, path: list[str]) -> Iterator[Any]:
    """Find a path at whatever depth it begins, since tool layers wrap results in a status."""
    if path and (found := _at(result, path)) is not None:
        yield found
    elif not path:
        yield result
    inner = result.values() if isinstance(result, dict) else result if isinstance(result, list) else ()
    for one in inner:
        yield from _places(one, path)


def _at(value: Any, path: list[str]) -> Any:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def _values(value: Any) -> Iterator[Any]:
    """Yield the plain values of a place: itself, or those of a list."""
    if isinstance(value, list):
        for one in value:
            yield from _values(one)
    elif value is not None and not isinstance(value, dict):
        yield value


def _key(value: Any) -> Any:
    if isinstance(value, bool):
        return ("flag", value)
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return value
