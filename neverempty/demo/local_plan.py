"""What the local model is asked: which cases, under which arms, how often, and which arms are compared."""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

from neverempty.agents.local_prompts import PROMPTS
from neverempty.cases import Cases
from neverempty.demo.data import demo_cases
from neverempty.demo.pairs import Pair
from neverempty.faults import Arm
from neverempty.faults.kinds import Presentation

SEED: Final = 20260929
SHOWN: Final[tuple[Presentation, ...]] = ("swallowed", "raised", "flagged", "typed")
WORDINGS: Final = ("plain", "short", "answer", "rule")
TEMPERATURE: Final = 0.7
HOT_REPEATS: Final = 3
_HOT_PROMPTS: Final = ("both_data", "zero_shot")


class Part(NamedTuple):
    """A part of the measurement.

    Parameters
    ----------
    name : str
        ``errors``, ``controls``, ``wordings`` or ``repeats``.
    cases : Cases
        The cases.
    arms : tuple of Arm
        The arms, each named ``presentation/prompt``, with a wording or temperature where that is the subject.
    repeats : int
        Repeats of each case.
    """

    name: str
    cases: Cases
    arms: tuple[Arm, ...]
    repeats: int = 1


def arm_of(presentation: Presentation, prompt: str, wording: str = "plain", temperature: float = 0.0) -> Arm:
    """Build an arm of the measurement.

    Parameters
    ----------
    presentation, prompt, wording : str
        How an error is shown, under which prompt, and with which note where it is typed.
    temperature : float, default 0.0
        Sampling temperature.

    Returns
    -------
    Arm
        Its wording is named even where it is the usual one, so that a recording outlives a new default.

    Examples
    --------
    >>> arm_of("typed", "zero_shot", "short").name
    'typed:short/zero_shot'
    """
    params: dict[str, object] = {"wording": wording}
    name = presentation if wording == "plain" else f"{presentation}:{wording}"
    name += f"/{prompt}"
    if temperature:
        params["temperature"] = temperature
        name += f"/T{temperature:g}"
    return Arm(name=name, presentation=presentation, prompt=prompt, params=params)


def parts() -> tuple[Part, ...]:
    """List all that is measured.

    Returns
    -------
    tuple of Part
        Errors under each presentation and prompt, controls under each prompt, the typed error's other
        wordings, and repeats at a temperature.
    """
    errors = demo_cases(language="en", controls=False)
    controls = Cases([case for case in demo_cases(language="en") if case.fault_kind in ("empty", "none")])
    return (
        Part("errors", errors, tuple(arm_of(shown, prompt) for prompt, shown in product(PROMPTS, SHOWN))),
        Part("controls", controls, tuple(arm_of("typed", prompt) for prompt in PROMPTS)),
        Part(
            "wordings",
            errors,
            tuple(arm_of("typed", prompt, wording) for prompt, wording in product(PROMPTS, WORDINGS[1:])),
        ),
        Part(
            "repeats",
            errors,
            tuple(arm_of("typed", prompt, temperature=TEMPERATURE) for prompt in _HOT_PROMPTS),
            HOT_REPEATS,
        ),
    )


def declared_pairs() -> tuple[Pair, ...]:
    """List the pairs of arms that are compared: the family over which p-values are adjusted.

    Returns
    -------
    tuple of Pair
        Presentations against ``swallowed`` and prompts against ``both_data`` on misreport_as_empty; the
        typed error's wordings against ``plain`` on undisclosed.
    """
    prompts = tuple(PROMPTS)
    return (
        *(
            Pair("misreport_as_empty", arm_of("swallowed", prompt).name, arm_of(shown, prompt).name)
            for prompt, shown in product(prompts, SHOWN[1:])
        ),
        *(
            Pair("misreport_as_empty", arm_of("typed", prompts[0]).name, arm_of("typed", prompt).name)
            for prompt in prompts[1:]
        ),
        *(
            Pair("undisclosed", arm_of("typed", prompt).name, arm_of("typed", prompt, wording).name)
            for prompt, wording in product(prompts, WORDINGS[1:])
        ),
    )
