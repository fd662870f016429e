"""Which tools an agent can reach, as far as this can be told without calling it."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any, Final

from neverempty.tools import Tool

# Enough for an object that holds a list of functions that hold tools; the depths of clients are left alone.
_DEPTH: Final = 5


def tools_of(agent: Any) -> list[Tool]:
    """Find the tools that an agent holds or names.

    Looked at are the agent's attributes, closures, defaults and class, the global names that its code and the
    functions it calls by name use, and the items of containers found there. A tool that is reached in another
    way, as through a registry, is not found.

    Parameters
    ----------
    agent : callable
        The agent.

    Returns
    -------
    list of Tool
        Sorted by name.
    """
    found: dict[str, Tool] = {}
    seen: set[int] = set()
    level = [agent]
    for _ in range(_DEPTH):
        deeper: list[Any] = []
        for item in level:
            if id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, Tool):
                found[item.name] = item
            else:
                deeper += _within(item)
        level = deeper
    return [found[name] for name in sorted(found)]


def _within(item: Any) -> Iterator[Any]:
    if isinstance(item, (str, bytes, int, float, types.ModuleType)):
        return
    if isinstance(item, types.FunctionType):
        yield from _named(item)
    elif isinstance(item, types.MethodType):
        yield from (item.__self__, item.__func__)
    elif isinstance(item, functools.partial):
        yield from (item.func, *item.args, *item.keywords.values())
    elif isinstance(item, Mapping):
        yield from item.values()
    elif isinstance(item, (list, tuple, set, frozenset)):
        yield from item
    elif isinstance(item, type):
        yield from vars(item).values()
    else:
        yield from getattr(item, "__dict__", {}).values()
        yield type(item)


def _named(function: types.FunctionType) -> Iterator[Any]:
    """Yield what a function's code may look up: closure, defaults, globals, attributes of modules."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that is not assigned yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    names = set(_names(function.__code__))
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        yield value
        if isinstance(value, types.ModuleType):
            yield from (vars(value)[inner] for inner in names & vars(value).keys())


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
