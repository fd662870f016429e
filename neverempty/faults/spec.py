"""One planned fault, and the arm under which a case runs: both as they stand in cases and configurations."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.faults.kinds import KINDS, PRESENTATIONS, FaultKind, Presentation
from neverempty.results import ERROR_WORDINGS

_TARGET: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
# Which degraded kinds each parameter belongs to.
_PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "keep": ("truncated",),
    "page": ("partial",),
    "page_size": ("partial",),
    "data": ("stale",),
}


class ArmedFault:
    """A planned fault together with how it is to be shown, laid out for the hot path.

    Parameters
    ----------
    spec : FaultSpec
        The plan's entry.
    presentation : str
        The arm's; the entry's own wins.

    Attributes
    ----------
    first, last : int
        It meets the calls from `first` up to, but not including, `last`, counted from 0.
    before : bool
        Whether it comes before the operation.
    presented : bool
        Whether it has a presentation at all.
    """

    __slots__ = ("before", "below", "first", "kind", "last", "presentation", "presented", "spec")

    def __init__(self, spec: FaultSpec, presentation: Presentation) -> None:
        self.spec = spec
        self.kind = spec.kind
        self.below = spec.below
        self.first = spec.after_calls
        self.last = sys.maxsize if spec.for_calls is None else spec.after_calls + spec.for_calls
        self.before = spec.when == "before"
        self.presentation: Presentation = spec.presentation or presentation
        self.presented = KINDS[spec.kind].presented


class FaultSpec(BaseModel):
    """One fault that a tool shall meet.

    Parameters
    ----------
    tool : str
        Name of the tool.
    kind : str
        What goes wrong, a key of `KINDS`.
    after_calls : int, default 0
        How many calls of the tool go well first.
    for_calls : int, optional
        How many calls meet the fault; without it, all that follow.
    when : {"before", "after"}, default "before"
        Whether the call fails before or after its operation took effect.
    presentation : str, optional
        How it is shown, one of `PRESENTATIONS`; without it, as the arm says.
    below : str, optional
        ``"package.module:function"`` (or ``"package.module:Class.method"``): make this callable fail, as it
        is looked up there, so that the tool's own ``except`` is met.
    raises : str, optional
        ``"package.module:Class"``, the exception to raise with `below`; without it, a built-in one that
        fits the kind.
    keep : int, optional
        For ``truncated``: how many items stay; without it, the first half.
    page, page_size : int, optional
        For ``partial``: the page that fails, from 1 (default 2), and its size (default: half of the items).
    data : object, optional
        For ``stale``: the old payload; without it, the payload without its last item.

    Examples
    --------
    >>> FaultSpec(tool="search", kind="timeout", after_calls=1).for_calls is None
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str = Field(min_length=1)
    kind: FaultKind
    after_calls: int = Field(default=0, ge=0, strict=True)
    for_calls: int | None = Field(default=None, ge=1, strict=True)
    when: Literal["before", "after"] = "before"
    presentation: Presentation | None = None
    below: str | None = None
    raises: str | None = None
    keep: int | None = Field(default=None, ge=0, strict=True)
    page: int | None = Field(default=None, ge=1, strict=True)
    page_size: int | None = Field(default=None, ge=1, strict=True)
    data: Any = None

    @functools.cached_property
    def armed_as(self) -> dict[str, ArmedFault]:
        """What `armed` has composed so far; no field, so neither compared nor written.

        Returns
        -------
        dict
            By presentation.
        """
        return {}

    def armed(self, presentation: Presentation) -> ArmedFault:
        """Return the fault as an arm shows it; composed once, since every repeat asks for it.

        Parameters
        ----------
        presentation : str
            The arm's presentation.

        Returns
        -------
        ArmedFault
            The same object for the same presentation.
        """
        armed = self.armed_as.get(presentation)
        if armed is None:
            armed = self.armed_as[presentation] = ArmedFault(self, presentation)
        return armed

    @field_validator("below", "raises")
    @classmethod
    def _named(cls, target: str | None) -> str | None:
        if target is not None and not _TARGET.fullmatch(target):
            raise ValueError(f"{target!r} is no name like 'package.module:function'")
        return target

    @model_validator(mode="after")
    def _fits(self) -> FaultSpec:
        info = KINDS[self.kind]
        if self.presentation is not None and not info.presented:
            raise ValueError(
                f"kind {self.kind!r} has no presentation, it changes the payload; leave presentation out"
            )
        for name, value in (("when", self.when == "after"), ("below", self.below is not None)):
            if value and not info.fails:
                raise ValueError(f"kind {self.kind!r} does not fail a call; leave {name!r} out")
        if self.below is not None and self.presentation is not None:
            raise ValueError(
                "a fault below the tool is shown as the tool's own code shows it; leave presentation out"
            )
        if self.raises is not None and self.below is None:
            raise ValueError(
                "'raises' names the exception of a fault below the tool; name its place in 'below'"
            )
        for name, kinds in _PARAMETERS.items():
            if getattr(self, name) is not None and self.kind not in kinds:
                raise ValueError(f"{name!r} belongs to kind {kinds[0]!r}, not to {self.kind!r}; leave it out")
        return self


class Arm(BaseModel):
    """One condition under which every case runs: a presentation, a prompt or a model.

    Parameters
    ----------
    name : str
        How the arm is called in every frame.
    presentation : str, default "typed"
        How errors are shown where a fault does not say it itself.
    prompt : str, optional
        A prompt for the agent to use, under this arm.
    model : str, optional
        A model for the agent to use, under this arm.
    params : dict, optional
        Anything else for the agent; ``{"wording": name}`` chooses the note of typed errors.

    Examples
    --------
    >>> Arm.of("swallowed").presentation
    'swallowed'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    presentation: Presentation = "typed"
    prompt: str | None = None
    model: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)

    @field_validator("params")
    @classmethod
    def _known_wording(cls, params: dict[str, Any]) -> dict[str, Any]:
        wording = params.get("wording", "default")
        if wording not in ERROR_WORDINGS:
            raise ValueError(f"unknown wording {wording!r}; use one of {', '.join(ERROR_WORDINGS)}")
        return params

    @classmethod
    def of(cls, arm: str | Arm) -> Arm:
        """Turn the name of a presentation into an arm; an arm stays as it is.

        Parameters
        ----------
        arm : str or Arm
            One of `PRESENTATIONS`, or an arm.

        Returns
        -------
        Arm
            The arm.

        Raises
        ------
        UsageError
            For any other name.
        """
        if isinstance(arm, Arm):
            return arm
        for presentation in PRESENTATIONS:
            if arm == presentation:
                return cls(name=presentation, presentation=presentation)
        raise UsageError(
            f"unknown arm {arm!r}{did_you_mean(str(arm), PRESENTATIONS)}; for an arm of your own give "
            f"Arm(name={str(arm)!r}, presentation=..., prompt=..., model=...)"
        )
