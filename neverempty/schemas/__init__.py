"""JSON Schemas of the files that the package reads: for editors, and for programs in other languages.

The files beside this module are written by ``python -m neverempty.schemas``; a test keeps them in step with
the models.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from neverempty import cases, faults, traces
from neverempty._io import dumps, write_atomic
from neverempty.traces.codec import trace_adapter

__all__ = ["SCHEMAS", "case_schema", "trace_schema", "write_schemas"]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FIELD = re.compile(r"^(\w+(?:, \w+)*) : .*\n((?:    .*\n?|\n)+)", re.MULTILINE)


def case_schema() -> dict[str, Any]:
    """Describe one line of a file of cases.

    Returns
    -------
    dict
        A JSON Schema, draft 2020-12.
    """
    schema = cases.Case.model_json_schema()
    for model in (cases.Case, *(getattr(cases, name) for name in cases.__all__), faults.FaultSpec):
        name = getattr(model, "__name__", "")
        _describe(schema if name == "Case" else schema.get("$defs", {}).get(name, {}), model)
    schema["$defs"]["CaseInput"]["oneOf"] = [{"required": ["messages"]}, {"required": ["payload"]}]
    return {"$schema": _DIALECT, **schema}


def trace_schema() -> dict[str, Any]:
    """Describe one line of a file of traces, as a program in any language may write it.

    Returns
    -------
    dict
        A JSON Schema, draft 2020-12. Needed are only the case's id and how the trace ended: an answer, or a
        status with its reason.
    """
    schema = trace_adapter().json_schema()
    call = schema["$defs"]["ToolCall"]
    _describe(schema, traces.Trace)
    _describe(call, traces.ToolCall)
    call["required"] = ["tool"]
    call["properties"]["truth"]["default"] = "unknown"
    schema["properties"]["suite"]["default"] = "default"
    schema["properties"]["arm"]["default"] = "imported"
    schema["properties"]["repeat"]["default"] = 0
    schema["required"] = ["case_id"]
    answered = {"required": ["answer"], "properties": {"answer": {"type": "string"}}}
    schema["anyOf"] = [answered, {"required": ["status"]}]
    schema["if"] = {"required": ["status"], "not": {"properties": {"status": {"const": "ok"}}}}
    schema["then"] = {"required": ["terminal_reason"]}
    header = 'A file may begin with a header line of its own: {"trace_schema_version": 1, "run_id": ...}.'
    return {"$schema": _DIALECT, "$comment": header, **schema}


SCHEMAS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = MappingProxyType(
    {"case.schema.json": case_schema, "trace.schema.json": trace_schema}
)


def write_schemas(folder: Path = Path(__file__).parent) -> None:
    """Write every schema file.

    Parameters
    ----------
    folder : Path
        Where to; the package's own folder by default.
    """
    for name, build in SCHEMAS.items():
        write_atomic(folder / name, dumps(build(), indent=2) + "\n")


def _describe(schema: dict[str, Any], model: Any) -> None:
    """Give each property the description that the class's docstring has for it."""
    text = inspect.getdoc(model) or ""
    schema["description"] = text.split("\n", 1)[0]
    for names, description in _FIELD.findall(text + "\n"):
        for name in names.split(", "):
            if name in schema.get("properties", {}):
                schema["properties"][name]["description"] = " ".join(description.split())
