"""Which tools a chain or a compiled graph can call, found in its nodes without running it."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from neverempty.integrations._shared import library
from neverempty.tools.tool import Tool

# Objects of other packages, as clients, are looked into this deep; the frameworks' own to the end.
_FOREIGN_DEPTH: Final = 2
_FRAMEWORKS: Final = ("langchain", "langgraph")
_LONGEST: Final = 1000
_LEAVES: Final = (str, bytes, int, float, type, types.ModuleType)
_MAPPINGS: Final = (dict, types.MappingProxyType)
_SEQUENCES: Final = (list, tuple, set, frozenset)
_PLAIN: Final = (types.FunctionType, types.MethodType, functools.partial, *_MAPPINGS, *_SEQUENCES)


def tools_within(*things: Any) -> tuple[list[Any], list[Tool]]:
    """Find the tools that chains, graphs or functions hold or name.

    Parameters
    ----------
    *things : object
        Runnables, compiled graphs, tools, functions, containers of them.

    Returns
    -------
    tuple of (list of BaseTool, list of Tool)
        LangChain's tools and this package's own, in the order in which they were found.
    """
    base = library("langchain_core.tools", "langchain").BaseTool
    model = library("langchain_core.language_models", "langchain").BaseLanguageModel
    found: list[Any] = []
    own: list[Tool] = []
    # Keeps what it has seen, so that no id is given to another object meanwhile.
    seen: dict[int, Any] = {}
    waiting: list[tuple[Any, int]] = [(thing, 0) for thing in things]
    while waiting:
        item, depth = waiting.pop(0)
        if id(item) in seen or issubclass(type(item), model):
            continue
        seen[id(item)] = item
        if issubclass(type(item), Tool):
            own.append(item)
            continue
        is_tool = issubclass(type(item), base)  # a proxy's own __class__ may need a request to be asked
        if is_tool:
            found.append(item)
        foreign = not (is_tool or _of_framework(item) or issubclass(type(item), _PLAIN))
        if not foreign or depth < _FOREIGN_DEPTH:
            waiting.extend((inner, depth + foreign) for inner in _within(item))
    return found, own


def _of_framework(item: Any) -> bool:
    return type(item).__module__.split(".")[0].startswith(_FRAMEWORKS)


def _within(item: Any) -> Iterable[Any]:
    kind = type(item)
    if issubclass(kind, _LEAVES):
        return ()
    if issubclass(kind, types.FunctionType):
        return _named_by(item)
    if issubclass(kind, types.MethodType):
        return (item.__self__, item.__func__)
    if issubclass(kind, functools.partial):
        return (item.func, *item.args, *item.keywords.values())
    if issubclass(kind, _MAPPINGS):
        return list(item.values())[:_LONGEST]
    if issubclass(kind, _SEQUENCES):
        return list(item)[:_LONGEST]
    try:
        return list(vars(item).values())
    except TypeError:  # it has none
        return ()


def _named_by(function: types.FunctionType) -> Iterator[Any]:
    """Yield what a function's code looks up in its closure, its defaults and its module."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    if hasattr(function, "__wrapped__"):
        yield function.__wrapped__
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that is not assigned yet
            continue
    # The globals of a framework's own functions lead into the framework, not to the user's tools.
    if not (function.__module__ or "").split(".")[0].startswith(_FRAMEWORKS):
        for name in sorted(set(_names(function.__code__)) & function.__globals__.keys()):
            yield function.__globals__[name]


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that a function's code looks up, those of functions written inside it too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
