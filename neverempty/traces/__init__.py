"""Traces: what a run leaves behind, how it is collected, stored without its secrets, and read again."""

from neverempty.traces.codec import TRACE_SCHEMA_VERSION, trace_from_json, trace_to_json
from neverempty.traces.model import FaultState, ToolCall, Trace, TraceStatus, Truth
from neverempty.traces.pricing import PRICES, Cost, Price, PriceTable, cost_of
from neverempty.traces.reading import read_traces
from neverempty.traces.redaction import Redactor, redact
from neverempty.traces.store import RunIdentity, TraceStore
from neverempty.traces.tracer import (
    AgentReply,
    ModelReply,
    NoActivePlanError,
    Tracer,
    activate,
    current_tracer,
)

__all__ = [
    "PRICES",
    "TRACE_SCHEMA_VERSION",
    "AgentReply",
    "Cost",
    "FaultState",
    "ModelReply",
    "NoActivePlanError",
    "Price",
    "PriceTable",
    "Redactor",
    "RunIdentity",
    "ToolCall",
    "Trace",
    "TraceStatus",
    "TraceStore",
    "Tracer",
    "Truth",
    "activate",
    "cost_of",
    "current_tracer",
    "read_traces",
    "redact",
    "trace_from_json",
    "trace_to_json",
]
