"""Faults below a tool: a callable that the tool's own code uses fails, so that its own ``except`` is met."""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.faults.kinds import KINDS
from neverempty.faults.present import exception_of
from neverempty.faults.spec import ArmedFault, FaultSpec
from neverempty.tools.scope import IN_FLIGHT, SCOPE, Scope
from neverempty.tools.tool import Tool
from neverempty.traces.active import TraceClosedError, current_tracer, no_active_plan

_LOCK: Final = threading.RLock()
_PATCHES: Final[dict[str, _Patch]] = {}


class _Patch:
    """One replaced attribute and what stood there."""

    __slots__ = ("holder", "name", "original", "own", "users")

    def __init__(self, target: str) -> None:
        self.holder, self.name = _find(target)
        self.own = self.name in getattr(self.holder, "__dict__", {})
        # Of a class the bare attribute, so that static methods stay static; of anything else what it gives.
        look_up = inspect.getattr_static if inspect.isclass(self.holder) else getattr
        self.original = look_up(self.holder, self.name)
        self.users = 0
        self._set(target, _replacement(target, self.original))

    def _set(self, target: str, value: Any) -> None:
        try:
            setattr(self.holder, self.name, value)
        except (AttributeError, TypeError) as error:
            raise UsageError(
                f"cannot make {target!r} fail: {error}; name the function of your own code that uses it"
            ) from error

    def restore(self) -> None:
        """Put the original back."""
        if self.own:
            setattr(self.holder, self.name, self.original)
        else:
            delattr(self.holder, self.name)


@contextmanager
def below(faults: Iterable[FaultSpec]) -> Iterator[None]:
    """Make the callables named by faults' `below` able to fail, for the duration of a block.

    They behave as ever except inside a call of the fault's tool that meets the fault. Blocks may overlap;
    the last one to end restores the originals. A callable is replaced where the name stands: for
    ``from client import get`` in ``shop.search``, name ``"shop.search:get"``.

    Parameters
    ----------
    faults : iterable of FaultSpec
        Those without `below` are passed over.

    Raises
    ------
    UsageError
        Where a target does not exist, is a class, or cannot be replaced, or where `raises` is no exception.

    Examples
    --------
    >>> import json
    >>> fault = FaultSpec(tool="search", kind="timeout", below="json:loads")
    >>> with below([fault]):
    ...     json.loads("[1]")
    [1]
    """
    entered: list[str] = []
    try:
        for spec in faults:
            if spec.raises is not None:
                _exception_class(spec.raises)
            if spec.below is not None:
                _enter(spec.below)
                entered.append(spec.below)
        yield
    finally:
        for target in reversed(entered):
            _leave(target)


def _enter(target: str) -> None:
    with _LOCK:
        patch = _PATCHES.get(target)
        if patch is None:
            patch = _PATCHES[target] = _Patch(target)
        patch.users += 1


def _leave(target: str) -> None:
    with _LOCK:
        patch = _PATCHES[target]
        patch.users -= 1
        if patch.users == 0:
            del _PATCHES[target]
            patch.restore()


def _find(target: str) -> tuple[Any, str]:
    """Import a target's module and walk to the object that holds its last name."""
    module, _, path = target.partition(":")
    *outer, name = path.split(".")
    try:
        holder: Any = importlib.import_module(module)
        for part in outer:
            holder = getattr(holder, part)
        found = getattr(holder, name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"there is no {target!r} to make fail: {error}") from error
    if isinstance(found, Tool):
        raise UsageError(
            f"{target!r} is the tool {found.name!r} itself; name it in 'tool' and leave 'below' out"
        )
    if inspect.isclass(found) or not callable(found):
        raise UsageError(f"{target!r} is no function; name a function or a method, as 'module:Class.method'")
    return holder, name


def _replacement(target: str, original: Any) -> Any:
    if isinstance(original, (staticmethod, classmethod)):
        return type(original)(_failing(target, original.__func__))
    return _failing(target, original)


def _failing(target: str, original: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def failing_async(*args: Any, **kwargs: Any) -> Any:
            met = _meet(target)
            if met is None:
                return await original(*args, **kwargs)
            if not met[1].before:
                await original(*args, **kwargs)
            raise _fire(*met)

        return failing_async

    @functools.wraps(original)
    def failing(*args: Any, **kwargs: Any) -> Any:
        met = _meet(target)
        if met is None:
            return original(*args, **kwargs)
        if not met[1].before:
            result = original(*args, **kwargs)
            if inspect.iscoroutine(result):  # of a wrapped coroutine function, which does not look like one
                return _failing_after(result, met)
        raise _fire(*met)

    return failing


async def _failing_after(operation: Coroutine[Any, Any, Any], met: tuple[Scope, ArmedFault]) -> Any:
    await operation
    raise _fire(*met)


def _meet(target: str) -> tuple[Scope, ArmedFault] | None:
    """Find the attempt inside which a target was called, if that attempt is to meet a fault there."""
    scope = SCOPE.get()
    if scope is None and current_tracer() is None:
        waiting = [item for item in list(IN_FLIGHT) if item.armed is not None and item.armed.below == target]
        if len(waiting) > 1:
            tracers = [item.invocation.tracer for item in waiting if item.invocation.tracer is not None]
            raise no_active_plan(repr(target), list(dict.fromkeys(tracers)))
        scope = waiting[0] if waiting else None
    while scope is not None:
        if scope.abandoned:
            raise TraceClosedError(f"{target!r} was called by a tool that had run out of its time")
        if scope.armed is not None and scope.armed.below == target:
            return scope, scope.armed
        scope = scope.parent
    return None


def _fire(scope: Scope, armed: ArmedFault) -> Exception:
    scope.invocation.fire_below(armed)
    if armed.spec.raises is None:
        return exception_of(armed.kind)
    cls = _exception_class(armed.spec.raises)
    message = KINDS[armed.kind].message
    try:
        return cls(message)
    except TypeError:
        # Client libraries' exceptions may want a request or a response; nobody reads them here.
        error = cls.__new__(cls)
        error.args = (message,)
        return error


def _exception_class(name: str) -> type[Exception]:
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"there is no exception {name!r}: {error}") from error
    if not (inspect.isclass(found) and issubclass(found, Exception)):
        raise UsageError(f"{name!r} is no exception class")
    return found
