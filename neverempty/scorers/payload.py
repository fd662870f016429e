"""Absence inside structured output: an empty list, a count of zero, a flag that nothing was found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_COUNT: Final = re.compile(
    r"(^|_)(n|num|count|counts|total|totals|hits|matches|results|found|size|length|number)(_|$)"
)
_FLAG: Final = re.compile(
    r"(^|_)(found|exists|exist|any|available|has|have|present|matched|results|hits|matches)(_|$)"
)
# Lists that are empty on a good day, whatever was asked for.
_NO_DATA: Final = re.compile(
    r"(^|_)(errors?|warnings?|failures?|messages?|notes?|filters?|tags?|params?|parameters|args|arguments"
    r"|options|sources|citations|references|steps|tool_calls|attachments|followups?|suggestions|sort|query|offset"
    r"|retries|attempts|skipped|code|exit|status)(_|$)"
)
# Wrappers that hold counts, and say nothing when they hold nothing.
_WRAPPER: Final = re.compile(r"(^|_)(page|paging|pagination|meta|metadata|info|summary|debug)$")
_DISCLOSING: Final = frozenset({"error", "errors", "failure", "failures", "failed", "exception", "fault"})
_OUTCOME: Final = frozenset({"status", "state", "outcome", "result", "result_status"})
_BAD: Final = re.compile(
    r"error|fail|timeout|timed.?out|unavailable|unknown|incomplete|partial|exception|denied", re.I
)
_GOOD_FLAGS: Final = frozenset({"success", "ok", "succeeded", "complete", "completed", "is_complete"})
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FENCE: Final = re.compile(r"```[\w-]*\n(.*?)```", re.S)
_OBJECT: Final = re.compile(r'\{\s*"')
_DECODER: Final = json.JSONDecoder()
_DEPTH: Final = 20
_MOST_BLOCKS: Final = 20


def absence_in(payload: Any) -> tuple[str, ...]:
    """Find where a structured output says that nothing exists.

    Parameters
    ----------
    payload : object
        Any JSON value.

    Returns
    -------
    tuple of str
        Paths as ``"$.jobs"``: empty lists and objects, counts of zero, and ``found: false``. Null says
        nothing, and lists such as ``errors`` are empty on a good day.

    Examples
    --------
    >>> absence_in({"jobs": [], "page": {"total_count": 0}, "warnings": []})
    ('$.jobs', '$.page.total_count')
    >>> absence_in({"jobs": None}), absence_in([])
    ((), ('$',))
    """
    return tuple(_absences(payload, "$", None, 0))


def _absences(node: Any, path: str, key: str | None, depth: int) -> Iterator[str]:
    if depth > _DEPTH or (key is not None and _NO_DATA.search(key)):
        return
    if isinstance(node, (list, tuple, Mapping)) and not node:
        if key is None or not _WRAPPER.search(key):
            yield path
    elif isinstance(node, Mapping):
        for name, inner in node.items():
            yield from _absences(inner, f"{path}.{name}", _snake(str(name)), depth + 1)
    elif isinstance(node, (list, tuple)):
        for index, inner in enumerate(node):
            yield from _absences(inner, f"{path}[{index}]", None, depth + 1)
    elif key is not None and _says_zero(node, key):
        yield path


def _says_zero(node: Any, key: str) -> bool:
    if isinstance(node, bool):
        return not node and bool(_FLAG.search(key))
    return isinstance(node, (int, float)) and node == 0 and bool(_COUNT.search(key))


def disclosed_in(payload: Any) -> bool:
    """Say whether a structured output itself says that something failed.

    Parameters
    ----------
    payload : object
        Any JSON value.

    Returns
    -------
    bool
        True for a filled ``error`` field, a status such as ``"failed"`` or ``"unknown"``, or
        ``success: false``, at the top or one level below.

    Examples
    --------
    >>> disclosed_in({"jobs": [], "error": "timeout"}), disclosed_in({"jobs": [], "error": None})
    (True, False)
    """
    if not isinstance(payload, Mapping):
        return False
    inner = [value for value in payload.values() if isinstance(value, Mapping)]
    return any(
        _discloses(_snake(str(key)), value) for level in (payload, *inner) for key, value in level.items()
    )


def _discloses(key: str, value: Any) -> bool:
    if key in _DISCLOSING:
        return bool(value)
    if key in _OUTCOME:
        return isinstance(value, str) and bool(_BAD.search(value))
    return key in _GOOD_FLAGS and value is False


def json_blocks(text: str) -> list[Any]:
    """Read the JSON values that stand in a text: the whole text, code fences, bare objects.

    Parameters
    ----------
    text : str
        An answer.

    Returns
    -------
    list
        Objects and lists, in order; at most 20. A bare list amid prose is more often a citation or a
        check box, and does not count.

    Examples
    --------
    >>> json_blocks('Here you are: {"jobs": []} [1]')
    [{'jobs': []}]
    """
    whole = _parse(text)
    if whole is not None:
        return [whole]
    fenced = [value for block in _FENCE.findall(text)[:_MOST_BLOCKS] if (value := _parse(block)) is not None]
    return fenced + _bare_objects(_FENCE.sub(" ", text))


def _parse(text: str) -> Any:
    text = text.strip()
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _bare_objects(text: str) -> list[Any]:
    found: list[Any] = []
    at = 0
    for _ in range(_MOST_BLOCKS):
        opening = _OBJECT.search(text, at)
        if opening is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
            found.append(value)
        except (ValueError, RecursionError):
            at = opening.end()
    return found


def _snake(key: str) -> str:
    return _CAMEL.sub("_", key).lower().replace("-", "_").replace(" ", "_")
