"""The tracer: what one repeat of one case does is written down here, from whichever task or thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from neverempty.faults.plan import FaultPlan, seed_of
from neverempty.faults.spec import Arm
from neverempty.traces.active import (
    NoActivePlanError,
    TraceClosedError,
    activate,
    current_tracer,
    forget,
    no_active_plan,
    owning_tracer,
)
from neverempty.traces.conversation import Conversation
from neverempty.traces.model import FaultState, ToolCall, Truth
from neverempty.traces.seam import AgentReply, ModelReply, ModelRequest, Seam

__all__ = [
    "AgentReply",
    "ModelReply",
    "ModelRequest",
    "NoActivePlanError",
    "Seam",
    "TraceClosedError",
    "Tracer",
    "activate",
    "current_tracer",
    "no_active_plan",
    "owning_tracer",
]

if TYPE_CHECKING:
    import numpy as np

_RANK: Final[Mapping[FaultState, int]] = {"none": 0, "armed": 1, "fired": 2, "seen": 3}
_NO_STUBS: Final[Mapping[str, Callable[..., Any]]] = {}


class Tracer(Conversation):
    """Collect what happens in one repeat of one case.

    Parameters
    ----------
    case : Case
        The case; its ``suite`` and ``id`` name the trace.
    arm : Arm
        The arm.
    repeat : int, default 0
        Which repeat, from 0.
    seed : int, default 0
        The run's seed.
    plan : FaultPlan, optional
        The faults that the tools are to meet.
    stubs : mapping of str to callable, optional
        By tool name, what runs in place of the tool's own function.
    seam : Seam, optional
        What the run does around each model call.

    Attributes
    ----------
    calls : list of ToolCall
        In the order in which they began.
    messages : list of dict
        The conversation as of the last model call, its reply included.
    usages : list of tuple
        Model, input tokens and output tokens of each model call; None where unknown.
    route : str or None
        What `set_route` was given last.
    poisoned : str or None
        Why this trace cannot be trusted.
    closed, abandoned : bool
        Whether the repeat is over, and whether something of it may still be running.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from neverempty.faults import FaultSpec
    >>> from neverempty.tools import wrap
    >>> plan = FaultPlan([FaultSpec(tool="search", kind="timeout")])
    >>> tracer = Tracer(SimpleNamespace(suite="jobs", id="j1"), Arm.of("typed"), plan=plan)
    >>> with activate(tracer):
    ...     wrap(str.upper, "search")("cook").status
    'error'
    >>> tracer.calls[0].truth, tracer.calls[0].state
    ('error', 'fired')
    """

    __slots__ = (
        "_rng",
        "abandoned",
        "plan",
        "poisoned",
        "route",
        "seed",
        "stubs",
    )

    def __init__(
        self,
        case: Any,
        arm: Arm,
        repeat: int = 0,
        seed: int = 0,
        plan: FaultPlan | None = None,
        *,
        stubs: Mapping[str, Callable[..., Any]] | None = None,
        seam: Seam | None = None,
    ) -> None:
        Conversation.__init__(self, case, arm, repeat, seam)
        self.seed = seed
        self.plan = plan
        self.stubs = stubs or _NO_STUBS
        self.route: str | None = None
        self.poisoned: str | None = None
        self.abandoned = False
        self._rng: np.random.Generator | None = None

    @property
    def key(self) -> tuple[int, str, str, str, int]:
        """Seed, suite, case id, arm and repeat: what all randomness of this trace is derived from.

        Returns
        -------
        tuple
            The key.
        """
        return (self.seed, self.case.suite, self.case.id, self.arm.name, self.repeat)

    @property
    def rng(self) -> np.random.Generator:
        """A generator seeded by the trace's key, made on first use.

        Returns
        -------
        numpy.random.Generator
            The same stream for the same key in every process.
        """
        if self._rng is None:
            import numpy as np

            self._rng = np.random.default_rng(seed_of(*self.key))
        return self._rng

    # ------------------------------------------------------------------------------------------ tool calls

    def begin(self, tool: str, args: dict[str, Any], call_id: str | None = None) -> ToolCall:
        """Write down that a tool call starts.

        Parameters
        ----------
        tool : str
            Name of the tool.
        args : dict
            Arguments by name.
        call_id : str, optional
            The framework's id of the call.

        Returns
        -------
        ToolCall
            The record, of unknown truth until `finish`.

        Raises
        ------
        TraceClosedError
            Where the repeat is over.
        """
        with self._lock:
            if self.closed:
                raise self.over(f"tool {tool!r}")
            call = ToolCall(len(self.calls), tool, args, "unknown", call_id=call_id)
            self.calls.append(call)
        return call

    def finish(
        self,
        call: ToolCall,
        truth: Truth,
        returned: str | None,
        kind: str | None,
        duration_ms: float,
        attempts: int = 1,
        state: FaultState = "none",
        layer: str | None = None,
        presentation: str | None = None,
        raised: str | None = None,
    ) -> None:
        """Write down how a tool call ended; dropped where the repeat is over.

        Parameters
        ----------
        call : ToolCall
            The record from `begin`.
        truth : {"data", "empty", "error", "unknown"}
            What really happened.
        returned : str or None
            The text that the tool handed back, None where it raised.
        kind : str or None
            Kind of the fault or error.
        duration_ms : float
            Wall time in milliseconds.
        attempts : int, default 1
            How often the tool layer tried.
        state : {"none", "armed", "fired"}, default "none"
            How far the call's fault got.
        layer, presentation : str, optional
            Where the fault was put and how it was shown.
        raised : str, optional
            Text of the exception, by which a framework's message is recognised later.
        """
        with self._lock:
            if self.closed:
                return
            call.truth = truth
            call.returned = returned
            call.kind = kind
            call.duration_ms = duration_ms
            call.attempts = attempts
            if state != "none":
                call.state = state
                call.layer = layer
                call.presentation = presentation
                call.injected = state == "fired"
            if raised is not None:
                if self._raised is None:
                    self._raised = {}
                self._raised[call.call] = raised

    def mark(self, call: ToolCall, state: FaultState, layer: str) -> None:
        """Write down how far the fault of a running tool call got; dropped where the repeat is over.

        Parameters
        ----------
        call : ToolCall
            The record from `begin`.
        state : {"armed", "fired"}
            How far.
        layer : str
            ``"tool"``, or the callable below it that failed.
        """
        with self._lock:
            if not self.closed:
                call.state = state
                call.layer = layer
                call.injected = state == "fired"

    def fault_columns(self) -> tuple[str, str | None, str | None, FaultState]:
        """Summarise the faults of the trace.

        Returns
        -------
        tuple of (str, str or None, str or None, str)
            Kind, presentation, layer and the furthest state; several are joined by ``+``. A planned fault
            whose tool was never called is ``"armed"``.
        """
        plan = self.plan
        planned = plan.planned if plan is not None else ()
        if plan is None or not planned:
            return ("none" if plan is None else plan.kind), None, None, "none"
        state: FaultState = "armed"
        shown: dict[str, None] = {}
        for call in self.calls:
            if _RANK[call.state] > _RANK[state]:
                state = call.state
            if call.injected and call.presentation is not None:
                shown[call.presentation] = None
        for fault in planned:
            if fault.below is None and fault.presented:
                shown[fault.presentation] = None
        layers = dict.fromkeys(fault.below or "tool" for fault in planned)
        return plan.kind, "+".join(shown) or None, "+".join(layers), state

    def set_route(self, label: str) -> None:
        """Write down the route that the agent chose.

        Parameters
        ----------
        label : str
            Its name.
        """
        with self._lock:
            if not self.closed:
                self.route = label

    # ------------------------------------------------------------------------------------------------- end

    def poison(self, reason: str) -> None:
        """Mark the trace as not to be trusted; the first reason stays.

        Parameters
        ----------
        reason : str
            Why, in words.
        """
        with self._lock:
            if self.poisoned is None and not self.closed:
                self.poisoned = reason

    def close(self, *, abandoned: bool = False) -> None:
        """End the repeat: whatever still runs for it can write no more and starts no further call.

        Parameters
        ----------
        abandoned : bool, default False
            True where something of it may still be running, as a hung thread: until `release`, calls from
            threads without a context cannot be attributed to another trace.
        """
        with self._lock:
            self.closed = True
            self.abandoned = self.abandoned or abandoned

    def release(self) -> None:
        """Forget an abandoned trace, once nothing of it runs any more."""
        self.abandoned = False
        forget(self)
