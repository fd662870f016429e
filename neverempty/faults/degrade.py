"""Faults that fail nothing: the payload comes back, with a part of it taken away or changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from neverempty.faults.present import fresh
from neverempty.faults.spec import FaultSpec
from neverempty.results import to_json


def degrade(spec: FaultSpec, value: Any) -> tuple[Any, bool]:
    """Take away or change a part of a payload.

    ``truncated`` keeps the first items; ``partial`` drops one page and says nothing; ``stale`` serves an
    older payload; ``schema_drift`` renames every key. The first three work on the payload's longest list,
    wherever it stands, JSON text included; a text that is no JSON is cut by its characters.

    Parameters
    ----------
    spec : FaultSpec
        A fault of a degraded kind.
    value : object
        The payload, which stays untouched.

    Returns
    -------
    tuple of (object, bool)
        The new payload and whether it differs: a page that was never there cannot fail.

    Examples
    --------
    >>> degrade(FaultSpec(tool="search", kind="partial", page=2, page_size=2), {"jobs": [1, 2, 3, 4, 5]})
    ({'jobs': [1, 2, 5]}, True)
    >>> degrade(FaultSpec(tool="search", kind="schema_drift"), [{"title": "a"}])
    ([{'title_v2': 'a'}], True)
    """
    if spec.kind == "stale" and spec.data is not None:
        return fresh(spec.data), spec.data != value
    if isinstance(value, str):
        return _degrade_text(spec, value)
    if spec.kind == "schema_drift":
        return _rename(value)
    return _on_longest_list(value, lambda items: _shorten(spec, items))


def _shorten(spec: FaultSpec, items: list[Any]) -> list[Any]:
    if spec.kind == "truncated":
        return items[: len(items) // 2 if spec.keep is None else spec.keep]
    if spec.kind == "stale":
        return items[:-1]
    size = spec.page_size or max(1, (len(items) + 1) // 2)
    start = ((spec.page or 2) - 1) * size
    return items[:start] + items[start + size :]


def _degrade_text(spec: FaultSpec, text: str) -> tuple[Any, bool]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, (list, dict)):
        changed, differs = degrade(spec, body)
        return (to_json(changed), True) if differs else (text, False)
    if spec.kind == "schema_drift":
        return text, False
    cut = "".join(_shorten(spec, list(text)))
    return cut, cut != text


def _on_longest_list(value: Any, change: Callable[[list[Any]], list[Any]]) -> tuple[Any, bool]:
    path = _longest_list(value, ())
    if path is None:
        return value, False
    return _replace(value, path[1], change)


def _longest_list(value: Any, path: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]] | None:
    """Find the path of keys to the longest list that is not itself inside a list."""
    if isinstance(value, (list, tuple)):
        return len(value), path
    best: tuple[int, tuple[Any, ...]] | None = None
    if isinstance(value, Mapping) and len(path) < 20:
        for key, inner in value.items():
            found = _longest_list(inner, (*path, key))
            if found is not None and (best is None or found[0] > best[0]):
                best = found
    return best


def _replace(value: Any, path: tuple[Any, ...], change: Callable[[list[Any]], list[Any]]) -> tuple[Any, bool]:
    if not path:
        shorter = change(list(value))
        return shorter, len(shorter) != len(value)
    inner, differs = _replace(value[path[0]], path[1:], change)
    return {**value, path[0]: inner}, differs


def _rename(value: Any, depth: int = 0) -> tuple[Any, bool]:
    if depth > 50:
        return value, False
    if isinstance(value, Mapping):
        renamed = {
            (f"{key}_v2" if isinstance(key, str) else key): _rename(inner, depth + 1)[0]
            for key, inner in value.items()
        }
        return renamed, any(isinstance(key, str) for key in value)
    if isinstance(value, (list, tuple)):
        pairs = [_rename(item, depth + 1) for item in value]
        return [item for item, _ in pairs], any(differs for _, differs in pairs)
    return value, False
