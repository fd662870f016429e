"""The faults of one repeat of one case: which call meets which of them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Any

from neverempty.faults.kinds import KINDS, Presentation
from neverempty.faults.spec import FaultSpec


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


class ArmedFault:
    """A planned fault together with how it is to be shown.

    Parameters
    ----------
    spec : FaultSpec
        The plan's entry.
    presentation : str
        Its own presentation, else the arm's.
    """

    __slots__ = ("before", "below", "kind", "presentation", "presented", "spec")

    def __init__(self, spec: FaultSpec, presentation: Presentation) -> None:
        self.spec = spec
        self.kind = spec.kind
        self.below = spec.below
        self.before = spec.when == "before"
        self.presented = KINDS[spec.kind].presented
        self.presentation: Presentation = spec.presentation or presentation


class _Slot:
    __slots__ = ("armed", "first", "last", "met")

    def __init__(self, spec: FaultSpec, presentation: Presentation) -> None:
        self.armed = ArmedFault(spec, presentation)
        self.first = spec.after_calls
        self.last = None if spec.for_calls is None else spec.after_calls + spec.for_calls
        self.met = 0


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

    __slots__ = ("_lock", "_slots", "faults", "key", "presentation", "wording")

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
        self._lock = threading.Lock()
        self._slots: dict[str, list[_Slot]] = {}
        for spec in faults:
            if spec.kind != "none":
                slots = self._slots.get(spec.tool)
                if slots is None:
                    self._slots[spec.tool] = [_Slot(spec, presentation)]
                else:
                    slots.append(_Slot(spec, presentation))

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
        with self._lock:
            for slot in slots:
                index = slot.met
                slot.met = index + 1
                if found is None and index >= slot.first and (slot.last is None or index < slot.last):
                    found = slot.armed
        return found

    @property
    def planned(self) -> tuple[ArmedFault, ...]:
        """All faults of the plan, whether met or not.

        Returns
        -------
        tuple of ArmedFault
            Grouped by tool, in the order of the case.
        """
        return tuple(slot.armed for slots in self._slots.values() for slot in slots)

    @property
    def kind(self) -> str:
        """The kinds of the case's faults joined by ``+``.

        Returns
        -------
        str
            ``"none"`` without a fault.
        """
        return "+".join(spec.kind for spec in self.faults) or "none"
