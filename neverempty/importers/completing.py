"""What a trace from elsewhere leaves out, taken from its case; and what in it contradicts the case."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from neverempty._io import JsonError, loads_strict
from neverempty.cases import Case
from neverempty.faults.kinds import KINDS
from neverempty.integrations._envelope import read_envelope
from neverempty.traces.model import FaultState, ToolCall, Trace, Truth

_STATES: Final[tuple[FaultState, ...]] = ("none", "armed", "fired", "seen")
_TRUTHS: Final[Mapping[str, Truth]] = {
    "error": "error",
    "unclear": "error",
    "degraded": "data",
    "empty": "empty",
}
_BY: Final = {False: "by a flag", True: "in their text alone"}
_CALL_IDS: Final = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id")


def contradictions(trace: Trace, case: Case) -> Iterator[str]:
    """Name what a trace says about its fault that its case rules out.

    Parameters
    ----------
    trace : Trace
        The trace.
    case : Case
        Its case.

    Yields
    ------
    str
        What is wrong, without the place in the file.
    """
    planned = "+".join(fault.kind for fault in case.faults) or "none"
    if trace.fault_kind not in ("none", planned):
        yield f"case {case.id!r} plans the fault {planned!r}, the trace names {trace.fault_kind!r}"
        return
    if trace.fault_state in ("fired", "seen") and not any(map(_fired, trace.calls)):
        yield (
            f"fault_state is {trace.fault_state!r}, but no call is marked as the one that met the fault; "
            'write "injected": true there'
        )
    for call in filter(_fired, trace.calls):
        problem = _of_call(call, case)
        if problem:
            yield f"calls.{call.call}: {problem}"


def _fired(call: ToolCall) -> bool:
    return call.injected or call.state in ("fired", "seen")


def _kinds(call: ToolCall, case: Case) -> list[str]:
    return [fault.kind for fault in case.faults if fault.tool == call.tool]


def _of_call(call: ToolCall, case: Case) -> str | None:
    kinds = _kinds(call, case)
    if not kinds:
        failing = ", ".join(sorted({repr(fault.tool) for fault in case.faults})) or "none"
        return (
            f"a fault is injected into {call.tool!r}; the tools that case {case.id!r} makes fail: {failing}"
        )
    if call.attempts > 1:
        return None  # the last attempt, which the record is about, may have ended in any way
    if call.kind is not None and call.kind not in kinds:
        return f"the injected kind is {call.kind!r}; case {case.id!r} plans {' and '.join(kinds)}"
    info = KINDS[call.kind or kinds[0]]
    if info.truth != "degraded" and call.truth not in ("unknown", _TRUTHS.get(info.truth, call.truth)):
        return (
            f"the injected {info.name!r} makes the truth {_TRUTHS[info.truth]!r}, the trace says "
            f"{call.truth!r}; it is what really happened, whatever the model was shown"
        )
    return None


def completed(trace: Trace, case: Case, *, trust_text: bool, notes: Counter[str]) -> Trace:
    """Fill in what the case knows, and take back what the trace's own texts make doubtful.

    Parameters
    ----------
    trace : Trace
        A trace without `contradictions`.
    case : Case
        Its case.
    trust_text : bool
        Take a result whose text alone tells of a failure for a failed call.
    notes : Counter
        Counts what was completed and what was doubtful; changed in place.

    Returns
    -------
    Trace
        A new trace.
    """
    told = _tool_messages(trace.messages)
    calls = [_doubted(_planned(call, trace, case, notes), told, trust_text, notes) for call in trace.calls]
    for field in ("split", "language"):
        if getattr(trace, field) is None and getattr(case, field) is not None:
            notes[f"{field} taken from the case"] += 1
    whole = dataclasses.replace(
        trace,
        suite=case.suite,
        split=trace.split or case.split,
        language=trace.language or case.language,
        tags=trace.tags or tuple(case.tags),
        must_pass=trace.must_pass or case.must_pass,
        fault_kind="+".join(fault.kind for fault in case.faults) or "none",
        fault_state=max([trace.fault_state, *(call.state for call in calls)], key=_STATES.index),
        calls=calls,
    )
    return _crashed(whole, notes)


def _planned(call: ToolCall, trace: Trace, case: Case, notes: Counter[str]) -> ToolCall:
    """Complete a call that met a fault by what the case plans for its tool."""
    if not _fired(call):
        return call
    kinds = _kinds(call, case)
    kind = call.kind or (kinds[0] if len(set(kinds)) == 1 else None)
    truth = call.truth
    if truth == "unknown" and kind is not None and trace.status == "ok":
        truth = _TRUTHS.get(KINDS[kind].truth, truth)
        notes["truths of injected faults taken from the case"] += 1
    state = "fired" if call.state in ("none", "armed") else call.state
    return dataclasses.replace(call, injected=True, kind=kind, truth=truth, state=state)


def _doubted(call: ToolCall, told: Mapping[str, Any], trust_text: bool, notes: Counter[str]) -> ToolCall:
    """Take the truth back where a call is said to have worked and its result tells of a failure."""
    if call.truth not in ("data", "empty") or call.injected:
        return call
    for result in (_parsed(call.returned), told.get(call.call_id or "")):
        found = None if result is None else read_envelope(result, trust_text=trust_text)
        if found is not None and found.outcome in ("error", "unknown"):
            notes[f"results that tell of a failure {_BY[found.unflagged]}"] += 1
            kind = "exception" if found.outcome == "error" else call.kind
            return dataclasses.replace(call, truth=found.outcome, kind=kind)
    return call


def _parsed(returned: str | None) -> Any:
    """Read a result that is a JSON object: it may be a protocol's message, with flags of its own."""
    try:
        body = None if returned is None else loads_strict(returned)
    except JsonError:
        return returned
    return body if isinstance(body, dict) else returned


def _tool_messages(messages: Sequence[Any]) -> dict[str, Any]:
    """Index the tool results of a conversation by the model's ids of their calls."""
    found: dict[str, Any] = {}
    for message in messages:
        content = message.get("content")
        for part in (message, *(content if isinstance(content, list) else ())):
            if isinstance(part, Mapping):
                of = next((part[key] for key in _CALL_IDS if isinstance(part.get(key), str)), None)
                if of is not None:
                    found[of] = part
    return found


def _crashed(trace: Trace, notes: Counter[str]) -> Trace:
    """Tell an agent that said nothing from one that ended on tool calls that were never made."""
    last = trace.messages[-1] if trace.messages else {}
    content = last.get("content")
    parts = content if isinstance(content, list) else ()
    asked = last.get("tool_calls") or [
        part for part in parts if isinstance(part, Mapping) and part.get("type") == "tool_use"
    ]
    if trace.status != "ok" or not asked or (trace.answer or "").strip():
        return trace
    reason = "ended with tool calls that nobody made"
    notes[f"traces that {reason}"] += 1
    return dataclasses.replace(trace, status="agent_error", terminal_reason=reason)
