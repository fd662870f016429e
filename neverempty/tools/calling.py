"""One call of one tool: the fault that it meets, its attempts, and what is written down about it."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from neverempty.faults.degrade import degrade
from neverempty.faults.plan import seed_of
from neverempty.faults.present import worded
from neverempty.faults.spec import ArmedFault
from neverempty.results import Ok
from neverempty.tools.options import SideEffectError
from neverempty.tools.reading import Outcome, read_error, read_value, safe_text, text_of
from neverempty.tools.scope import SCOPE
from neverempty.traces.active import TraceClosedError, owning_tracer
from neverempty.traces.model import FaultState, ToolCall
from neverempty.traces.tracer import Tracer

if TYPE_CHECKING:
    from neverempty.tools.tool import Tool

_LONGEST_DELAY: Final = 30.0


class Invocation:
    """One call of one tool, from its arguments to its record.

    Parameters
    ----------
    tool : Tool
        The tool.
    args, kwargs : tuple, dict
        What it was called with.
    call_id : str, optional
        The framework's id of the call.

    Attributes
    ----------
    fn : callable
        What runs: the tool's function, or its stub.
    armed : ArmedFault or None
        The fault that the present attempt is to meet.
    met : ArmedFault or None
        The last fault that was armed or fired, whatever later attempts did.
    fired_below : bool
        Whether the present attempt's fault fired below the tool.
    """

    __slots__ = (
        "args",
        "armed",
        "attempts",
        "call",
        "fired_below",
        "fn",
        "kwargs",
        "met",
        "presentation",
        "started",
        "state",
        "tool",
        "tracer",
    )

    def __init__(
        self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], call_id: str | None = None
    ) -> None:
        scope = SCOPE.get()
        if scope is not None and scope.over:
            raise TraceClosedError(f"{tool.label} was called by a tool that had run out of its time")
        self.tool = tool
        self.args = args
        self.kwargs = kwargs
        self.fn: Callable[..., Any] = tool.fn
        self.attempts = 0
        self.armed: ArmedFault | None = None
        self.met: ArmedFault | None = None
        self.state: FaultState = "none"
        self.presentation: str | None = None
        self.fired_below = False
        self.tracer = tracer = owning_tracer(tool.label)
        self.call: ToolCall | None = None
        if tracer is not None:
            if tracer.stubs or tool.options.side_effect:
                self._stub(tracer)
            self.call = tracer.begin(tool.name, tool.bound(args, kwargs), call_id)
        self.started = perf_counter()

    def _stub(self, tracer: Tracer) -> None:
        name = self.tool.name
        stub = tracer.stubs.get(name)
        if stub is not None:
            self.fn = stub
        elif self.tool.options.side_effect:
            text = f"tool {name!r} has side effects; give the run stubs={{{name!r}: function}}"
            tracer.poison(text)
            raise SideEffectError(text)

    # --------------------------------------------------------------------------------------------- attempts

    def attempt(self) -> Outcome | None:
        """Start an attempt.

        Returns
        -------
        Outcome or None
            The fault that replaces the operation; None where the operation is to run.
        """
        self.attempts += 1
        self.fired_below = False
        tracer = self.tracer
        if tracer is None:
            return None
        if tracer.closed:
            raise tracer.over(self.tool.label)
        if tracer.plan is None:
            return None
        self.armed = armed = tracer.plan.next(self.tool.name)
        if armed is None:
            return None
        if armed.presented and armed.before and armed.below is None:
            return self._show(armed)
        if self.state == "none":
            self._mark(armed, "armed")
        return None

    def _show(self, armed: ArmedFault) -> Outcome:
        """Turn a presented fault into the end of the attempt."""
        plan = self.tracer.plan if self.tracer is not None else None
        shown = self.tool.presented(
            armed.kind, armed.presentation, "default" if plan is None else plan.wording
        )
        self.met = armed
        self.state = "fired"
        self.presentation = armed.presentation
        if self.tool.options.native:
            error = shown.exception
            return Outcome(shown.truth, armed.kind, shown.value, error, shown.retryable, shown.text)
        return Outcome(shown.truth, armed.kind, shown.typed(), None, shown.retryable, shown.text)

    def _mark(self, armed: ArmedFault, state: FaultState) -> None:
        """Write down at once how far a fault got, for calls that hang and never come to their end."""
        self.met, self.state = armed, state
        if self.tracer is not None and self.call is not None:
            self.tracer.mark(self.call, state, armed.below or "tool")

    def fire_below(self, armed: ArmedFault) -> None:
        """Note that the callable below the tool fails as planned.

        Parameters
        ----------
        armed : ArmedFault
            The fault.
        """
        self.fired_below = True
        self._mark(armed, "fired")

    def returned(self, value: Any) -> Outcome:
        """Read what the operation returned; faults after it, or in its payload, happen here.

        Parameters
        ----------
        value : object
            The value.

        Returns
        -------
        Outcome
            How the attempt ended.
        """
        armed, name, options = self.armed, self.tool.name, self.tool.options
        if armed is None:
            return read_value(name, options, value, options.strict)
        if armed.below is None and armed.presented:
            return self._show(armed)
        if self.fired_below:
            # Whatever the tool's own code made of the failure, it was one: this is the bug to be measured.
            outcome = read_value(name, options, value, strict=False)
            outcome.truth, outcome.kind = "error", armed.kind
            return outcome
        outcome = read_value(name, options, value, options.strict)
        return outcome if armed.below is not None or outcome.truth != "data" else self._less(armed, outcome)

    def _less(self, armed: ArmedFault, whole: Outcome) -> Outcome:
        """Take from a payload what a degrading fault takes; where that is nothing, it did not fire."""
        typed = isinstance(whole.value, Ok)
        value, differs = degrade(armed.spec, whole.value.value if typed else whole.value)
        if not differs:
            return whole
        self._mark(armed, "fired")
        if typed and (armed.kind == "truncated" or whole.value.truncated):
            value = Ok(value, truncated=True)
        outcome = read_value(self.tool.name, self.tool.options, value, strict=False)
        outcome.truth, outcome.kind = "data", armed.kind
        return outcome

    def failed(self, error: Exception) -> Outcome:
        """Read what the operation raised.

        Parameters
        ----------
        error : Exception
            The exception.

        Returns
        -------
        Outcome
            An error of its kind, or of the kind that was put below the tool.
        """
        tool = self.tool
        mismatch = isinstance(error, TypeError) and not tool.accepts(self.args, self.kwargs)
        result = read_error(tool.name, tool.options, error, mismatch)
        kind: str = result.kind
        native = tool.options.native
        if self.fired_below and self.armed is not None:
            kind = self.armed.kind
            self.presentation = "raised" if native else "typed"
        plan = None if self.tracer is None else self.tracer.plan
        if plan is not None and plan.wording != "default":
            result = worded(result, plan.wording)
        return Outcome("error", kind, result, error if native else None, result.retryable)

    # -------------------------------------------------------------------------------------------------- end

    def delay(self, outcome: Outcome) -> float | None:
        """Decide whether to try again.

        Parameters
        ----------
        outcome : Outcome
            How the attempt ended.

        Returns
        -------
        float or None
            Seconds to wait, doubled each time and jittered by a half; None where this was the last attempt.
        """
        options = self.tool.options
        if not outcome.retryable or self.attempts > options.retries:
            return None
        if self.tracer is None or self.call is None:
            share = random.random()
        else:
            share = seed_of(*self.tracer.key, self.tool.name, self.call.call, self.attempts) / 2**128
        full = options.backoff * 2.0 ** min(self.attempts - 1, 60)
        return min(full, _LONGEST_DELAY) * (0.5 + share / 2)

    def close(self, outcome: Outcome) -> Any:
        """Write the call down and hand over what the tool returns or raises.

        Parameters
        ----------
        outcome : Outcome
            How the last attempt ended.

        Returns
        -------
        object
            The tool's value.
        """
        error, call, met = outcome.error, self.call, self.met
        if self.tracer is not None and call is not None:
            text = raised = None
            if error is not None:
                raised = safe_text(error)
            else:
                text = outcome.text
                if text is None:
                    text = text_of(outcome.value)
            self.tracer.finish(
                call,
                outcome.truth,
                text,
                outcome.kind or (met.kind if met is not None and self.state == "fired" else None),
                (perf_counter() - self.started) * 1000.0,
                self.attempts,
                self.state,
                None if met is None else met.below or "tool",
                self.presentation,
                raised,
            )
        if error is not None:
            raise error
        return outcome.value

    def interrupted(self) -> None:
        """Write down a call that ended in no result: cancelled, or stopped by an error of the harness."""
        call, met = self.call, self.met
        if self.tracer is not None and call is not None:
            layer = None if met is None else met.below or "tool"
            kind = met.kind if met is not None and self.state == "fired" else None
            duration = (perf_counter() - self.started) * 1000.0
            self.tracer.finish(call, "unknown", None, kind, duration, self.attempts, self.state, layer)
