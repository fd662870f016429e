"""What one repeat of one case leaves behind: a trace and its tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

TraceStatus = Literal[
    "ok", "agent_error", "agent_timeout", "cancelled", "budget_stopped", "replay_miss", "harness_error"
]
Truth = Literal["data", "empty", "error", "unknown"]
FaultState = Literal["none", "armed", "fired", "seen"]

# Plain int, float and bool to Python; the limits apply where a trace is read from a file.
Name = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(strict=True, ge=0)]
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]


@dataclass(slots=True)
class ToolCall:
    """One call of one tool.

    Parameters
    ----------
    call : int
        Order within the trace, from 0.
    tool : str
        Name of the tool.
    args : dict
        Arguments by name; positional ones bound to their names where the signature is known.
    truth : {"data", "empty", "error", "unknown"}
        What really happened, whatever the model was shown.
    returned : str or None
        Text that the tool layer handed back; None where it raised.
    seen : str or None
        Text that stood in the messages of a later model call; None where no seam could tell.
    kind : str or None
        Fault or error kind; None for a clean call.
    injected : bool
        True where a fault of the plan fired on this call.
    presentation : str or None
        How the fault was shown.
    layer : str or None
        Where it was put: ``"tool"`` or ``"package.module:function"`` below the tool.
    state : {"none", "armed", "fired", "seen"}
        How far the fault got.
    duration_ms : float
        Wall time of the call, in milliseconds.
    call_id : str or None
        The framework's id of the call, where there is one.
    attempts : int
        How often the tool layer tried, retries included.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    call: Whole
    tool: str
    args: dict[str, Any]
    truth: Truth
    returned: str | None = None
    seen: str | None = None
    kind: str | None = None
    injected: Flag = False
    presentation: str | None = None
    layer: str | None = None
    state: FaultState = "none"
    duration_ms: Amount = 0.0
    call_id: str | None = None
    attempts: Whole = 1


@dataclass(slots=True)
class Trace:
    """One repeat of one case under one arm; the columns of the traces frame plus the calls."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    suite: Name
    case_id: Name
    arm: Name
    repeat: Whole
    status: TraceStatus = "ok"
    terminal_reason: str = "completed"
    answer: str | None = None
    route: str | None = None
    structured: Any = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    split: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    must_pass: Flag = False
    fault_kind: str = "none"
    fault_presentation: str | None = None
    fault_layer: str | None = None
    fault_state: FaultState = "none"
    duration_ms: Amount | None = None
    input_tokens: Whole | None = None
    output_tokens: Whole | None = None
    cost_usd: Amount | None = None
    cost_unknown_reason: str | None = None
    error_kind: str | None = None
    error_message: str | None = None
    resolved_model: str | None = None
    confidence: Share | None = None
    trace_id: str = ""
    run_id: str = ""
    started_at: str | None = None
    repeat_of: Whole | None = None
