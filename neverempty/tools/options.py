"""What a tool's author declares about it, checked once where the tool is made."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any, Final, Literal

from neverempty._errors import NeverEmptyError, UsageError
from neverempty.results import Err

Returns = Literal["result", "native"]
_MIN_CHARS: Final = 16


class AmbiguousEmptyError(NeverEmptyError):
    """A tool returned an empty value and never said what that means."""


class UnexpectedEmptyError(NeverEmptyError):
    """A tool that is declared to be never empty returned an empty value."""


class SideEffectError(NeverEmptyError):
    """A tool with side effects was about to run for real inside a run."""


@dataclass(frozen=True, slots=True)
class Options:
    """The declarations of one tool; `neverempty.tools.tool` describes each of them."""

    empty_when: Callable[[Any], object] | None = None
    never_empty: bool = False
    strict: bool = True
    truncated_when: Callable[[Any], object] | None = None
    max_chars: int | None = None
    timeout: float | None = None
    retries: int = 0
    backoff: float = 0.5
    sleep: Callable[[float], Any] | None = None
    side_effect: bool = False
    classify_error: Callable[[BaseException], str | Err | None] | None = None
    returns: Returns = "result"
    swallowed: Any = None

    @property
    def native(self) -> bool:
        """Whether the callable's own values and exceptions go through.

        Returns
        -------
        bool
            True for ``returns="native"``.
        """
        return self.returns == "native"


def checked(name: str, options: Options) -> Options:
    """Refuse declarations that contradict each other or cannot work.

    Parameters
    ----------
    name : str
        Name of the tool, for the message.
    options : Options
        The declarations.

    Returns
    -------
    Options
        The same.

    Raises
    ------
    UsageError
        Naming the tool and the declaration.
    """
    problems: tuple[tuple[object, str], ...] = (
        (
            options.never_empty and options.empty_when is not None,
            "never_empty and empty_when contradict each other; keep one",
        ),
        (options.returns not in ("result", "native"), "returns must be 'result' or 'native'"),
        (not _callable_or_none(options.empty_when), "empty_when must be a function of the returned value"),
        (
            not _callable_or_none(options.truncated_when),
            "truncated_when must be a function of the returned value",
        ),
        (
            not _callable_or_none(options.classify_error),
            "classify_error must be a function of the exception",
        ),
        (options.timeout is not None and not options.timeout > 0, "timeout must be more than 0 seconds"),
        (
            isinstance(options.retries, bool) or not isinstance(options.retries, int) or options.retries < 0,
            "retries must be a whole number from 0",
        ),
        (not 0 <= options.backoff < float("inf"), "backoff must be a number of seconds from 0"),
        (
            options.max_chars is not None and options.max_chars < _MIN_CHARS,
            f"max_chars must be at least {_MIN_CHARS}",
        ),
        (
            options.native and (options.max_chars is not None or options.truncated_when is not None),
            "max_chars and truncated_when need returns='result'; native values go through as they are",
        ),
    )
    for wrong, text in problems:
        if wrong:
            raise UsageError(f"tool {name!r}: {text}")
    return options


def _callable_or_none(value: object) -> bool:
    return value is None or callable(value)


def is_bare_empty(value: Any) -> bool:
    """Say whether a value is empty in a way that does not tell whether anything failed.

    Parameters
    ----------
    value : object
        What the tool returned.

    Returns
    -------
    bool
        True for None and for containers without an item; ``0``, ``False``, ``""`` and ``b""`` are values.

    Examples
    --------
    >>> [is_bare_empty(value) for value in (None, [], {}, 0, False, "")]
    [True, True, True, False, False, False]
    """
    if value is None:
        return True
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Sized):
        return False
    try:
        return len(value) == 0
    except Exception:
        # A foreign container that cannot be counted is not known to be empty.
        return False


def ambiguous(name: str, value: Any) -> AmbiguousEmptyError:
    """Make the error for an undeclared empty value, with the ways out in its text.

    Parameters
    ----------
    name : str
        Name of the tool.
    value : object
        What it returned.

    Returns
    -------
    AmbiguousEmptyError
        To be raised.
    """
    shown = repr(value) if type(value) in (type(None), list, dict, tuple, set) else type(value).__name__
    test = "value is None" if value is None else "len(value) == 0"
    return AmbiguousEmptyError(
        f"tool {name!r} returned {shown}, which may mean that nothing matched or that something failed; "
        f"declare which: empty_when=lambda value: {test} if nothing matched, never_empty=True if it can "
        "only be a failure, strict=False to pass it on as data"
    )


def checked_function(name: str, fn: Callable[..., Any]) -> bool:
    """Refuse what cannot be a tool, and say whether the function is asynchronous.

    Parameters
    ----------
    name : str
        Name of the tool.
    fn : callable
        Its function.

    Returns
    -------
    bool
        True for coroutine functions and for objects whose ``__call__`` is one.

    Raises
    ------
    UsageError
        For generators, whose failure would come after the call, and for what cannot be called.
    """
    if not callable(fn):
        raise UsageError(f"tool {name!r}: {type(fn).__name__} cannot be called")
    # A class is called through its constructor; the __call__ in it is that of its instances.
    method = None if inspect.isclass(fn) else getattr(fn, "__call__", None)  # noqa: B004
    for part in (fn, method):
        if inspect.isgeneratorfunction(part) or inspect.isasyncgenfunction(part):
            raise UsageError(
                f"tool {name!r} is a generator; return a list, so that a failure is seen by the call"
            )
        if inspect.iscoroutinefunction(part):
            return True
    return False


def checked_name(name: object) -> str:
    """Refuse a tool name that no model API accepts as the name of a function.

    Parameters
    ----------
    name : object
        The name.

    Returns
    -------
    str
        The same.

    Raises
    ------
    UsageError
        With the way out.
    """
    if isinstance(name, str) and re.fullmatch(r"[\w.:/-]{1,128}", name):
        return name
    raise UsageError(f"{name!r} cannot be the name of a tool; give name='...' of letters, digits, _ and -")
