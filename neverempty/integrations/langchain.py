"""LangChain: tools of any kind under faults, chains as agents, calls written down."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack

from neverempty._errors import UsageError
from neverempty.integrations._langchain_calls import call_tracer
from neverempty.integrations._langchain_target import (
    Declared,
    Target,
    Watching,
    conversation,
    last_answer,
)
from neverempty.integrations._langchain_tools import Watch, own_layer, watch_of
from neverempty.integrations._shared import library
from neverempty.tools.making import ToolOptions
from neverempty.traces.tracer import Tracer

__all__ = ["call_tracer", "target", "watching", "wrap"]


def wrap(tool: Any, **options: Unpack[ToolOptions]) -> Any:
    """Copy a LangChain tool so that faults reach it and its calls are written down.

    What a fault makes of it is what LangChain makes of a tool that ends so: ``raised`` is an exception
    (a `ToolException` where the tool sets ``handle_tool_error``), ``flagged`` a tool message with
    ``status="error"``, the others are returned values.

    Parameters
    ----------
    tool : BaseTool
        Any tool, also one that you did not write; it is left as it is.
    **options
        As in `neverempty.tool`, e.g. ``empty_when``.

    Returns
    -------
    BaseTool
        Of the same class, name and schema, for synchronous and asynchronous use.

    Raises
    ------
    UsageError
        For what is no LangChain tool, or one that is wrapped already; where LangChain is not installed.

    Examples
    --------
    >>> from neverempty.integrations import langchain
    >>> def with_faults(tools):
    ...     return [langchain.wrap(tool, empty_when=lambda rows: rows == []) for tool in tools]
    """
    base = library("langchain_core.tools", "langchain").BaseTool
    if not isinstance(tool, base):
        raise UsageError(f"{type(tool).__name__} is no LangChain tool; neverempty.wrap wraps functions")
    if watch_of(tool) is not None or own_layer(tool) is not None:
        raise UsageError(f"the tool {tool.name!r} is wrapped already")
    watch = Watch(tool.model_copy(), options)
    watch.install()
    watch.users = 1
    return watch.tool


@contextlib.contextmanager
def watching(*things: Any, declared: Declared | None = None) -> Iterator[dict[str, Any]]:
    """Watch chains, graphs or tools that you cannot rebuild, for the time of a block.

    Tools found in them meet the faults of the run; chat models go through its seam; calls of tools that
    were not found are written down where the chain is given the config.

    Parameters
    ----------
    *things : Runnable, BaseTool, function or container of them
        Where tools are looked for.
    declared : mapping of str to mapping, optional
        By tool name, options as for `wrap`.

    Yields
    ------
    dict
        A config with the callback that writes calls down.

    Examples
    --------
    >>> from neverempty.integrations import langchain
    >>> def agent(case, tracer):
    ...     with langchain.watching(chain) as config:
    ...         return chain.invoke(case.prompt, config).text
    """
    with Watching(things, declared).on():
        yield {"callbacks": [call_tracer()]}


def target(
    chain: Any,
    *,
    tools: Iterable[Any] = (),
    declared: Declared | None = None,
    inputs: Callable[[Any, Tracer], Any] = conversation,
    answer: Callable[[Any], Any] = last_answer,
    config: Mapping[str, Any] | Callable[[Any, Tracer], Mapping[str, Any]] | None = None,
) -> Target:
    """Make an agent of a chain, for `neverempty.run`.

    Parameters
    ----------
    chain : Runnable
        The chain, as it is.
    tools : iterable of BaseTool, optional
        Tools that cannot be found in it.
    declared : mapping of str to mapping, optional
        By tool name, options as for `wrap`.
    inputs : callable, optional
        ``inputs(case, tracer)`` makes the chain's input; the conversation by default.
    answer : callable, optional
        ``answer(output)`` reads the answer; by default the text of the last message.
    config : mapping or callable, optional
        The chain's config, or ``config(case, tracer)`` to make one.

    Returns
    -------
    Target
        Called with a case and a tracer.

    Raises
    ------
    UsageError
        Where LangChain is not installed or a declaration names no tool.

    Examples
    --------
    >>> from neverempty.integrations import langchain
    >>> def measure(chain, cases):
    ...     return ne.evaluate(langchain.target(chain, inputs=lambda case, tracer: case.prompt), cases)
    """
    if not hasattr(chain, "ainvoke"):
        raise UsageError(f"{type(chain).__name__} is no runnable; give a chain, or write agent(case, tracer)")
    return Target(chain, Watching([chain, *tools], declared), inputs, answer, config or {})
