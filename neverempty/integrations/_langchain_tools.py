"""LangChain's tools: calls of any `BaseTool` go through the tool layer, where faults are put in."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from neverempty._errors import NeverEmptyError
from neverempty._io import jsonable
from neverempty.faults.present import FlaggedText
from neverempty.integrations._shared import (
    ForeignAsyncTool,
    ForeignTool,
    PassedError,
    flagged_text,
    library,
    native_options,
)
from neverempty.tools.reading import safe_text
from neverempty.tools.tool import Tool
from neverempty.traces.active import owning_tracer
from neverempty.traces.seam import text_of

_WATCH: Final = "neverempty_watch"
_JSON: Final = (str, int, float, bool, list, dict, type(None))
_LOCK: Final = threading.Lock()


class Running:
    """One call of a watched tool, as the code around it sees it.

    Parameters
    ----------
    call_id : str or None
        The model's id of the call.

    Attributes
    ----------
    begun : bool
        Whether it came as far as the tool's own function, and so to the tool layer.
    """

    __slots__ = ("begun", "call_id")

    def __init__(self, call_id: str | None) -> None:
        self.call_id = call_id
        self.begun = False


RUNNING: Final[ContextVar[Running | None]] = ContextVar("neverempty_langchain_tool", default=None)
"""The watched tool that runs in this context and is recorded by its watch; None inside its own function."""
_INSIDE: Final[ContextVar[tuple[Watch, ...]]] = ContextVar("neverempty_langchain_inside", default=())


class Watch:
    """Stands around one tool; `install` puts it there.

    Parameters
    ----------
    tool : BaseTool
        The tool.
    declared : mapping
        What its author would declare with `neverempty.wrap`.

    Attributes
    ----------
    layer : Tool
        By which the run knows the tool.
    """

    def __init__(self, tool: Any, declared: Mapping[str, Any]) -> None:
        self.tool = tool
        options = native_options(tool.name, declared)
        about = (tool._run, tool.name, options, tool.description)
        self.layer = ForeignTool(*about)
        self._async_layer = ForeignAsyncTool(*about)
        schema = tool.tool_call_schema
        if not isinstance(schema, Mapping):
            # tools may still describe themselves by models of pydantic 1
            schema = getattr(schema, "model_json_schema", None) or schema.schema
            schema = schema()
        self._shown = frozenset(schema.get("properties", ()))
        taken = getattr(tool.get_input_schema(), "model_fields", ())
        self._injected = frozenset(taken) - self._shown
        for layer in (self.layer, self._async_layer):
            vars(layer)["schema"] = dict(schema)
        self.users = 0

    def install(self) -> None:
        """Replace the methods by which frameworks and models call the tool, on this one object."""
        tool, base = self.tool, library("langchain_core.tools", "langchain").BaseTool
        replaced = {"run": self._told(tool.run), "arun": self._told_async(tool.arun)}
        replaced["_run"] = self._carried(tool._run)
        if type(tool)._arun is not base._arun:
            replaced["_arun"] = self._carried_async(tool._arun)
        # pydantic refuses to set such names; an object's own entry goes before the method of its class
        vars(tool).update({_WATCH: self, **replaced})

    def remove(self) -> None:
        """Give the tool its own methods back."""
        for name in (_WATCH, "run", "arun", "_run", "_arun"):
            vars(self.tool).pop(name, None)

    def _told(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Note the id of the call, which the tool itself is not told."""

        @functools.wraps(original)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self._told_of(args, kwargs) as ended:
                output = original(*args, **kwargs)
                ended(output)
                return output

        return run

    def _told_async(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def arun(*args: Any, **kwargs: Any) -> Any:
            with self._told_of(args, kwargs) as ended:
                output = await original(*args, **kwargs)
                ended(output)
                return output

        return arun

    @contextmanager
    def _told_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Callable[[Any], None]]:
        """Note a call on its way in, and write down one that LangChain refuses for its arguments."""
        running = Running(kwargs.get("tool_call_id"))
        asked = args[0] if args else kwargs.get("tool_input")
        token = RUNNING.set(running)

        def ended(output: Any) -> None:
            if not running.begun:
                self._refused(asked, running.call_id, text_of(getattr(output, "content", output)), None)

        try:
            yield ended
        except Exception as error:
            if not running.begun:
                self._refused(asked, running.call_id, None, safe_text(error))
            raise
        finally:
            RUNNING.reset(token)

    def _refused(self, asked: Any, call_id: str | None, text: str | None, raised: str | None) -> None:
        tracer = owning_tracer(self.layer.label)
        if tracer is None:
            return
        given = asked if isinstance(asked, Mapping) else {"input": asked}
        args = {key: jsonable(value) for key, value in given.items() if self._is_shown(key, value)}
        call = tracer.begin(self.tool.name, args, call_id)
        tracer.finish(call, "error", text, "validation", 0.0, raised=raised)

    def _is_shown(self, key: str, value: Any) -> bool:
        """Say whether the model gave an argument, right or wrong, and not the framework."""
        return key not in self._injected and isinstance(value, _JSON)

    def _carried(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def _run(*args: Any, **kwargs: Any) -> Any:
            if self in _INSIDE.get():
                return original(*args, **kwargs)
            shown, ending = self._begin(kwargs)

            def operate(*own: Any, **asked: Any) -> Any:
                with self._own_code(ending):
                    return ending.opened(original(*own, **asked, **ending.hidden))

            try:
                return ending.closed(self.layer.carry(operate, args, shown, ending.call_id))
            except Exception as error:
                ending.explain(error)
                raise

        return _run

    def _carried_async(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        async def _arun(*args: Any, **kwargs: Any) -> Any:
            if self in _INSIDE.get():
                return await original(*args, **kwargs)
            shown, ending = self._begin(kwargs)

            async def operate(*own: Any, **asked: Any) -> Any:
                with self._own_code(ending):
                    return ending.opened(await original(*own, **asked, **ending.hidden))

            try:
                return ending.closed(await self._async_layer.carry(operate, args, shown, ending.call_id))
            except Exception as error:
                ending.explain(error)
                raise

        return _arun

    def _begin(self, kwargs: dict[str, Any]) -> tuple[dict[str, Any], _Ending]:
        """Part what the model asked for from what the framework adds: config, callbacks, injected state."""
        shown = {key: value for key, value in kwargs.items() if key in self._shown}
        running = RUNNING.get()
        if running is not None:
            running.begun = True
        hidden = {key: value for key, value in kwargs.items() if key not in self._shown}
        return shown, _Ending(self.tool, hidden, None if running is None else running.call_id)

    @contextmanager
    def _own_code(self, ending: _Ending) -> Iterator[None]:
        """Run the tool's own function: tools that it calls are calls of their own, a retry of it is not."""
        inside, running = _INSIDE.set((*_INSIDE.get(), self)), RUNNING.set(None)
        try:
            yield
        except _control_flow() as error:
            raise PassedError(error) from None
        except Exception as error:
            ending.raised = error
            raise
        finally:
            RUNNING.reset(running)
            _INSIDE.reset(inside)


class _Ending:
    """Brings what the tool layer hands back into the form that LangChain gives a tool's end."""

    __slots__ = ("artifact", "call_id", "hidden", "raised", "tool", "unpacked")

    def __init__(self, tool: Any, hidden: dict[str, Any], call_id: str | None) -> None:
        self.tool = tool
        self.hidden = hidden
        self.call_id = call_id
        self.artifact: Any = None
        self.unpacked: bool | None = None
        self.raised: Exception | None = None

    def opened(self, value: Any) -> Any:
        """Take the content out of a pair of content and artifact: a fault concerns the content."""
        pair = self.tool.response_format == "content_and_artifact"
        self.unpacked = pair and isinstance(value, tuple) and len(value) == 2
        if self.unpacked:
            value, self.artifact = value
        return value

    def closed(self, value: Any) -> Any:
        """Return a value as the tool itself would have."""
        if isinstance(value, FlaggedText):
            text = flagged_text(value)
            if self.call_id is not None:
                message = library("langchain_core.messages", "langchain").ToolMessage
                value = message(text, tool_call_id=self.call_id, name=self.tool.name, status="error")
            else:
                value = text
        if self.tool.response_format == "content_and_artifact" and self.unpacked is not False:
            return value, self.artifact
        return value

    def explain(self, error: Exception) -> None:
        """Raise an injected failure as the exception that the tool's author has arranged for.

        LangChain's ``handle_tool_error`` is asked about `ToolException` only; a tool that sets it says that
        its failures are such.
        """
        if error is self.raised or isinstance(error, NeverEmptyError) or not self.tool.handle_tool_error:
            return
        raise library("langchain_core.tools", "langchain").ToolException(str(error)) from error


def _control_flow() -> tuple[type[BaseException], ...]:
    """Name what LangGraph raises to interrupt or redirect a graph; nothing where it is not in use."""
    errors = sys.modules.get("langgraph.errors")
    return () if errors is None else (errors.GraphBubbleUp,)


def watch_of(tool: Any) -> Watch | None:
    """Return the watch that stands around a tool.

    Parameters
    ----------
    tool : BaseTool
        The tool.

    Returns
    -------
    Watch or None
        None where there is none.
    """
    found = vars(tool).get(_WATCH)
    return found if isinstance(found, Watch) else None


def own_layer(tool: Any) -> Tool | None:
    """Return the tool layer that a tool has by itself, being made from a function that ``ne.tool`` made.

    Parameters
    ----------
    tool : BaseTool
        The tool.

    Returns
    -------
    Tool or None
        A second layer around it would count each call twice.
    """
    for name in ("func", "coroutine"):
        function = getattr(tool, name, None)
        if isinstance(function, Tool):
            return function
    return None


@contextmanager
def watched(watches: Sequence[Watch]) -> Iterator[None]:
    """Put watches around their tools for the time of a block; blocks may overlap, also those of others.

    Parameters
    ----------
    watches : sequence of Watch
        A tool that another watch stands around keeps that one.
    """
    with contextlib.ExitStack() as stack:
        for watch in watches:
            stack.enter_context(_watched(watch))
        yield


@contextmanager
def _watched(watch: Watch) -> Iterator[None]:
    with _LOCK:
        there = watch_of(watch.tool)
        if there is None:
            watch.install()
            there = watch
        there.users += 1
    try:
        yield
    finally:
        with _LOCK:
            there.users -= 1
            if there.users == 0:
                there.remove()
