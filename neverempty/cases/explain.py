"""Turn a failed validation into sentences that name the field and the way out."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from neverempty._suggest import did_you_mean

_PLAIN = {
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}


def explain(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """List what is wrong, one sentence per field.

    Parameters
    ----------
    error : pydantic.ValidationError
        The failed validation.
    model : type of BaseModel
        The model that was validated, whose fields serve as suggestions.

    Returns
    -------
    list of str
        As ``"expect.route.label: must be a string, got 3"``.
    """
    details = error.errors(include_url=False)
    # A list whose items are all wrong is also reported as too short; the items' own faults say it.
    return [_sentence(one, model) for one in details if one["type"] != "too_short" or not one["input"]]


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    loc, kind = detail["loc"], detail["type"]
    where = ".".join(str(part) for part in loc)
    if kind == "extra_forbidden":
        owner = _model_at(model, loc[:-1])
        known = () if owner is None else tuple(owner.model_fields)
        return f"{where}: unknown key" + (did_you_mean(str(loc[-1]), known) if known else "")
    if kind == "missing":
        return f"{where}: is missing"
    if kind == "value_error":
        text = str(detail["ctx"]["error"])
    else:
        message = _PLAIN.get(kind) or detail["msg"][:1].lower() + detail["msg"][1:]
        text = f"{message}, got {_short(detail['input'])}"
    return f"{where}: {text}" if where else text


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _model_at(model: type[BaseModel] | None, loc: Sequence[int | str]) -> type[BaseModel] | None:
    """Follow a location through nested models; indices and the keys of mappings lead to their values."""
    keys_follow = False
    for part in loc:
        if isinstance(part, int):
            continue
        if keys_follow:
            keys_follow = False
            continue
        field = None if model is None else model.model_fields.get(part)
        if field is None:
            return None
        model, keys_follow = _inner_model(field.annotation)
    return model


def _inner_model(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Return the model inside an annotation and whether it stands under the keys of a mapping."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return (annotation, False) if issubclass(annotation, BaseModel) else (None, False)
    for inner in typing.get_args(annotation):
        model, keyed = _inner_model(inner)
        if model is not None:
            return model, keyed or typing.get_origin(annotation) is dict
    return None, False
