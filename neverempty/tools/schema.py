"""The arguments of a tool as a JSON Schema, from the signature of its function."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError


def arguments_schema(fn: Callable[..., Any]) -> dict[str, Any]:
    """Describe a function's arguments.

    Parameters
    ----------
    fn : callable
        The function. Parameters without a usable annotation accept anything.

    Returns
    -------
    dict
        An object schema; it forbids further properties unless the function takes ``**kwargs``.

    Examples
    --------
    >>> def search(query: str, limit: int = 10) -> list[str]: ...
    >>> schema = arguments_schema(search)
    >>> schema["properties"]["limit"]["type"], schema["required"], schema["additionalProperties"]
    ('integer', ['query'], False)
    """
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return {"type": "object", "properties": {}, "additionalProperties": True}
    hints = _hints(fn)
    fields: dict[str, Any] = {}
    open_ended = False
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            open_ended = True
        elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            hint = _usable(hints.get(parameter.name, Any))
            # pydantic refuses field names with an underscore first; an alias may have one.
            fields[f"p{place}"] = (hint, Field(default=_writable(default), alias=parameter.name))
    config = ConfigDict(extra="allow" if open_ended else "forbid")
    schema: dict[str, Any] = create_model("Arguments", __config__=config, **fields).model_json_schema()
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    target = fn if inspect.isroutine(fn) else getattr(type(fn), "__call__", fn)  # noqa: B004
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}


def _usable(hint: Any) -> Any:
    try:
        TypeAdapter(hint).json_schema()
    except PydanticUserError:
        return Any
    return hint


def _writable(default: Any) -> Any:
    """Keep a default that JSON can state; of any other, only that there is one."""
    return default if default is ... or isinstance(default, (str, int, float, bool, list, dict)) else None
