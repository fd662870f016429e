"""LangGraph: a compiled graph as an agent, its tools under faults without building it anew.

::

    import neverempty as ne
    from neverempty.integrations import langgraph

    from my_agent import graph  # yours, compiled

    agent = langgraph.target(graph, declared={"search_jobs": {"empty_when": lambda rows: rows == []}})
    cases = ne.load_cases("cases.jsonl")
    report = ne.evaluate(agent, cases, arms=["typed", "swallowed"], repeats=3)
    print(report.to_markdown())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from neverempty._errors import UsageError
from neverempty.integrations._langchain_target import (
    Declared,
    Target,
    Watching,
    conversation,
    last_answer,
)
from neverempty.integrations._shared import library
from neverempty.traces.tracer import Tracer

__all__ = ["target"]


def target(
    graph: Any,
    *,
    tools: Iterable[Any] = (),
    declared: Declared | None = None,
    inputs: Callable[[Any, Tracer], Any] | None = None,
    answer: Callable[[Any], Any] = last_answer,
    config: Mapping[str, Any] | Callable[[Any, Tracer], Mapping[str, Any]] | None = None,
) -> Target:
    """Make an agent of a compiled graph, for `neverempty.run`.

    The tools of its nodes, `ToolNode` or your own, are found and meet the faults while a case runs; the graph
    itself is not changed, and behaves as ever outside of a run. What a failure looks like is up to the graph:
    a `ToolNode` that handles errors shows ``raised`` as a tool message with ``status="error"``; by default it
    lets the exception end the graph, and the trace is an ``agent_error``. Chat models go through the run's
    seam: they can be recorded, replayed and budgeted. Each repeat is a thread of its own. Synchronous tools
    that a model calls at once run side by side, so which of several calls of the same tool a fault with
    ``after_calls`` meets is up to the threads.

    Parameters
    ----------
    graph : CompiledStateGraph
        The graph.
    tools : iterable of BaseTool, optional
        Tools that cannot be found in it.
    declared : mapping of str to mapping, optional
        By tool name, options as in `neverempty.tool`, e.g. ``{"search": {"empty_when": lambda r: r == []}}``.
    inputs : callable, optional
        ``inputs(case, tracer)`` makes the input state; by default ``{"messages": [...]}`` with the arm's
        prompt as a system message.
    answer : callable, optional
        ``answer(state)`` reads the answer from the final state; by default the text of its last message.
    config : mapping or callable, optional
        The graph's config, or ``config(case, tracer)`` to make one, as an arm with a model needs.

    Returns
    -------
    Target
        Called with a case and a tracer.

    Raises
    ------
    UsageError
        For what is no compiled graph, where no tool is found, or a declaration names none; where LangGraph
        is not installed.

    Examples
    --------
    >>> from neverempty.integrations import langgraph
    >>> def measure(graph, cases):
    ...     return ne.evaluate(langgraph.target(graph), cases, arms=["typed", "swallowed"], repeats=3)
    """
    base = library("langgraph.pregel", "langgraph").Pregel
    if not isinstance(graph, base):
        way_out = "; call its compile()" if hasattr(graph, "compile") else ""
        raise UsageError(f"{type(graph).__name__} is no compiled graph{way_out}")
    found = Watching([graph, *tools], declared)
    if not found.layers:
        raise UsageError("no tool was found in the graph's nodes; give tools=[...] that its code calls")
    return Target(graph, found, inputs or _state, answer, config or {})


def _state(case: Any, tracer: Tracer) -> dict[str, Any]:
    return {"messages": conversation(case, tracer)}
