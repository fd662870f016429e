"""How a fault reaches the model: the exact text, flag, value or exception for each valid pair."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic.dataclasses import dataclass as result_class

from neverempty._errors import UsageError
from neverempty.faults.kinds import KINDS, PRESENTATIONS, KindInfo, Presentation
from neverempty.results import Empty, Err, Ok, is_retryable, to_json

BROKEN_BODY: Final = '{"status": "success", "total": 3, "items": [{"id": "a-17" "na'
"""The body of a ``malformed`` success: it breaks off in the middle of its first item."""


class HTTPStatusError(Exception):
    """The error of an HTTP client, raised by injected faults that stand for a status code.

    Parameters
    ----------
    message : str
        The text.
    status_code : int
        The HTTP status.
    """

    def __init__(self, message: str, status_code: int) -> None:
        self.status_code = status_code
        super().__init__(message)


class FlaggedText(str):
    """Text of a failed call whose failure the protocol marks with a flag, as MCP does with ``isError``."""

    __slots__ = ()
    is_error: Final = True


@result_class(frozen=True)
class ShownOk(Ok):
    """A success that stands in the tool message exactly as a tool without typed results writes it."""

    text: str = field(default="", kw_only=True)

    def to_model(self) -> str:
        """Return the text of the tool message.

        Returns
        -------
        str
            The text of the presentation.
        """
        return self.text


@result_class(frozen=True)
class ShownErr(Err):
    """A failure that stands in the tool message as a framework or a protocol writes it."""

    text: str = field(default="", kw_only=True)

    def to_model(self, wording: str = "default") -> str:
        """Return the text of the tool message.

        Parameters
        ----------
        wording : str, optional
            Without effect: the presentation fixes the text.

        Returns
        -------
        str
            The text of the presentation.
        """
        return self.text


@dataclass(frozen=True, slots=True)
class Presented:
    """A fault in the form in which it leaves the tool.

    Parameters
    ----------
    kind, presentation : str
        The pair.
    text : str
        Exactly what the model sees.
    is_error : bool
        Whether the protocol marks the call as failed.
    result : Ok, Empty or Err
        What a tool with typed results returns; its ``to_model()`` is `text`.
    truth : {"error", "empty"}
        What happened, whatever the text says.
    """

    kind: str
    presentation: Presentation
    text: str
    is_error: bool
    result: Ok | Empty | Err
    truth: Literal["error", "empty"]
    template: Any = None

    @property
    def exception(self) -> Exception | None:
        """A new exception for tools that return native values; None where they return.

        Returns
        -------
        Exception or None
            Only ``raised`` errors have one.
        """
        return exception_of(self.kind) if self.presentation == "raised" and self.truth == "error" else None

    @property
    def value(self) -> Any:
        """What a tool with native values returns: a new copy at each call.

        Returns
        -------
        object
            The empty value, the declining body, or the text.
        """
        return fresh(self.template)

    @property
    def retryable(self) -> bool:
        """Whether the tool's own retries would try again.

        Returns
        -------
        bool
            False where the failure is dressed as a success: nothing sees that there is something to retry.
        """
        return self.is_error and is_retryable(self.kind)

    def typed(self) -> Ok | Empty | Err:
        """Return what a tool with typed results returns.

        Returns
        -------
        Ok, Empty or Err
            Whose payload, where it has one, no other call shares.
        """
        if isinstance(self.result, ShownOk):
            return ShownOk(fresh(self.template), text=self.text)
        return self.result


def fresh(value: Any) -> Any:
    """Copy a template, so that no call can change what the next one gets.

    Parameters
    ----------
    value : object
        The template.

    Returns
    -------
    object
        The copy.
    """
    if isinstance(value, (list, dict)):
        return copy.deepcopy(value) if value else value.copy()
    return value


def worded(result: Err, wording: str) -> ShownErr:
    """Fix the text of a real error to the wording that an arm asks for.

    Parameters
    ----------
    result : Err
        The error.
    wording : str
        A name in `neverempty.results.ERROR_WORDINGS`.

    Returns
    -------
    ShownErr
        The same error, whose ``to_model()`` is in that wording.
    """
    text = result.to_model(wording)
    return ShownErr(result.kind, result.message, result.retryable, result.cause, text=text)


def exception_of(kind: str) -> Exception:
    """Make the exception that a failure of some kind raises in Python.

    Parameters
    ----------
    kind : str
        A kind of error.

    Returns
    -------
    Exception
        A new one; `neverempty.results.kind_of` maps it back to the kind.
    """
    info = KINDS[kind]
    if info.exception == "HTTPStatusError" and info.http_status is not None:
        return HTTPStatusError(info.message, info.http_status)
    if info.exception == "JSONDecodeError":
        try:
            json.loads(BROKEN_BODY)
        except json.JSONDecodeError as error:
            return error.with_traceback(None)
    builtin = {"TimeoutError": TimeoutError, "ConnectionError": ConnectionError}
    return builtin.get(info.exception, RuntimeError)(info.message)


def present(
    kind: str,
    presentation: str,
    tool: str,
    *,
    empty_value: Any = None,
    wording: str = "default",
) -> Presented:
    """Compose what a fault looks like from outside the tool.

    Parameters
    ----------
    kind : str
        A kind of error, an unclear kind, or ``empty``.
    presentation : str
        One of `PRESENTATIONS`. The control ``empty`` is typed under ``typed``; under all others it is the
        tool's bare empty value, the same as a swallowed error.
    tool : str
        Name of the tool, as frameworks put it into their texts.
    empty_value : object, optional
        What ``except: return ...`` returns in this tool; ``[]`` by default.
    wording : str, default "default"
        Which note a typed error carries.

    Returns
    -------
    Presented
        Text, flag, value and exception.

    Raises
    ------
    UsageError
        For a pair that does not exist.

    Examples
    --------
    >>> present("timeout", "declined", "search").text
    '{"success": false, "error": "the request timed out after 30 seconds"}'
    >>> present("timeout", "swallowed", "search").text
    '[]'
    """
    info = KINDS.get(kind)
    if info is None or not info.presented or presentation not in PRESENTATIONS:
        raise UsageError(
            f"there is no fault {kind!r} presented as {presentation!r}; fault_table() lists every pair"
        )
    empty = [] if empty_value is None else empty_value
    if info.truth == "empty":
        return _present_empty(presentation, empty)
    return _PRESENTERS[presentation](info, tool, empty, wording)


def _present_empty(presentation: Any, empty: Any) -> Presented:
    if presentation == "typed":
        result = Empty()
        return Presented("empty", presentation, result.to_model(), False, result, "empty", empty)
    text = empty if isinstance(empty, str) else to_json(empty)
    return Presented("empty", presentation, text, False, ShownOk(empty, text=text), "empty", empty)


def _err(info: KindInfo) -> dict[str, Any]:
    return {"kind": info.name, "message": info.message, "retryable": is_retryable(info.name)}


def _typed(info: KindInfo, tool: str, empty: Any, wording: str) -> Presented:
    text = Err(**_err(info)).to_model(wording)
    return Presented(info.name, "typed", text, True, ShownErr(**_err(info), text=text), "error", text)


def _raised(info: KindInfo, tool: str, empty: Any, wording: str) -> Presented:
    text = f"Error executing tool {tool}: {info.exception}: {info.message}"
    return Presented(info.name, "raised", text, True, ShownErr(**_err(info), text=text), "error", text)


def _flagged(info: KindInfo, tool: str, empty: Any, wording: str) -> Presented:
    body = {"content": [{"type": "text", "text": f"{tool} failed: {info.message}"}], "isError": True}
    text = to_json(body)
    shown = ShownErr(**_err(info), text=text)
    return Presented(info.name, "flagged", text, True, shown, "error", FlaggedText(text))


def _declined(info: KindInfo, tool: str, empty: Any, wording: str) -> Presented:
    body: Any = {"success": False, "error": info.message}
    text = to_json(body)
    if info.name == "malformed":
        body = text = BROKEN_BODY
    return Presented(info.name, "declined", text, False, ShownOk(body, text=text), "error", body)


def _swallowed(info: KindInfo, tool: str, empty: Any, wording: str) -> Presented:
    text = empty if isinstance(empty, str) else to_json(empty)
    return Presented(info.name, "swallowed", text, False, ShownOk(empty, text=text), "error", empty)


_PRESENTERS: Final = {
    "typed": _typed,
    "raised": _raised,
    "flagged": _flagged,
    "declined": _declined,
    "swallowed": _swallowed,
}


def fault_table(tool: str = "search", wording: str = "default") -> list[dict[str, Any]]:
    """List every valid pair of kind and presentation with the exact text that the model sees.

    Parameters
    ----------
    tool : str, default "search"
        Name of the tool in the texts.
    wording : str, default "default"
        Which note typed errors carry.

    Returns
    -------
    list of dict
        ``kind``, ``truth``, ``presentation``, ``is_error`` and ``text``; the last three are None for kinds
        without a presentation, whose text is the tool's own payload, changed or not.

    Examples
    --------
    >>> [row["text"] for row in fault_table() if row["presentation"] == "raised"][0]
    'Error executing tool search: TimeoutError: the request timed out after 30 seconds'
    """
    rows: list[dict[str, Any]] = []
    for info in KINDS.values():
        for presentation in PRESENTATIONS if info.presented else (None,):
            shown = present(info.name, presentation, tool, wording=wording) if presentation else None
            rows.append(
                {
                    "kind": info.name,
                    "truth": info.truth,
                    "presentation": presentation,
                    "is_error": shown.is_error if shown else None,
                    "text": shown.text if shown else None,
                }
            )
    return rows
