"""`@tool(...)` and `wrap(...)`: make functions into tools whose failure cannot pass for an empty result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, Unpack

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.results import Err
from neverempty.tools.options import Options, Returns, checked, checked_function, checked_name
from neverempty.tools.tool import AsyncTool, SyncTool, Tool


class ToolOptions(TypedDict, total=False):
    """The declarations that `tool` and `wrap` take; `tool` describes them."""

    empty_when: Callable[[Any], object] | None
    never_empty: bool
    strict: bool
    truncated_when: Callable[[Any], object] | None
    max_chars: int | None
    timeout: float | None
    retries: int
    backoff: float
    sleep: Callable[[float], Any] | None
    side_effect: bool
    classify_error: Callable[[BaseException], str | Err | None] | None
    returns: Returns
    swallowed: Any


def tool(name: str | None = None, **options: Unpack[ToolOptions]) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of the function below; always with parentheses: ``@tool()``.

    Parameters
    ----------
    name : str, optional
        By which cases and models know the tool; the function's name by default.
    empty_when : callable, optional
        ``empty_when(value)`` is true where the value means that nothing matched. Nothing else makes a plain
        value `Empty`.
    never_empty : bool, default False
        An empty value can only be a failure; it becomes an `Err`.
    strict : bool, default True
        An empty value (None, a container without an item) that was not declared raises
        `AmbiguousEmptyError`. With False it is data. ``0``, ``False`` and ``""`` always are.
    truncated_when : callable, optional
        ``truncated_when(value)`` is true where the value is only a part.
    max_chars : int, optional
        Longest JSON text of a payload; more is cut and marked as truncated.
    timeout : float, optional
        Seconds per attempt. A synchronous function then runs in a daemon thread, which is left behind when
        its time is over.
    retries : int, default 0
        Further attempts after errors for which trying again may help. Each counts as a call in the fault
        plan: a fault with ``for_calls=1`` is over at the first retry.
    backoff : float, default 0.5
        Seconds before the first retry, doubled for each further one (30 at most), jittered by half.
    sleep : callable, optional
        Waits in place of ``time.sleep`` or ``asyncio.sleep``.
    side_effect : bool, default False
        Inside a run the tool is refused unless it is stubbed.
    classify_error : callable, optional
        ``classify_error(exception)`` returns an error kind, an `Err`, or None for the default.
    returns : {"result", "native"}, default "result"
        ``"native"`` lets the function's own values and exceptions through, for frameworks.
    swallowed : object, optional
        What ``except: return ...`` returns in such a tool, shown by the presentation ``swallowed``; ``[]``
        by default.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    UsageError
        Without parentheses, or for declarations that contradict each other.

    Examples
    --------
    >>> @tool(empty_when=lambda rows: rows == [])
    ... def search(query: str) -> list[str]:
    ...     return []
    >>> search("flights").to_model()
    '{"status": "empty", "note": "The lookup worked and nothing matched."}'
    """
    if callable(name):
        raise UsageError("write @tool() with parentheses: a bare @tool cannot take declarations")

    def decorate(fn: Callable[..., Any]) -> Tool:
        return wrap(fn, name, **options)

    return decorate


def wrap(fn: Callable[..., Any], name: str | None = None, **options: Unpack[ToolOptions]) -> Tool:
    """Make a tool of a callable that you did not write.

    Parameters
    ----------
    fn : callable
        A function, a method, or an object with ``__call__``; its own exceptions and values are read as
        `tool` says.
    name : str, optional
        By which cases and models know the tool; the callable's name by default.
    **options
        As in `tool`.

    Returns
    -------
    Tool
        The tool.

    Raises
    ------
    UsageError
        For what cannot be a tool, or for declarations that contradict each other.

    Examples
    --------
    >>> wrap(str.upper, "shout")("hi").value
    'HI'
    """
    if isinstance(fn, Tool):
        raise UsageError(f"{fn!r} is a tool already; wrap its function, {fn.name}.fn")
    found = checked_name(getattr(fn, "__name__", None) if name is None else name)
    unknown = [key for key in options if key not in ToolOptions.__annotations__]
    if unknown:
        raise UsageError(
            f"tool {found!r}: unknown option {unknown[0]!r}, "
            f"{did_you_mean(unknown[0], ToolOptions.__annotations__)}"
        )
    made = AsyncTool if checked_function(found, fn) else SyncTool
    return made(fn, found, checked(found, Options(**options)))
