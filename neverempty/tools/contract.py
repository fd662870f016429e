"""A tool contract: the exported schemas of tools, pinned in a file, and what has drifted from it since."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError, digest, dumps, loads_strict, write_atomic
from neverempty.tools.tool import Tool

_VERSION: Final = 1
_ASPECTS: Final = ("type", "enum", "format", "default", "minimum", "maximum", "pattern", "items", "anyOf")


def contract_hash(schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Hash tool schemas by their canonical JSON: neither order nor spacing counts.

    Parameters
    ----------
    schemas : mapping of str to dict
        JSON Schemas of the arguments, by tool.

    Returns
    -------
    str
        SHA-256, its first 16 hex digits.

    Examples
    --------
    >>> contract_hash({"a": {"type": "object", "title": "A"}, "b": {}}) == contract_hash(
    ...     {"b": {}, "a": {"title": "A", "type": "object"}})
    True
    """
    return digest(schemas)[:16]


def exported(tools: Iterable[Tool]) -> dict[str, dict[str, Any]]:
    """Give the schemas that tools show to a model.

    Parameters
    ----------
    tools : iterable of Tool
        The tools.

    Returns
    -------
    dict of str to dict
        By name, sorted.
    """
    named = {tool.name: tool for tool in tools}
    return {name: named[name].schema for name in sorted(named)}


def pin_contract(tools: Iterable[Tool], path: str | os.PathLike[str]) -> str:
    """Write the schemas of tools into a file, against which later runs are held.

    Parameters
    ----------
    tools : iterable of Tool
        The tools.
    path : path-like
        A JSON file, replaced in one step.

    Returns
    -------
    str
        The contract's hash.

    Raises
    ------
    UsageError
        Without any tool: an empty contract would hold for ever.

    Examples
    --------
    >>> import tempfile
    >>> from neverempty import tool
    >>> @tool(empty_when=lambda found: found == [])
    ... def search(city: str) -> list[str]:
    ...     "Search."
    ...     return []
    >>> file = Path(tempfile.mkdtemp()) / "tools.json"
    >>> pin_contract([search], file) == contract_hash(exported([search])), drift([search], file)
    (True, [])
    """
    schemas = exported(tools)
    if not schemas:
        raise UsageError("there is no tool whose schema could be pinned")
    data = {"contract_version": _VERSION, "hash": contract_hash(schemas), "tools": schemas}
    write_atomic(path, dumps(data, indent=2) + "\n")
    return contract_hash(schemas)


def read_contract(path: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """Read a pinned contract.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to dict
        Schemas by tool.

    Raises
    ------
    InputError
        Where there is none, or the file was edited by hand.
    """
    try:
        data = loads_strict(Path(path).read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: there is no pinned contract ({error.strerror}); write one with pin_contract"
        ) from None
    except JsonError as error:
        raise InputError(f"{path}:{error.line}: {error.reason}") from None
    if not isinstance(data, dict) or data.get("contract_version") != _VERSION:
        raise InputError(f"{path}: is no tool contract of version {_VERSION}")
    tools = data.get("tools")
    if not isinstance(tools, dict) or data.get("hash") != contract_hash(tools):
        raise InputError(f"{path}: its hash is not that of its tools; it was edited; pin the contract anew")
    return tools


def drift(tools: Iterable[Tool], path: str | os.PathLike[str]) -> list[str]:
    """Say in plain words how tools differ from a pinned contract.

    Parameters
    ----------
    tools : iterable of Tool
        The tools as they are.
    path : path-like
        The contract.

    Returns
    -------
    list of str
        A sentence per difference; empty where there is none.

    Raises
    ------
    InputError
        As for `read_contract`.
    """
    pinned, now = read_contract(path), exported(tools)
    return [
        *(f"tool {name!r} is gone" for name in pinned if name not in now),
        *(f"tool {name!r} is new" for name in now if name not in pinned),
        *(line for name in now if name in pinned for line in _changes(name, pinned[name], now[name])),
    ]


def _changes(tool: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if dumps(before) == dumps(after):
        return
    old, new = (dict(one.get("properties") or {}) for one in (before, after))
    lines = [f"tool {tool!r}: argument {name!r} is gone" for name in old if name not in new]
    lines += [f"tool {tool!r}: argument {name!r} is new" for name in new if name not in old]
    needed = [set(one.get("required") or ()) for one in (before, after)]
    for name in [name for name in new if name in old]:
        was, has = name in needed[0], name in needed[1]
        if was != has:
            lines.append(f"tool {tool!r}: argument {name!r} is {'required' if has else 'optional'} now")
        lines += [
            f"tool {tool!r}: {aspect} of argument {name!r} was {_shown(old[name], aspect)}, "
            f"is {_shown(new[name], aspect)}"
            for aspect in _ASPECTS
            if dumps(old[name].get(aspect)) != dumps(new[name].get(aspect))
        ]
    yield from lines or [f"tool {tool!r}: its schema changed{_where(before, after)}"]


def _where(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Say where two schemas differ that have the same arguments of the same types."""
    if dumps(_undescribed(before)) == dumps(_undescribed(after)):
        return " in its descriptions"
    return " elsewhere than in its arguments' types"


def _undescribed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _undescribed(one) for key, one in value.items() if key not in ("description", "title")}
    return [_undescribed(one) for one in value] if isinstance(value, list) else value


def _shown(schema: Mapping[str, Any], aspect: str) -> str:
    return dumps(schema[aspect])[:80] if aspect in schema else "not said"
