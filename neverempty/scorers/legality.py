"""Whether every tool that was called exists, and its arguments are legal by its own schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.scorers.requests import Requested, requested_calls
from neverempty.tools import Tool
from neverempty.traces.model import Trace

Tools = Iterable[Tool] | Mapping[str, Mapping[str, Any]]
"""Tools, or JSON Schemas of arguments by the names of their tools."""

_EXISTS: Final = "tool_exists"
_LEGAL: Final = "arguments_legal"
_SHOWN: Final = 200


def schemas_of(tools: Tools) -> dict[str, dict[str, Any]]:
    """Give the JSON Schemas of tools.

    Parameters
    ----------
    tools : iterable of Tool, or mapping of str to dict
        The tools, or their schemas by name.

    Returns
    -------
    dict of str to dict
        By name, sorted.

    Raises
    ------
    UsageError
        For what is neither.
    """
    if isinstance(tools, Mapping):
        named = dict(tools)
    else:
        listed = list(tools)
        for tool in listed:
            if not isinstance(tool, Tool):
                raise UsageError(f"{type(tool).__name__} is no Tool; give tools, or their schemas by name")
        named = {tool.name: tool.schema for tool in listed}
    for name, schema in named.items():
        if not isinstance(schema, Mapping):
            raise UsageError(f"the schema of {name!r} is {type(schema).__name__}, no JSON Schema object")
    return {name: dict(named[name]) for name in sorted(named)}


class ToolExistsScorer:
    """Passes a repeat that asked for tools of the given ones only.

    Parameters
    ----------
    tools : iterable of Tool, or mapping of str to dict
        The tools that there are.

    Examples
    --------
    >>> scorer = ToolExistsScorer({"search": {"type": "object"}})
    >>> case = Case(id="a", input={"payload": 1})
    >>> asked = [{"role": "assistant", "tool_calls": [{"function": {"name": "serch", "arguments": "{}"}}]}]
    >>> trace = Trace("default", "a", "typed", 0, answer="None.", messages=asked)
    >>> scorer.score(trace, case)[0].label
    'unknown_tool'
    """

    name = "tool_exists"
    version = "1"
    metrics = (MetricSpec(_EXISTS, "higher", "majority", "tools"),)

    def __init__(self, tools: Tools) -> None:
        self._known = schemas_of(tools)

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
            One score; a repeat that asked for no tool is not applicable.
        """
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_EXISTS, reason),)
        asked = requested_calls(trace)
        if not asked:
            return (not_applicable(_EXISTS, "no_call"),)
        unknown = list(dict.fromkeys(call.tool for call in asked if call.tool not in self._known))
        if unknown:
            evidence = {"unknown": unknown, "hint": did_you_mean(unknown[0], self._known).lstrip("; ")}
            return (check(_EXISTS, False, "unknown_tool", evidence=evidence),)
        return (check(_EXISTS, True, "known"),)


class ArgumentsLegalScorer:
    """Passes a repeat whose every tool call has arguments that its tool's JSON Schema allows.

    Formats (``date``, ``email``, ...) are checked. A call of an unknown tool is left to `ToolExistsScorer`.

    Parameters
    ----------
    tools : iterable of Tool, or mapping of str to dict
        The tools, or their schemas by name; a schema's own ``$schema`` says which draft it is written in.

    Raises
    ------
    UsageError
        Where a schema is broken; it names the tool and the place.

    Examples
    --------
    >>> from neverempty.traces.model import ToolCall
    >>> scorer = ArgumentsLegalScorer({"search": {"properties": {"n": {"type": "integer"}}}})
    >>> call = ToolCall(0, "search", {"n": "x"}, "empty")
    >>> trace = Trace("default", "a", "typed", 0, answer="None.", calls=[call])
    >>> scorer.score(trace, Case(id="a", input={"payload": 1}))[0].evidence
    [{'tool': 'search', 'path': 'n', 'problem': "'x' is not of type 'integer'"}]
    """

    name = "arguments_legal"
    version = "1"
    metrics = (MetricSpec(_LEGAL, "higher", "majority", "tools"),)

    def __init__(self, tools: Tools) -> None:
        self._validators = {name: _validator(name, schema) for name, schema in schemas_of(tools).items()}

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
            One score; a repeat that asked for no known tool is not applicable.
        """
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_LEGAL, reason),)
        asked = [call for call in requested_calls(trace) if call.tool in self._validators]
        if not asked:
            return (not_applicable(_LEGAL, "no_known_call"),)
        problems = [problem for call in asked for problem in self._problems(call)]
        if problems:
            return (check(_LEGAL, False, "illegal", evidence=problems[:10]),)
        return (check(_LEGAL, True, "legal"),)

    def _problems(self, call: Requested) -> list[dict[str, str]]:
        if call.args is None:
            return [{"tool": call.tool, "path": "", "problem": "the arguments are no JSON object"}]
        errors = sorted(self._validators[call.tool].iter_errors(call.args), key=lambda error: error.json_path)
        return [
            {
                "tool": call.tool,
                "path": error.json_path.removeprefix("$").removeprefix("."),
                "problem": error.message[:_SHOWN],
            }
            for error in errors
        ]


def _validator(name: str, schema: dict[str, Any]) -> Any:
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise UsageError(
            f"the schema of tool {name!r} is broken at {error.json_path}: {error.message[:_SHOWN]}"
        ) from None
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    base = resource.id() or ""
    resolver = Registry().with_resource(base, resource).resolver(base)
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            raise UsageError(f"the schema of tool {name!r} is broken: {reference!r} leads nowhere") from None
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
