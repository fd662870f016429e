"""What the bindings have in common: libraries that load on use, and tools that a framework calls."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.faults.present import FlaggedText
from neverempty.integrations._envelope import read_envelope
from neverempty.results import Ok, plain
from neverempty.tools.calling import Invocation
from neverempty.tools.making import ToolOptions
from neverempty.tools.options import AmbiguousEmptyError, Options, checked
from neverempty.tools.reading import Outcome
from neverempty.tools.tool import AsyncTool, SyncTool, Tool
from neverempty.traces.active import owning_tracer
from neverempty.traces.seam import text_of

# Errors of the set-up: a framework's own handler could turn them into a text for the model.
_SET_UP: Final = (AmbiguousEmptyError, UsageError)


def library(name: str, extra: str) -> ModuleType:
    """Import a framework on its first use.

    Parameters
    ----------
    name : str
        Dotted name of the module.
    extra : str
        The extra of this package that brings it.

    Returns
    -------
    module
        The module.

    Raises
    ------
    UsageError
        Where it is not installed; names the extra.

    Examples
    --------
    >>> library("json", "none").__name__
    'json'
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(f"{missing}."):
            raise
        raise UsageError(
            f"the package {missing!r} is not installed; pip install 'neverempty[{extra}]' brings it"
        ) from error


def flagged_text(text: FlaggedText) -> str:
    """Return the text inside a flagged failure, for protocols whose message has a flag of its own.

    Parameters
    ----------
    text : FlaggedText
        The envelope, as a tool with native values returns it.

    Returns
    -------
    str
        What stands beside the flag.

    Examples
    --------
    >>> from neverempty.faults.present import present
    >>> flagged_text(present("timeout", "flagged", "search").value)
    'search failed: the request timed out after 30 seconds'
    """
    return text_of(json.loads(text)["content"])


class PassedError(BaseException):
    """Carries control flow of a framework through the tool layer, which would take it for a failure.

    Parameters
    ----------
    error : BaseException
        What the framework raised.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__()


class _Foreign(Tool):
    """A tool that a framework calls: the framework's own function runs, and its own values go through."""

    def __init__(self, fn: Callable[..., Any], name: str, options: Options, description: str) -> None:
        super().__init__(fn, name, options)
        self.description = description

    def accepts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Leave the arguments to the framework, which has checked them.

        Parameters
        ----------
        args, kwargs : tuple, dict
            The call's arguments.

        Returns
        -------
        bool
            True.
        """
        return True

    def invocation(
        self,
        operation: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        call_id: str | None,
    ) -> Invocation:
        """Begin a call.

        Parameters
        ----------
        operation : callable
            What runs with these arguments, unless the run has a stub for the tool.
        args, kwargs : tuple, dict
            What the model asked for.
        call_id : str or None
            The framework's id of the call.

        Returns
        -------
        Invocation
            The call.
        """
        invocation = Invocation(self, args, kwargs, call_id)
        if invocation.fn is self.fn:
            invocation.fn = operation
        return invocation

    def reread(self, invocation: Invocation, outcome: Outcome) -> Outcome:
        """Look for a failure that the framework's value carries in a flag or says in its text.

        Parameters
        ----------
        invocation : Invocation
            The call.
        outcome : Outcome
            How the attempt ended, by the tool's declarations.

        Returns
        -------
        Outcome
            The same; of truth ``error`` or ``unknown`` where the value says so.
        """
        if outcome.truth == "data" and invocation.state != "fired":
            found = read_envelope(as_envelope(outcome.value))
            if found.outcome in ("error", "unknown"):
                outcome.truth, outcome.kind = found.outcome, "exception" if found.outcome == "error" else None
        if outcome.error is None and hasattr(outcome.value, "content"):
            outcome.text = text_of(outcome.value.content)
        return outcome


class ForeignTool(_Foreign, SyncTool):
    """A synchronous tool of a framework.

    Parameters
    ----------
    fn : callable
        Names the tool's parameters.
    name : str
        Name of the tool.
    options : Options
        Its declarations.
    description : str
        What the model reads about it.
    """

    def carry(
        self,
        operation: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        call_id: str | None = None,
    ) -> Any:
        """Call it.

        Parameters
        ----------
        operation, args, kwargs, call_id
            As in `invocation`.

        Returns
        -------
        object
            The framework's own value, or that of a fault.
        """
        invocation = self.invocation(operation, args, kwargs, call_id)
        try:
            return self._run(invocation)
        except PassedError as passed:
            raise passed.error from None
        except _SET_UP as error:
            _poison(invocation, error)
            raise

    def _operate(self, invocation: Invocation) -> Outcome:
        return self.reread(invocation, super()._operate(invocation))


class ForeignAsyncTool(_Foreign, AsyncTool):
    """An asynchronous tool of a framework; see `ForeignTool`."""

    async def carry(
        self,
        operation: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        call_id: str | None = None,
    ) -> Any:
        """Call it; see `ForeignTool.carry`."""
        invocation = self.invocation(operation, args, kwargs, call_id)
        try:
            return await self._run(invocation)
        except PassedError as passed:
            raise passed.error from None
        except _SET_UP as error:
            _poison(invocation, error)
            raise

    async def _operate(self, invocation: Invocation) -> Outcome:
        return self.reread(invocation, await super()._operate(invocation))


def _poison(invocation: Invocation, error: Exception) -> None:
    if invocation.tracer is not None:
        invocation.tracer.poison(str(error))


def as_envelope(value: Any) -> Any:
    """Bring a framework's tool message into the shape of its dump.

    Parameters
    ----------
    value : object
        Whatever a tool returned.

    Returns
    -------
    object
        Content and status of a message, all of a result with a flag; anything else as it is.
    """
    if hasattr(value, "content") and (hasattr(value, "isError") or hasattr(value, "is_error")):
        return plain(value)
    if hasattr(value, "content") and hasattr(value, "status"):
        return {"type": "tool", "content": value.content, "status": value.status}
    return value


def doubt(call_id: str, result: Any) -> None:
    """Correct the record of a call whose result carries a failure in a flag, or tells of one in its text.

    Parameters
    ----------
    call_id : str
        Of a call that has ended.
    result : object
        What the tool returned; an injected fault is known and stays what it is.
    """
    tracer = owning_tracer("a tool")
    if tracer is None:
        return
    call = next((call for call in reversed(tracer.calls) if call.call_id == call_id), None)
    if call is not None and call.truth == "data" and not call.injected:
        found = read_envelope(as_envelope(result.value if isinstance(result, Ok) else result))
        if found.outcome in ("error", "unknown"):
            call.truth, call.kind = found.outcome, "exception" if found.outcome == "error" else None


def native_options(name: str, declared: Mapping[str, Any]) -> Options:
    """Check what a user declares about a framework's tool.

    Parameters
    ----------
    name : str
        Name of the tool.
    declared : mapping
        Options of `neverempty.wrap`, without ``returns``: a framework's tool returns its own values.

    Returns
    -------
    Options
        The declarations.

    Raises
    ------
    UsageError
        For what cannot be declared here.

    Examples
    --------
    >>> native_options("search", {"never_empty": True}).returns
    'native'
    """
    known = sorted(ToolOptions.__annotations__.keys() - {"returns", "max_chars", "truncated_when"})
    unknown = [key for key in declared if key not in known]
    if unknown:
        raise UsageError(
            f"tool {name!r}: {unknown[0]!r} cannot be declared of a framework's tool; allowed are "
            f"{', '.join(known)}"
        )
    return checked(name, Options(**declared, returns="native"))
