"""What a tool call comes back with: data, a genuine empty, or a failure that cannot be read as empty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import KW_ONLY
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from neverempty._errors import UsageError
from neverempty._io import escape_json, jsonable
from neverempty._kinds import ERROR_KINDS, ErrorKind, kind_of

__all__ = [
    "EMPTY_NOTE",
    "ERROR_KINDS",
    "ERROR_NOTE",
    "ERROR_WORDINGS",
    "REASONS",
    "Empty",
    "Err",
    "ErrorKind",
    "Ok",
    "ToolResult",
    "capped",
    "error_note",
    "is_retryable",
    "kind_of",
    "plain",
    "to_json",
]

_RETRYABLE: Final = frozenset({"timeout", "connection", "rate_limit", "upstream"})

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "timeout": "it did not answer in time",
        "connection": "the connection to it could not be made or broke",
        "rate_limit": "it refused the request because too many were sent",
        "auth": "it did not accept the credentials",
        "permission": "the account may not do this",
        "not_found": "it reported that the requested resource does not exist",
        "validation": "it rejected the arguments of the request",
        "upstream": "the service behind it reported an internal error",
        "malformed": "its reply was broken and could not be read",
        "exception": "it stopped with an unexpected error",
    }
)
"""Why a call failed, one clause per kind; the notes and the presentations of faults share it."""

EMPTY_NOTE: Final = "The lookup worked and nothing matched."

_PLAIN: Final = (
    "The tool failed: {reason}. Whether matching data exists is therefore unknown. Say that the lookup "
    "failed; do not say that nothing exists or that nothing was found."
)

_ANSWER: Final = (
    "This lookup did not run to its end: {reason}. Answer along these lines: "
    '"I could not check this because the tool failed, so I do not know yet. Please try again later."'
)

# Of the wordings below, the one under which a measured model kept fewest failures to itself: datasets/local.
ERROR_NOTE: Final = _ANSWER
"""The default wording of an error's note; ``{reason}`` and ``{kind}`` are replaced, nothing else is."""

ERROR_WORDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "default": ERROR_NOTE,
        "plain": _PLAIN,
        "short": "Failed ({kind}): {reason}. This is not an empty result; the result is unknown.",
        "answer": _ANSWER,
        "rule": (
            "ERROR, NO RESULT. Cause: {reason}. Rule: a failed call is no evidence of absence. Tell the "
            "user about the failure first, and never answer as if zero matches had come back."
        ),
    }
)
"""Wordings of the error's note by name, to be compared on a model."""

_SHOWN_DETAIL = 300


def error_note(kind: str, wording: str = "default", detail: str | None = None) -> str:
    """Compose the note that tells a model what a failed call means.

    Parameters
    ----------
    kind : str
        An error kind.
    wording : str, default "default"
        A name in `ERROR_WORDINGS`.
    detail : str, optional
        What exactly was wrong, appended as it stands (first 300 characters).

    Returns
    -------
    str
        The note.

    Raises
    ------
    UsageError
        For an unknown kind or wording.

    Examples
    --------
    >>> error_note("timeout", "short")
    'Failed (timeout): it did not answer in time. This is not an empty result; the result is unknown.'
    """
    if kind not in REASONS:
        raise UsageError(f"unknown error kind {kind!r}; use one of {', '.join(ERROR_KINDS)}")
    if wording not in ERROR_WORDINGS:
        raise UsageError(f"unknown wording {wording!r}; use one of {', '.join(ERROR_WORDINGS)}")
    # Both replacements are the package's own words: a detail that holds braces is never read as a template.
    note = ERROR_WORDINGS[wording].replace("{reason}", REASONS[kind]).replace("{kind}", kind)
    return f"{note} Details: {detail[:_SHOWN_DETAIL]}" if detail else note


def to_json(value: Any) -> str:
    """Write any value as the strict JSON that a model reads, in the order of its keys.

    Parameters
    ----------
    value : object
        Anything a tool may return. NaN and infinities become null; objects that JSON does not know are
        written by their fields or their text; lone surrogates are escaped.

    Returns
    -------
    str
        JSON text which can be encoded as UTF-8.

    Examples
    --------
    >>> to_json({"price": float("nan"), "ids": (1, 2)})
    '{"price": null, "ids": [1, 2]}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    return escape_json(text)


def plain(value: Any) -> Any:
    """Rebuild a value from JSON's own values; a hostile object costs its content, never the call.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    object
        A copy that shares nothing with it, or a text that says why there is none.
    """
    try:
        return jsonable(value)
    except Exception as error:
        return f"<{type(value).__qualname__}: could not be written ({type(error).__name__})>"


def capped(value: Any, max_chars: int) -> tuple[Any, bool]:
    """Cut a payload whose JSON text is longer than a limit.

    A list loses items from its end, a text its last characters; anything else is cut as JSON text. A cut
    never yields an empty value, which would read as "nothing found".

    Parameters
    ----------
    value : object
        The payload.
    max_chars : int
        Largest length of the payload's JSON text, in characters.

    Returns
    -------
    tuple of (object, bool)
        The payload or its first part, and whether something was cut.

    Examples
    --------
    >>> capped([1, 2, 3, 4], 7)
    ([1, 2], True)
    """
    text = to_json(value)
    if len(text) <= max_chars:
        return value, False
    if isinstance(value, (list, tuple)):
        kept, size = 0, 2
        for item in value:
            size += len(to_json(item)) + (2 if kept else 0)
            if size > max_chars:
                break
            kept += 1
        if kept:
            return list(value[:kept]), True
    elif isinstance(value, str):
        text = value
    return _cut_text(text, max_chars), True


def _cut_text(text: str, max_chars: int) -> str:
    """Return the longest start of a text whose JSON form fits, at least one character of it."""
    low, high = 1, min(len(text), max(1, max_chars - 2))
    while low < high:
        middle = (low + high + 1) // 2
        if len(to_json(text[:middle])) <= max_chars:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _cause_text(cause: Any) -> str | None:
    if cause is None or isinstance(cause, str):
        return cause
    if not isinstance(cause, BaseException):
        raise ValueError("give a text or an exception")
    try:
        text = str(cause)
    except Exception as error:
        text = f"<its text raised {type(error).__name__}>"
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__


_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_STRICT)
class Ok:
    """Data came back. ``0``, ``False`` and ``""`` are data too.

    Parameters
    ----------
    value : object
        The payload.
    truncated : bool, default False
        True where the payload is only the first part.

    Examples
    --------
    >>> Ok([1]).to_model()
    '{"status": "ok", "data": [1], "truncated": false}'
    """

    value: Any
    truncated: bool = False
    _: KW_ONLY
    status: Literal["ok"] = "ok"

    def to_model(self) -> str:
        """Write the result as the text of a tool message.

        Returns
        -------
        str
            JSON with ``status``, ``data`` and ``truncated``.
        """
        flag = "true" if self.truncated else "false"
        return f'{{"status": "ok", "data": {to_json(self.value)}, "truncated": {flag}}}'


@dataclass(frozen=True, config=_STRICT)
class Empty:
    """The query worked and nothing matched.

    Parameters
    ----------
    reason : str, optional
        Why nothing matched, shown in place of the general note.

    Examples
    --------
    >>> Empty("no flight on that day").to_model()
    '{"status": "empty", "note": "no flight on that day"}'
    """

    reason: str | None = None
    _: KW_ONLY
    status: Literal["empty"] = "empty"

    def to_model(self) -> str:
        """Write the result as the text of a tool message.

        Returns
        -------
        str
            JSON with ``status`` and ``note``.
        """
        return to_json({"status": "empty", "note": self.reason or EMPTY_NOTE})


@dataclass(frozen=True, config=_STRICT)
class Err:
    """The tool failed; nothing is known about whether matching data exists.

    Parameters
    ----------
    kind : str
        One of the error kinds.
    message : str, default ""
        What happened, for logs; of a ``validation`` error the model sees it too, to mend its arguments.
    retryable : bool, default False
        Whether trying again may help.
    cause : str or BaseException, optional
        What led to it; an exception is kept as its type and text.

    Examples
    --------
    >>> result = Err("timeout", "no answer within 5 s", cause=TimeoutError("5 s"))
    >>> result.cause, result.status
    ('TimeoutError: 5 s', 'error')
    """

    kind: ErrorKind
    message: str = ""
    retryable: bool = False
    cause: Annotated[Any, AfterValidator(_cause_text)] = None
    _: KW_ONLY
    status: Literal["error"] = "error"

    def to_model(self, wording: str = "default") -> str:
        """Write the result as the text of a tool message.

        Parameters
        ----------
        wording : str, default "default"
            A name in `ERROR_WORDINGS`.

        Returns
        -------
        str
            JSON with ``status``, ``kind`` and ``note``.
        """
        detail = self.message if self.kind == "validation" else None
        return to_json({"status": "error", "kind": self.kind, "note": error_note(self.kind, wording, detail)})


ToolResult = Annotated[Ok | Empty | Err, Field(discriminator="status")]
"""What a tool call comes back with: a pydantic union discriminated on ``status``."""


def is_retryable(kind: str) -> bool:
    """Say whether trying again may help against a kind of error.

    Parameters
    ----------
    kind : str
        An error kind.

    Returns
    -------
    bool
        True for timeouts, broken connections, rate limits and failing upstream services.

    Examples
    --------
    >>> is_retryable("timeout"), is_retryable("auth")
    (True, False)
    """
    return kind in _RETRYABLE
