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
    """One repeat of one case under one arm; the columns of the traces frame plus the calls.

    Parameters
    ----------
    suite : str
        Suite of the case.
    case_id : str
        Id of the case within its suite.
    arm : str
        Name of the condition under which the case ran.
    repeat : int
        Which repeat, from 0.
    status : str
        One of `TraceStatus`: how the repeat ended; everything but ``"ok"`` means that nothing was observed.
    terminal_reason : str
        The reason of that one end, e.g. ``"completed"``.
    answer : str or None
        The final text that the user reads.
    route : str or None
        The route that the agent took.
    structured : object
        The answer's structured form, where there is one.
    messages : list of dict
        The conversation, in the chat-completions shape.
    calls : list of ToolCall
        The tool calls, in order.
    split : str or None
        Split of the case.
    language : str or None
        Language of the case.
    tags : tuple of str
        Tags of the case.
    must_pass : bool
        Whether the case must pass.
    fault_kind : str
        The kinds of the planned faults joined by ``+``; ``"none"`` without one.
    fault_presentation : str or None
        How the fault was shown.
    fault_layer : str or None
        Where it was put.
    fault_state : {"none", "armed", "fired", "seen"}
        How far the furthest fault got.
    duration_ms : float or None
        Wall time, in milliseconds.
    input_tokens : int or None
        Tokens that the model read.
    output_tokens : int or None
        Tokens that it wrote.
    cost_usd : float or None
        Cost in US dollars; None where it is not known.
    cost_unknown_reason : str or None
        Why the cost is not known.
    error_kind : str or None
        Kind of the error that ended the repeat.
    error_message : str or None
        Its text.
    resolved_model : str or None
        The model that answered, as the provider named it.
    confidence : float or None
        The confidence that the agent stated, from 0 to 1.
    trace_id : str
        Name of the trace.
    run_id : str
        Name of the run.
    started_at : str or None
        Start, in ISO 8601 with its time zone.
    repeat_of : int or None
        The repeat that this one copies, where both are identical by construction.
    """

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
