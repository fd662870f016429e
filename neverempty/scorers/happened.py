"""What really happened in a repeat, from its tool calls: never from what the model was shown or said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from neverempty.cases import Case
from neverempty.faults import KINDS
from neverempty.traces.model import ToolCall, Trace

Happening = Literal[
    "error", "empty", "data", "unknown", "recovered", "unclear", "degraded", "not_fired", "no_tool_call"
]

_FIRED: Final = frozenset({"fired", "seen"})
_WORKED: Final = frozenset({"data", "empty"})
_NO_FALLBACKS: Final[Mapping[str, tuple[str, ...]]] = {}


class Happened(NamedTuple):
    """What happened, and what was planned to happen.

    Parameters
    ----------
    truth : str
        ``error`` (a failure that was not recovered), ``empty``, ``data``; ``unknown`` (imported traces);
        ``recovered``; ``unclear`` (the failure may itself mean absence); ``degraded`` (a part of the data was
        taken away, and it did not hold the answer); ``not_fired`` (the planned fault never happened);
        ``no_tool_call``.
    planned : str
        The truth that the case was made for: ``error``, ``empty``, ``data``, ``unclear`` or ``degraded``.
    failed : bool
        Whether a call failed at all, recovered or not.
    reason : str or None
        Why the truth is not one of the first three.
    """

    truth: Happening
    planned: str
    failed: bool = False
    reason: str | None = None


@cache
def planned_truth(fault_kind: str) -> str:
    """Name the truth that the faults of a case make, the gravest first.

    Parameters
    ----------
    fault_kind : str
        Kinds joined by ``+``, as the traces frame has them; ``"none"`` without a fault.

    Returns
    -------
    str
        ``error``, ``degraded``, ``unclear``, ``empty`` or ``data``.

    Examples
    --------
    >>> planned_truth("empty+timeout"), planned_truth("none")
    ('error', 'data')
    """
    truths = {KINDS[kind].truth for kind in fault_kind.split("+") if kind in KINDS}
    for truth in ("error", "degraded", "unclear", "empty"):
        if truth in truths:
            return truth
    return "data"


def happened(trace: Trace, case: Case) -> Happened:
    """Tell what happened in a repeat.

    An error that was not recovered beats a genuine empty, an empty beats data. An error is recovered where
    the same tool with the same arguments later succeeded, or a fallback that the case declares did.

    Parameters
    ----------
    trace : Trace
        One repeat.
    case : Case
        Its case, for declared fallbacks and for what a degraded part held.

    Returns
    -------
    Happened
        The truth, the plan, and a reason where the failure family has no cell for it.

    Examples
    --------
    >>> case = Case(id="a", input={"payload": 1})
    >>> call = ToolCall(0, "search", {}, "error", kind="timeout")
    >>> happened(Trace("default", "a", "typed", 0, calls=[call]), case).truth
    'error'
    """
    plan = planned_truth(trace.fault_kind)
    held = case.expect.lost_part_holds_answer
    target = "error" if plan == "degraded" and held else plan
    if plan != "data" and trace.fault_state not in _FIRED:
        return Happened("not_fired", target, False, "fault_not_fired")
    calls = trace.calls
    if not calls:
        return Happened("no_tool_call", target, False, "no_tool_call")
    if len(calls) == 1 and plan in ("error", "data", "empty"):
        call = calls[0]
        if call.truth == "error" and call.kind != "not_found":
            return Happened("error", target, True)
        if call.truth == plan:
            return Happened(call.truth, target)
    return _weigh(calls, plan, target, held, case.expect.fallbacks or _NO_FALLBACKS)


def _weigh(
    calls: Sequence[ToolCall],
    plan: str,
    target: str,
    held: bool | None,
    fallbacks: Mapping[str, tuple[str, ...]],
) -> Happened:
    errors = [at for at, call in enumerate(calls) if call.truth == "error"]
    open_errors = [calls[at] for at in errors if not _recovered(calls, at, fallbacks)]
    real = any(not _is_unclear(calls[at]) for at in errors)
    if any(not _is_unclear(call) for call in open_errors):
        return Happened("error", target, True)
    if open_errors:
        return Happened("unclear", target, real, f"unclear: {open_errors[0].kind}")
    if errors:
        return Happened("recovered", target, real, "recovered")
    if any(call.injected and _truth_of(call) == "degraded" for call in calls):
        if held:
            return Happened("error", target, True)
        return Happened("degraded", target, False, f"degraded: lost part {_lost(held)}")
    truths = {call.truth for call in calls}
    if plan == "error" and truths & _WORKED:
        # The fault fired, and the tool's own retries got over it before the call came back.
        return Happened("recovered", target, True, "recovered")
    if "unknown" in truths:
        return Happened("unknown", target, False, "truth_unknown")
    return Happened("empty" if "empty" in truths else "data", target)


def _lost(held: bool | None) -> str:
    return "not declared" if held is None else "did not hold the answer"


def _truth_of(call: ToolCall) -> str | None:
    return None if call.kind is None or call.kind not in KINDS else KINDS[call.kind].truth


def _is_unclear(call: ToolCall) -> bool:
    return _truth_of(call) == "unclear"


def _recovered(calls: Sequence[ToolCall], at: int, fallbacks: Mapping[str, tuple[str, ...]]) -> bool:
    failed = calls[at]
    stand_ins = fallbacks.get(failed.tool, ())
    return any(
        call.truth in _WORKED
        and (call.tool in stand_ins or (call.tool == failed.tool and call.args == failed.args))
        for call in calls[at + 1 :]
    )
