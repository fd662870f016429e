"""The attempt inside which code runs, as that code's own context tells it."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neverempty.tools.calling import Invocation


class Scope:
    """One attempt as the code inside it sees it, in whichever task or thread that code runs.

    Parameters
    ----------
    invocation : Invocation
        The call, whose armed fault below the tool may fire inside this block.

    Attributes
    ----------
    abandoned : bool
        True once the attempt was given up after its timeout, although its thread may still run.
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
        """Whether this attempt, or one that it is part of, was given up.

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
"""Attempts with a time limit or a fault below them, for code whose thread has lost its context."""
