"""What a gate asks for: the ``[gate]`` table of a configuration, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from neverempty._errors import InputError
from neverempty.cases.explain import explain

PRIMARY: Final = "misreport_as_empty"
"""The metric that is gated where nothing else is said."""

_Text = Annotated[str, Field(min_length=1)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Level = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]


class GateConfig(BaseModel):
    """What a gate asks for.

    Parameters
    ----------
    metrics : tuple of str
        The gated metrics: a significant worsening of one fails the gate, Holm over all of them and their
        arms. ``unstable:NAME`` gates the stability of a metric's repeats.
    arms : tuple of str, optional
        The arms that are looked at; all of them by default. Arms are never pooled.
    alpha : float, default 0.05
        Level of the family of tests.
    floors : dict of str to float
        Least rate by metric; with ``_max`` behind the name, the greatest.
    floors_on : {"observed", "bound"}, default "observed"
        Whether floors and limits are held against the observed rate, or against the far end of its 95 %
        Wilson interval, which must keep them too.
    max_unstable_rate : float, default 0.10
        Share of cases of a capability metric whose repeats may disagree.
    max_no_signal_rate : float, default 0.10
        Share of applicable cases that may be without signal.
    must_pass : tuple of str, optional
        The metrics on which a must-pass case must not fail; by default every rate but ``recovered``.
    allow_models : tuple of str
        Names of resolved models that the candidate may have and the baseline has not.

    Examples
    --------
    >>> GateConfig().metrics
    ('misreport_as_empty',)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: Annotated[tuple[_Text, ...], Field(min_length=1)] = (PRIMARY,)
    arms: Annotated[tuple[_Text, ...], Field(min_length=1)] | None = None
    alpha: _Level = 0.05
    floors: dict[_Text, _Share] = Field(default_factory=dict)
    floors_on: Literal["observed", "bound"] = "observed"
    max_unstable_rate: _Share = 0.10
    max_no_signal_rate: _Share = 0.10
    must_pass: tuple[_Text, ...] | None = None
    allow_models: tuple[_Text, ...] = ()

    @field_validator("metrics", "arms", "must_pass", "allow_models", mode="after")
    @classmethod
    def _stand_once(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        twice = sorted({name for name in names or () if (names or ()).count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} stands twice")
        return names


def gate_config(value: GateConfig | Mapping[str, Any] | None) -> GateConfig:
    """Read a gate's configuration.

    Parameters
    ----------
    value : GateConfig, mapping or None
        A mapping is a ``[gate]`` table; None asks for the defaults.

    Returns
    -------
    GateConfig
        The checked configuration.

    Raises
    ------
    InputError
        Lists everything that is wrong with it; an unknown key with the nearest known one.

    Examples
    --------
    >>> gate_config({"floor": {}})
    Traceback (most recent call last):
    ...
    neverempty._errors.InputError: gate.floor: unknown key; did you mean 'floors'?
    """
    if isinstance(value, GateConfig):
        return value
    try:
        return GateConfig.model_validate(dict(value or {}))
    except ValidationError as error:
        raise InputError(f"gate.{problem}" for problem in explain(error, GateConfig)) from None
