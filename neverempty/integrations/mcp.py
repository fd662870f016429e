"""MCP client sessions: tools of any server under faults, whatever loop calls them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.integrations._mcp_calls import SessionTool, call_id_of
from neverempty.integrations._shared import library, native_options
from neverempty.tools.options import Options
from neverempty.traces.active import owning_tracer
from neverempty.traces.tracer import Tracer

__all__ = ["wrap"]

_WATCH: Final = "neverempty_watch"
_SESSIONS: Final = ("ClientSession", "Client", "ClientSessionGroup")


def wrap(session: Any, *, declared: Mapping[str, Mapping[str, Any]] | None = None) -> Any:
    """Copy a client session so that faults reach the calls of its tools, which are written down.

    A server shows a tool that raised as a result with ``isError``, and so do ``raised`` and ``flagged``. A
    text with a typed error, a body that declines and a swallowed error are results like any success. What a
    tool returned is read from the structured content, else from the JSON or the text of its content. Outside
    of a run the copy is like the session.

    Parameters
    ----------
    session : ClientSession, Client or ClientSessionGroup
        Of the package ``mcp``, connected or not yet; it is left as it is.
    declared : mapping of str to mapping, optional
        By tool name, options as in `neverempty.tool`, e.g. ``{"search": {"empty_when": lambda r: r == []}}``.

    Returns
    -------
    ClientSession, Client or ClientSessionGroup
        Of the same kind, with the same connection. A framework's tool made from it is measured here: do not
        wrap that tool too.

    Raises
    ------
    UsageError
        For what is no such session, or one that is wrapped already; where ``mcp`` is not installed.

    Examples
    --------
    >>> from neverempty.integrations import mcp
    >>> def with_faults(session):
    ...     return mcp.wrap(session, declared={"search": {"empty_when": lambda jobs: jobs == []}})
    """
    package = library("mcp", "mcp")
    kinds = tuple(getattr(package, name) for name in _SESSIONS if hasattr(package, name))
    kind = type(session)
    if not isinstance(session, kinds):
        raise UsageError(f"{kind.__name__} is no client session of the package mcp")
    if hasattr(kind, _WATCH):
        raise UsageError("this session is wrapped already")
    watch = _Watch(session, declared or {})

    @functools.wraps(kind.call_tool)
    async def call_tool(self: Any, name: str, arguments: Any = None, *args: Any, **kwargs: Any) -> Any:
        return await watch.call(name, arguments, args, kwargs)

    # A session keeps its connection's state in itself, before and after it is opened: both share it.
    copied: Any = object.__new__(type(kind.__name__, (kind,), {"call_tool": call_tool, _WATCH: watch}))
    copied.__dict__ = vars(session)
    return copied


class _Watch:
    """Stands in front of one session."""

    def __init__(self, session: Any, declared: Mapping[str, Mapping[str, Any]]) -> None:
        self._session = session
        self._options: dict[str, Options] = {
            name: native_options(name, options) for name, options in declared.items()
        }
        self._unchecked = bool(declared)

    async def call(self, name: str, arguments: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call of a tool, through the tool layer where a run is going on."""
        tracer = owning_tracer(f"tool {name!r}")
        if tracer is None:
            return await self._session.call_tool(name, arguments, *args, **kwargs)
        if self._unchecked:
            await self._check(tracer)
        tool = SessionTool(self._session.call_tool, name, self._options.get(name) or native_options(name, {}))

        async def send() -> Any:
            return await self._session.call_tool(name, arguments, *args, **kwargs)

        return await tool.made(send, dict(arguments or {}), call_id_of(tracer, name, arguments or {}))

    async def _check(self, tracer: Tracer) -> None:
        """Refuse declarations of tools that the server does not have: they would never be asked."""
        if hasattr(self._session, "list_tools"):
            listed = (await self._session.list_tools()).model_dump(by_alias=True)
            names = [tool["name"] for tool in listed["tools"]]
            more = listed.get("nextCursor") is not None
        else:
            names, more = list(self._session.tools), False
        unknown = [name for name in self._options if name not in names]
        if unknown and not more:
            reason = f"declared names the tool {unknown[0]!r}, which the server does not have"
            tracer.poison(f"{reason}{did_you_mean(unknown[0], names)}")
            raise UsageError(f"{reason}{did_you_mean(unknown[0], names)}")
        self._unchecked = False
