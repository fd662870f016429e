"""What a run may spend, and what it has spent."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

from neverempty.traces.model import Trace
from neverempty.traces.pricing import cost_of

Usage = tuple[str | None, int | None, int | None]
"""Model, input tokens and output tokens of one model call."""
NO_USAGE = "the agent reported no usage"


class Total(NamedTuple):
    """The sum over the model calls of one trace; None where a part of it is not known."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown: str | None


def total_of(usages: Iterable[Usage]) -> Total:
    """Add up the usages of a trace.

    Parameters
    ----------
    usages : iterable of tuple
        Model, input tokens and output tokens of each call.

    Returns
    -------
    Total
        A sum with an unknown part is unknown, with the first reason.

    Examples
    --------
    >>> total_of([("gpt-4o-mini", 1000, 100), ("gpt-4o-mini", 2000, None)])[:3]
    (3000, None, None)
    """
    read: int | None = 0
    written: int | None = 0
    usd: float | None = 0.0
    unknown: str | None = None
    for model, *tokens in usages:
        tokens_in, tokens_out = map(_tokens, tokens)
        read = None if read is None or tokens_in is None else read + tokens_in
        written = None if written is None or tokens_out is None else written + tokens_out
        cost = cost_of(model if isinstance(model, str) else None, tokens_in, tokens_out)
        usd = None if usd is None or cost.usd is None else usd + cost.usd
        unknown = unknown or cost.reason
    return Total(read, written, usd, unknown)


def _tokens(value: Any) -> int | None:
    """Read a count that an agent reported; what cannot be a count is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class Budget:
    """Counts what a run spends and says when it is over.

    Parameters
    ----------
    usd : float, optional
        Limit in US dollars over the whole run.
    tokens : int, optional
        Limit in tokens, read and written, over the whole run.
    """

    __slots__ = ("_lock", "_tokens", "_usd", "spent_tokens", "spent_usd", "unknown_cost", "unknown_tokens")

    def __init__(self, usd: float | None = None, tokens: int | None = None) -> None:
        self._lock = threading.Lock()  # synchronous agents count from their threads
        self._usd = usd
        self._tokens = tokens
        self.spent_usd = 0.0
        self.spent_tokens = 0
        self.unknown_cost: str | None = None
        self.unknown_tokens = False

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self._usd is not None or self._tokens is not None

    def add(self, usages: Iterable[Usage]) -> None:
        """Count model calls.

        Parameters
        ----------
        usages : iterable of tuple
            Model, input tokens and output tokens of each call.
        """
        for usage in usages:
            self.count(total_of((usage,)))

    def count(self, total: Total) -> None:
        """Count a sum.

        Parameters
        ----------
        total : Total
            What was spent.
        """
        with self._lock:
            self.spent_tokens += (total.input_tokens or 0) + (total.output_tokens or 0)
            if total.input_tokens is None or total.output_tokens is None:
                self.unknown_tokens = True
            if total.cost_usd is None:
                self.unknown_cost = self.unknown_cost or total.unknown
            else:
                self.spent_usd += total.cost_usd

    def count_trace(self, trace: Trace) -> None:
        """Count what a trace of an earlier run of the same store spent.

        Parameters
        ----------
        trace : Trace
            A trace from the store; one that reported no usage spent nothing that can be counted.
        """
        if trace.cost_unknown_reason != NO_USAGE:
            reason = trace.cost_unknown_reason
            self.count(Total(trace.input_tokens, trace.output_tokens, trace.cost_usd, reason))

    def over(self) -> str | None:
        """Say why nothing more may be spent.

        Returns
        -------
        str or None
            The reason for the rows of what is not run; None while there is something left. A limit in a
            unit that cannot be counted ends the run too, since it could not be kept.
        """
        if self._usd is not None:
            if self.unknown_cost is not None:
                return f"budget_usd cannot be kept: {self.unknown_cost}; give budget_tokens instead"
            if self.spent_usd >= self._usd:
                return f"budget_usd of {self._usd:g} US dollars was spent ({self.spent_usd:.6g})"
        if self._tokens is not None:
            if self.unknown_tokens:
                return "budget_tokens cannot be kept: a model call did not report its tokens"
            if self.spent_tokens >= self._tokens:
                return f"budget_tokens of {self._tokens} was spent ({self.spent_tokens})"
        return None
