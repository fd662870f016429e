"""A tool as an agent calls it: the function's own signature around one invocation."""

from __future__ import annotations

import abc
import asyncio
import functools
import inspect
import json
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any, Final, cast

from neverempty.faults.present import Presented, present
from neverempty.results import plain
from neverempty.tools.calling import Invocation
from neverempty.tools.options import Options
from neverempty.tools.reading import ArgumentsError, Outcome
from neverempty.tools.schema import arguments_schema
from neverempty.tools.scope import Scope

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class Tool(abc.ABC):
    """A tool: call it like the function that it was made from.

    Parameters
    ----------
    fn : callable
        The function.
    name : str
        The name by which cases and models know the tool.
    options : Options
        Its declarations.

    Attributes
    ----------
    is_async : bool
        Whether a call is to be awaited.
    description : str
        The function's docstring.
    """

    is_async: bool = False

    def __init__(self, fn: Callable[..., Any], name: str, options: Options) -> None:
        functools.update_wrapper(cast(Callable[..., Any], self), fn, updated=())
        self.fn = fn
        self.name = name
        self.label = f"tool {name!r}"
        self.options = options
        self.description = inspect.getdoc(fn) or ""
        self._presented: dict[tuple[str, str, str], Presented] = {}
        self._signature = _signature(fn)
        self._positional, self._rest, self._only_positional = _positional_names(self._signature)

    def __repr__(self) -> str:
        return f"<{'async ' if self.is_async else ''}tool {self.name!r}>"

    def __get__(self, instance: object, owner: type | None = None) -> Tool:
        if instance is None:
            return self
        return type(self)(self.fn.__get__(instance, owner), self.name, self.options)

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, from the function's signature.

        Returns
        -------
        dict
            An object schema.
        """
        return arguments_schema(self.fn)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the tool.

        Parameters
        ----------
        *args, **kwargs
            The function's own arguments.

        Returns
        -------
        object
            `Ok`, `Empty` or `Err`; with ``returns="native"`` the function's own value.
        """
        return self._run(Invocation(self, args, kwargs))

    def invoke(self, arguments: Mapping[str, Any] | str, *, call_id: str | None = None) -> Any:
        """Call the tool as a model asks for it.

        Parameters
        ----------
        arguments : dict or str
            Arguments by name, or the JSON text of them. A text that is no JSON object is an error of kind
            ``validation``, as are arguments that the function does not take.
        call_id : str, optional
            The framework's id of the call.

        Returns
        -------
        object
            What a call returns; to be awaited where `is_async`.
        """
        try:
            kwargs = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
        except (ValueError, RecursionError) as error:
            kwargs = error
        if isinstance(kwargs, dict):
            args = tuple(kwargs.pop(name) for name in self._only_positional if name in kwargs)
            return self._run(Invocation(self, args, kwargs, call_id))
        reason = kwargs if isinstance(kwargs, Exception) else f"not an object but {type(kwargs).__name__}"
        invocation = Invocation(self, (), {"arguments": arguments}, call_id)
        invocation.fn = functools.partial(_refuse, f"the arguments are no JSON object: {reason}")
        return self._run(invocation)

    @abc.abstractmethod
    def _run(self, invocation: Invocation) -> Any:
        """Make attempts until one counts."""

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Bring the arguments of a call under their names, as they are now.

        Parameters
        ----------
        args, kwargs : tuple, dict
            The call's arguments.

        Returns
        -------
        dict
            By name; containers and objects as copies in plain JSON values, so that what the tool or the
            agent changes later does not change the record.
        """
        if args:
            named: dict[str, Any] = dict(zip(self._positional, args, strict=False))
            if len(args) > len(self._positional):
                named[self._rest] = list(args[len(self._positional) :])
            named.update(kwargs)
        else:
            named = kwargs
        for value in named.values():
            if type(value) not in _SCALARS:
                return {
                    key: value if type(value) in _SCALARS else plain(value) for key, value in named.items()
                }
        return named

    def accepts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Say whether the function takes such arguments.

        Parameters
        ----------
        args, kwargs : tuple, dict
            The call's arguments.

        Returns
        -------
        bool
            True also where its signature is unknown.
        """
        if self._signature is None:
            return True
        try:
            self._signature.bind(*args, **kwargs)
        except TypeError:
            return False
        return True

    def presented(self, kind: str, presentation: str, wording: str) -> Presented:
        """Return what a fault of this tool looks like from outside.

        Parameters
        ----------
        kind, presentation, wording : str
            See `neverempty.faults.present`.

        Returns
        -------
        Presented
            Composed on first use.
        """
        key = (kind, presentation, wording)
        shown = self._presented.get(key)
        if shown is None:
            shown = present(
                kind, presentation, self.name, empty_value=self.options.swallowed, wording=wording
            )
            self._presented[key] = shown
        return shown


class SyncTool(Tool):
    """A tool made from an ordinary function."""

    def _run(self, invocation: Invocation) -> Any:
        try:
            while True:
                outcome = invocation.attempt() or self._operate(invocation)
                delay = invocation.delay(outcome) if outcome.retryable else None
                if delay is None:
                    break
                (self.options.sleep or time.sleep)(delay)
        except BaseException:
            invocation.interrupted()
            raise
        return invocation.close(outcome)

    def _operate(self, invocation: Invocation) -> Outcome:
        armed = invocation.armed
        try:
            if self.options.timeout is None and (armed is None or armed.below is None):
                value = invocation.fn(*invocation.args, **invocation.kwargs)
            else:
                value = self._operate_in_scope(invocation)
        except Exception as error:
            return invocation.failed(error)
        return invocation.returned(value)

    def _operate_in_scope(self, invocation: Invocation) -> Any:
        timeout = self.options.timeout
        with Scope(invocation) as scope:
            call = functools.partial(invocation.fn, *invocation.args, **invocation.kwargs)
            return call() if timeout is None else _in_thread(call, timeout, scope, self.name)


class AsyncTool(Tool):
    """A tool made from a coroutine function."""

    is_async = True

    def __init__(self, fn: Callable[..., Any], name: str, options: Options) -> None:
        super().__init__(fn, name, options)
        mark = getattr(inspect, "markcoroutinefunction", None)
        if mark is not None:
            mark(self)

    async def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the tool.

        Parameters
        ----------
        *args, **kwargs
            The function's own arguments.

        Returns
        -------
        object
            `Ok`, `Empty` or `Err`; with ``returns="native"`` the function's own value.
        """
        return await self._run(Invocation(self, args, kwargs))

    async def _run(self, invocation: Invocation) -> Any:
        try:
            while True:
                outcome = invocation.attempt() or await self._operate(invocation)
                delay = invocation.delay(outcome) if outcome.retryable else None
                if delay is None:
                    break
                pause = (self.options.sleep or asyncio.sleep)(delay)
                if inspect.isawaitable(pause):
                    await pause
        except BaseException:
            invocation.interrupted()
            raise
        return invocation.close(outcome)

    async def _operate(self, invocation: Invocation) -> Outcome:
        armed = invocation.armed
        try:
            if self.options.timeout is None and (armed is None or armed.below is None):
                value = await _awaited(invocation)
            else:
                value = await self._operate_in_scope(invocation)
        except Exception as error:
            return invocation.failed(error)
        return invocation.returned(value)

    async def _operate_in_scope(self, invocation: Invocation) -> Any:
        timeout = self.options.timeout
        with Scope(invocation) as scope:
            limit = asyncio.timeout(timeout)
            try:
                async with limit:
                    return await _awaited(invocation)
            except TimeoutError as error:
                if not limit.expired():
                    raise
                scope.abandoned = True
                raise TimeoutError(_too_slow(self.name, timeout)) from error


async def _awaited(invocation: Invocation) -> Any:
    value = invocation.fn(*invocation.args, **invocation.kwargs)
    # A stub for an asynchronous tool may be an ordinary function.
    return await value if inspect.isawaitable(value) else value


def _in_thread(call: Callable[[], Any], timeout: float, scope: Scope, name: str) -> Any:
    """Run a function in a daemon thread with this context, and give it up when its time is over."""
    ended = threading.Event()
    box: list[tuple[bool, Any]] = []
    context = copy_context()

    def work() -> None:
        try:
            box.append((True, context.run(call)))
        except BaseException as error:
            box.append((False, error))
        finally:
            ended.set()

    threading.Thread(target=work, name=f"neverempty-{name}", daemon=True).start()
    if not ended.wait(timeout):
        scope.abandoned = True
        raise TimeoutError(_too_slow(name, timeout))
    worked, value = box[0]
    if worked:
        return value
    raise value


def _too_slow(name: str, timeout: float | None) -> str:
    return f"tool {name!r} did not return within {timeout:g} s"


def _refuse(text: str, **_: Any) -> Any:
    raise ArgumentsError(text)


def _signature(fn: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


def _positional_names(
    signature: inspect.Signature | None,
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Return the names of positional parameters, the name for those beyond, those with no keyword."""
    by_kind: dict[Any, list[str]] = {}
    for item in signature.parameters.values() if signature is not None else ():
        by_kind.setdefault(item.kind, []).append(item.name)
    only = by_kind.get(inspect.Parameter.POSITIONAL_ONLY, [])
    either = by_kind.get(inspect.Parameter.POSITIONAL_OR_KEYWORD, [])
    rest = by_kind.get(inspect.Parameter.VAR_POSITIONAL, ["args"])
    return (*only, *either), rest[0], tuple(only)
