"""One call of one tool: the fault that it meets, what its value means, and what is written down."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from contextvars import ContextVar, Token
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from neverempty._errors import UsageError
from neverempty.faults.degrade import degrade
from neverempty.faults.plan import ArmedFault, seed_of
from neverempty.faults.present import Presented
from neverempty.results import ERROR_KINDS, Empty, Err, Ok, capped, is_retryable, kind_of, to_json
from neverempty.tools.options import (
    AmbiguousEmptyError,
    Options,
    SideEffectError,
    UnexpectedEmptyError,
    ambiguous,
    is_bare_empty,
)
from neverempty.traces.active import NoActivePlanError, TraceClosedError, owning_tracer
from neverempty.traces.model import FaultState, ToolCall, Truth
from neverempty.traces.tracer import Tracer

if TYPE_CHECKING:
    from neverempty.tools.tool import Tool

# Errors of the set-up or of the harness: shown to the model they would pass for failures of the tool.
LOUD: Final = (AmbiguousEmptyError, NoActivePlanError, SideEffectError, TraceClosedError, UsageError)
_LONGEST_DELAY: Final = 30.0
_TRUTHS: Final[dict[str, Truth]] = {"ok": "data", "empty": "empty", "error": "error"}


class Scope:
    """One attempt as the code inside it sees it, in whichever task or thread that code runs.

    Parameters
    ----------
    invocation : Invocation
        The call, whose armed fault below the tool may fire inside this block.
    """

    __slots__ = ("_token", "abandoned", "armed", "invocation", "parent")

    def __init__(self, invocation: Invocation) -> None:
        armed = invocation.armed
        self.invocation = invocation
        self.armed = armed if armed is not None and armed.below is not None else None
        self.abandoned = False
        self.parent = SCOPE.get()
        self._token: Token[Scope | None] | None = None

    def __enter__(self) -> Scope:
        self._token = SCOPE.set(self)
        IN_FLIGHT[self] = None
        return self

    def __exit__(self, *exc_info: object) -> None:
        IN_FLIGHT.pop(self, None)
        if self._token is not None:
            SCOPE.reset(self._token)

    @property
    def over(self) -> bool:
        """Whether this attempt, or one that it is part of, was given up after its timeout.

        Returns
        -------
        bool
            True where nothing may start any more.
        """
        scope: Scope | None = self
        while scope is not None:
            if scope.abandoned:
                return True
            scope = scope.parent
        return False


SCOPE: Final[ContextVar[Scope | None]] = ContextVar("neverempty_scope", default=None)
IN_FLIGHT: Final[dict[Scope, None]] = {}


class Outcome:
    """How one attempt ended.

    Parameters
    ----------
    truth : {"data", "empty", "error", "unknown"}
        What really happened.
    kind : str or None
        Kind of fault or error.
    text : str or None
        What the model will read, None where the tool raises.
    value : object
        What the tool returns.
    error : Exception or None
        What it raises instead.
    retryable : bool
        Whether another attempt may help.
    """

    __slots__ = ("error", "kind", "retryable", "text", "truth", "value")

    def __init__(
        self,
        truth: Truth,
        kind: str | None,
        text: str | None,
        value: Any = None,
        error: Exception | None = None,
        retryable: bool = False,
    ) -> None:
        self.truth = truth
        self.kind = kind
        self.text = text
        self.value = value
        self.error = error
        self.retryable = retryable


class Invocation:
    """One call of one tool, from its arguments to its record.

    Parameters
    ----------
    tool : Tool
        The tool.
    args, kwargs : tuple, dict
        What it was called with.
    call_id : str or None
        The framework's id of the call.
    """

    __slots__ = (
        "args",
        "armed",
        "attempts",
        "call",
        "fired_kind",
        "fn",
        "kwargs",
        "layer",
        "options",
        "presentation",
        "started",
        "state",
        "tool",
        "tracer",
    )

    def __init__(
        self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], call_id: str | None
    ) -> None:
        self.tool = tool
        self.options: Options = tool.options
        self.args = args
        self.kwargs = kwargs
        self.fn: Callable[..., Any] = tool.fn
        self.attempts = 0
        self.armed: ArmedFault | None = None
        self.fired_kind: str | None = None
        self.state: FaultState = "none"
        self.layer: str | None = None
        self.presentation: str | None = None
        scope = SCOPE.get()
        if scope is not None and scope.over:
            raise TraceClosedError(f"tool {tool.name!r} was called by a tool that had run out of its time")
        self.tracer: Tracer | None = owning_tracer(tool.label)
        self.call: ToolCall | None = None
        if self.tracer is not None:
            if self.tracer.stubs or self.options.side_effect:
                self._stub(self.tracer)
            self.call = self.tracer.begin(tool.name, tool.bound(args, kwargs), call_id)
        self.started = perf_counter()

    def _stub(self, tracer: Tracer) -> None:
        stub = tracer.stubs.get(self.tool.name)
        if stub is not None:
            self.fn = stub
        elif self.options.side_effect:
            text = (
                f"tool {self.tool.name!r} has side effects and is not stubbed; give the run "
                f"stubs={{{self.tool.name!r}: function}}"
            )
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
        tracer = self.tracer
        if tracer is None or tracer.plan is None:
            return None
        self.armed = armed = tracer.plan.next(self.tool.name)
        if armed is None:
            return None
        if armed.below is None and armed.presented and armed.before:
            return self._show(tracer, armed)
        if self.state == "none":
            self._mark(armed, "armed")
        return None

    def _show(self, tracer: Tracer, armed: ArmedFault) -> Outcome:
        """Turn a presented fault into the end of the attempt."""
        wording = tracer.plan.wording if tracer.plan is not None else "default"
        shown: Presented = self.tool.presented(armed.kind, armed.presentation, wording)
        self.state, self.layer, self.presentation = "fired", "tool", armed.presentation
        self.fired_kind = armed.kind
        if not self.options.native:
            return Outcome(shown.truth, armed.kind, shown.text, shown.typed(), None, shown.retryable)
        error = shown.exception
        text = None if error is not None else shown.text
        return Outcome(shown.truth, armed.kind, text, shown.value, error, shown.retryable)

    def _mark(self, armed: ArmedFault, state: FaultState) -> None:
        """Write down at once how far a fault got that the end of the call may not tell, as in a hung tool."""
        self.state, self.layer = state, armed.below or "tool"
        if state == "fired":
            self.fired_kind = armed.kind
        if self.tracer is not None and self.call is not None:
            self.tracer.mark(self.call, state, self.layer)

    def fired_below(self, armed: ArmedFault) -> None:
        """Note that the callable below the tool has failed as planned.

        Parameters
        ----------
        armed : ArmedFault
            The fault.
        """
        self._mark(armed, "fired")

    @property
    def broken_below(self) -> bool:
        """Whether this attempt's fault fired below the tool.

        Returns
        -------
        bool
            True from then on until the next attempt.
        """
        armed = self.armed
        return armed is not None and armed.below is not None and self.state == "fired"

    # ---------------------------------------------------------------------------------------------- reading

    def returned(self, value: Any) -> Outcome:
        """Read what the operation returned.

        Parameters
        ----------
        value : object
            The value.

        Returns
        -------
        Outcome
            What it means. A fault after the operation, or one that degrades its payload, happens here.
        """
        armed = self.armed
        if armed is None:
            return self._read(value)
        if armed.below is not None:
            if self.state != "fired":
                return self._read(value)
            # Whatever the tool's own code made of the failure, it was one: this is the bug to be measured.
            outcome = self._read(value, strict=False)
            outcome.truth, outcome.kind = "error", armed.kind
            return outcome
        if armed.presented and self.tracer is not None:
            return self._show(self.tracer, armed)
        before = self._read(value)
        less, differs = degrade(armed.spec, value.value if isinstance(value, Ok) else value)
        if not differs or before.truth != "data":
            return before
        self._mark(armed, "fired")
        flagged = armed.kind == "truncated" and not self.options.native
        outcome = self._read(Ok(less, truncated=True) if flagged else less, strict=False)
        outcome.truth, outcome.kind = "data", armed.kind
        return outcome

    def _read(self, value: Any, strict: bool = True) -> Outcome:
        options = self.options
        if isinstance(value, (Ok, Empty, Err)):
            return self._read_typed(value)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise UsageError(f"tool {self.tool.name!r} is not async but returned an awaitable; use async def")
        if options.empty_when is not None and self._asked("empty_when", options.empty_when, value):
            empty = Empty()
            if options.native:
                return Outcome("empty", None, _text(value), value)
            return Outcome("empty", None, empty.to_model(), empty)
        if (options.never_empty or (strict and options.strict)) and is_bare_empty(value):
            if options.never_empty:
                return self.unexpected_empty()
            raise ambiguous(self.tool.name, value)
        if options.native:
            return Outcome("data", None, _text(value), value)
        truncated = options.truncated_when is not None and self._asked(
            "truncated_when", options.truncated_when, value
        )
        return self._read_typed(Ok(value, truncated))

    def _read_typed(self, result: Ok | Empty | Err) -> Outcome:
        if isinstance(result, Empty) and self.options.never_empty:
            return self.unexpected_empty()
        if isinstance(result, Ok) and self.options.max_chars is not None:
            value, cut = capped(result.value, self.options.max_chars)
            result = Ok(value, True) if cut else result
        kind, retryable = (result.kind, result.retryable) if isinstance(result, Err) else (None, False)
        return Outcome(_TRUTHS[result.status], kind, result.to_model(), result, None, retryable)

    def unexpected_empty(self) -> Outcome:
        """Read an empty value of a tool that is never empty: a failure.

        Returns
        -------
        Outcome
            Of kind ``malformed``.
        """
        text = f"tool {self.tool.name!r} returned an empty value although it is declared never_empty"
        if self.options.native:
            return Outcome("error", "malformed", None, None, UnexpectedEmptyError(text))
        result = Err("malformed", text)
        return Outcome("error", "malformed", result.to_model(), result)

    def _asked(self, name: str, test: Callable[[Any], object], value: Any) -> bool:
        try:
            return bool(test(value))
        except Exception as error:
            raise UsageError(
                f"tool {self.tool.name!r}: {name} raised {type(error).__name__}: {error}; make it accept "
                "whatever the tool returns"
            ) from error

    def failed(self, error: Exception) -> Outcome:
        """Read what the operation raised.

        Parameters
        ----------
        error : Exception
            The exception.

        Returns
        -------
        Outcome
            An error of its kind.

        Raises
        ------
        NeverEmptyError
            The exception itself, where it concerns the harness or the set-up and not the tool.
        """
        if isinstance(error, LOUD):
            raise error
        result = self._classified(error)
        kind: str = result.kind
        if self.broken_below and self.armed is not None:
            kind = self.armed.kind
            self.presentation = "raised" if self.options.native else "typed"
        if self.options.native:
            return Outcome("error", kind, None, None, error, result.retryable)
        return Outcome("error", kind, result.to_model(), result, None, result.retryable)

    def _classified(self, error: Exception) -> Err:
        found: object = None
        if self.options.classify_error is not None:
            try:
                found = self.options.classify_error(error)
            except Exception as broken:
                raise UsageError(
                    f"tool {self.tool.name!r}: classify_error raised {type(broken).__name__}: {broken}"
                ) from broken
        if isinstance(found, Err):
            return found
        if found is None:
            mismatch = isinstance(error, TypeError) and not self.tool.accepts(self.args, self.kwargs)
            found = "validation" if mismatch or isinstance(error, ArgumentsError) else kind_of(error)
        if found not in ERROR_KINDS:
            raise UsageError(
                f"tool {self.tool.name!r}: classify_error returned {found!r}; return an Err, None, or one of "
                f"{', '.join(ERROR_KINDS)}"
            )
        return Err(found, safe_text(error), is_retryable(str(found)), error)  # type: ignore[arg-type]

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
        if not outcome.retryable or self.attempts > self.options.retries:
            return None
        if self.tracer is None or self.call is None:
            share = random.random()
        else:
            share = seed_of(*self.tracer.key, self.tool.name, self.call.call, self.attempts) / 2**128
        full = self.options.backoff * 2.0 ** min(self.attempts - 1, 60)
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
        error = outcome.error
        tracer, call = self.tracer, self.call
        if tracer is not None and call is not None:
            tracer.finish(
                call,
                outcome.truth,
                outcome.text,
                outcome.kind or self.fired_kind,
                (perf_counter() - self.started) * 1000.0,
                self.attempts,
                self.state,
                self.layer,
                self.presentation,
                None if error is None else safe_text(error),
            )
        if error is not None:
            raise error
        return outcome.value

    def interrupted(self) -> None:
        """Write down a call that ended in no result: cancelled, or stopped by an error of the harness."""
        if self.tracer is not None and self.call is not None:
            duration = (perf_counter() - self.started) * 1000.0
            self.tracer.finish(
                self.call, "unknown", None, self.fired_kind, duration, self.attempts, self.state, self.layer
            )


class ArgumentsError(ValueError):
    """The model's arguments of a tool call are no JSON object."""


def _text(value: Any) -> str:
    """Return the text of a native value, as far as it can be told: itself, or its JSON."""
    return str.__str__(value) if isinstance(value, str) else to_json(value)


def safe_text(error: BaseException) -> str:
    """Return an exception's text, whatever its ``__str__`` does.

    Parameters
    ----------
    error : BaseException
        The exception.

    Returns
    -------
    str
        Its text, else its type.
    """
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__
