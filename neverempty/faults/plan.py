"""The faults of one repeat of one case: which call meets which of them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Any, Final

from neverempty.faults.kinds import Presentation
from neverempty.faults.spec import ArmedFault, FaultSpec


def seed_of(*parts: Any) -> int:
    """Derive a seed from a key, the same in every process.

    Parameters
    ----------
    *parts : object
        The key, e.g. seed, suite, case id, arm, repeat, tool, call; told apart by their text.

    Returns
    -------
    int
        128 bits of the SHA-256 of the key.

    Examples
    --------
    >>> seed_of(0, "a", "b") == seed_of(0, "a", "b"), seed_of("ab", "c") == seed_of("a", "bc")
    (True, False)
    """
    text = json.dumps([str(part) for part in parts])
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:16], "big")


_LOCK: Final = threading.Lock()


class FaultPlan:
    """Count the calls of one repeat and say which of them meets a fault.

    Every attempt of a tool counts as one call of it, its retries included: a fault with ``for_calls=1`` is
    over when the tool tries a second time. Of several faults for the same call, the first counts.

    Parameters
    ----------
    faults : sequence of FaultSpec
        The case's faults; entries of kind ``none`` plan nothing.
    presentation : str, default "typed"
        The arm's presentation.
    key : tuple, optional
        Seed, suite, case id, arm and repeat, from which a call's randomness is derived.
    wording : str, default "default"
        Which note typed errors carry.

    Examples
    --------
    >>> plan = FaultPlan([FaultSpec(tool="search", kind="timeout", for_calls=1)])
    >>> plan.next("search").kind, plan.next("search")
    ('timeout', None)
    """

    __slots__ = ("_slots", "faults", "key", "presentation", "wording")

    def __init__(
        self,
        faults: Sequence[FaultSpec] = (),
        presentation: Presentation = "typed",
        key: tuple[Any, ...] = (),
        wording: str = "default",
    ) -> None:
        self.faults = faults
        self.presentation = presentation
        self.key = key
        self.wording = wording
        # By tool: each of its faults with the number of calls that it has counted.
        self._slots: dict[str, list[list[Any]]] = {}
        for spec in faults:
            if spec.kind != "none":
                self._slots.setdefault(spec.tool, []).append([spec.armed(presentation), 0])

    def next(self, tool: str) -> ArmedFault | None:
        """Count one call of a tool and return the fault that it is to meet.

        Parameters
        ----------
        tool : str
            Name of the tool.

        Returns
        -------
        ArmedFault or None
            None for a clean call. Safe to call from several threads.
        """
        slots = self._slots.get(tool)
        if slots is None:
            return None
        found: ArmedFault | None = None
        # One lock for all plans: it is held for well under a microsecond, and a lock of each plan's own
        # would cost as much to make.
        with _LOCK:
            for slot in slots:
                armed, index = slot
                slot[1] = index + 1
                if found is None and armed.first <= index < armed.last:
                    found = armed
        return found

    @property
    def planned(self) -> tuple[ArmedFault, ...]:
        """All faults of the plan, whether met or not.

        Returns
        -------
        tuple of ArmedFault
            Grouped by tool, in the order of the case.
        """
        return tuple(slot[0] for slots in self._slots.values() for slot in slots)

    @property
    def kind(self) -> str:
        """The kinds of the case's faults joined by ``+``.

        Returns
        -------
        str
            ``"none"`` without a fault.
        """
        return "+".join(spec.kind for spec in self.faults) or "none"
