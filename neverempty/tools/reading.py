"""What a returned value or a raised exception means, by the declarations of the tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.results import ERROR_KINDS, Empty, Err, Ok, capped, is_retryable, kind_of, to_json
from neverempty.tools.options import (
    AmbiguousEmptyError,
    Options,
    SideEffectError,
    UnexpectedEmptyError,
    ambiguous,
    is_bare_empty,
)
from neverempty.traces.active import NoActivePlanError, TraceClosedError
from neverempty.traces.model import Truth

# Errors of the set-up or of the harness: shown to the model they would pass for failures of the tool.
LOUD: Final = (AmbiguousEmptyError, NoActivePlanError, SideEffectError, TraceClosedError, UsageError)
_TRUTHS: Final[dict[str, Truth]] = {"ok": "data", "empty": "empty", "error": "error"}
_NEVER_AWAITABLE: Final = frozenset({list, dict, str, int, float, bool, tuple, type(None)})


class ArgumentsError(ValueError):
    """The model's arguments of a tool call are no JSON object."""


class Outcome:
    """How one attempt ended.

    Parameters
    ----------
    truth : {"data", "empty", "error", "unknown"}
        What really happened.
    kind : str or None
        Kind of fault or error.
    value : object
        What the tool returns.
    error : Exception or None
        What it raises instead.
    retryable : bool
        Whether another attempt may help.
    text : str or None
        What the model will read, where it is known beforehand.
    """

    __slots__ = ("error", "kind", "retryable", "text", "truth", "value")

    def __init__(
        self,
        truth: Truth,
        kind: str | None,
        value: Any,
        error: Exception | None = None,
        retryable: bool = False,
        text: str | None = None,
    ) -> None:
        self.truth = truth
        self.kind = kind
        self.value = value
        self.error = error
        self.retryable = retryable
        self.text = text


def read_value(name: str, options: Options, value: Any, strict: bool) -> Outcome:
    """Read what a tool's function returned.

    Parameters
    ----------
    name : str
        Name of the tool.
    options : Options
        Its declarations.
    value : object
        The value; an `Ok`, `Empty` or `Err` says itself what it means.
    strict : bool
        Whether an undeclared empty value is refused.

    Returns
    -------
    Outcome
        What it means.

    Raises
    ------
    AmbiguousEmptyError
        For an undeclared empty value.
    UsageError
        Where a declaration cannot deal with the value.
    """
    if isinstance(value, (Ok, Empty, Err)):
        return _read_typed(name, options, value)
    if type(value) not in _NEVER_AWAITABLE and inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise UsageError(f"tool {name!r} is not async but returned an awaitable; make it async def")
    if options.empty_when is not None and _asked(name, "empty_when", options.empty_when, value):
        return Outcome("empty", None, value if options.native else Empty())
    if (options.never_empty or strict) and is_bare_empty(value):
        if options.never_empty:
            return _unexpected_empty(name, options)
        raise ambiguous(name, value)
    if options.native:
        return Outcome("data", None, value)
    truncated = options.truncated_when is not None and _asked(
        name, "truncated_when", options.truncated_when, value
    )
    return _read_typed(name, options, Ok(value, truncated))


def _read_typed(name: str, options: Options, result: Ok | Empty | Err) -> Outcome:
    if isinstance(result, Err):
        return Outcome("error", result.kind, result, None, result.retryable)
    if isinstance(result, Empty) and options.never_empty:
        return _unexpected_empty(name, options)
    if isinstance(result, Ok) and options.max_chars is not None:
        value, cut = capped(result.value, options.max_chars)
        result = Ok(value, True) if cut else result
    return Outcome(_TRUTHS[result.status], None, result)


def _unexpected_empty(name: str, options: Options) -> Outcome:
    text = f"tool {name!r} returned an empty value although it is declared never_empty"
    if options.native:
        return Outcome("error", "malformed", None, UnexpectedEmptyError(text))
    return Outcome("error", "malformed", Err("malformed", text))


def _asked(name: str, declaration: str, test: Callable[[Any], object], value: Any) -> bool:
    try:
        return bool(test(value))
    except Exception as error:
        raise UsageError(
            f"tool {name!r}: {declaration} raised {type(error).__name__}: {error}; make it accept whatever "
            "the tool returns"
        ) from error


def read_error(name: str, options: Options, error: Exception, mismatch: bool) -> Err:
    """Read what a tool's function raised.

    Parameters
    ----------
    name : str
        Name of the tool.
    options : Options
        Its declarations.
    error : Exception
        The exception.
    mismatch : bool
        Whether the function does not take the arguments that it was called with.

    Returns
    -------
    Err
        Of the kind that ``classify_error`` says, else of the kind that the exception shows.

    Raises
    ------
    NeverEmptyError
        The exception itself, where it concerns the harness or the set-up and not the tool.
    UsageError
        Where ``classify_error`` fails or returns something else.
    """
    if isinstance(error, LOUD):
        raise error
    found: object = None
    if options.classify_error is not None:
        try:
            found = options.classify_error(error)
        except Exception as broken:
            raise UsageError(
                f"tool {name!r}: classify_error raised {type(broken).__name__}: {broken}"
            ) from broken
    if isinstance(found, Err):
        return found
    if found is None:
        found = "validation" if mismatch or isinstance(error, ArgumentsError) else kind_of(error)
    for kind in ERROR_KINDS:
        if found == kind:
            return Err(kind, safe_text(error), is_retryable(kind), error)
    raise UsageError(
        f"tool {name!r}: classify_error returned {found!r}; return an Err, None, or one of "
        f"{', '.join(ERROR_KINDS)}"
    )


def text_of(value: Any) -> str:
    """Return the text that a tool's value becomes for the model, as far as that can be told.

    Parameters
    ----------
    value : object
        A result, or a native value.

    Returns
    -------
    str
        ``to_model()`` of a result, a text itself, the JSON of anything else.
    """
    if isinstance(value, (Ok, Empty, Err)):
        return value.to_model()
    return str.__str__(value) if isinstance(value, str) else to_json(value)


def safe_text(error: BaseException) -> str:
    """Return an exception's text, whatever its ``__str__`` does.

    Parameters
    ----------
    error : BaseException
        The exception.

    Returns
    -------
    str
        Its text, else its type.
    """
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__
