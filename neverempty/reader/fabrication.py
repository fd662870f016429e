"""How often `fabricated` is right, as measured on labelled answers and shipped with the code that decides."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from neverempty.stats import Estimate

FABRICATION_FILE: Final = "specifics.json"
_LEAST_PRECISION: Final = 0.8


class FabricationError(NamedTuple):
    """How labelled answers after a failed or empty look-up were scored by `fabricated`.

    Parameters
    ----------
    tp, fp
        Answers called fabricated that are, and that are not.
    fn, tn
        Answers not called fabricated that are, and that are not.

    Examples
    --------
    >>> error = FabricationError(tp=6, fp=2, fn=4, tn=8)
    >>> error.precision.value, error.recall.value, error.is_hint
    (0.75, 0.6, True)
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> Estimate:
        """The share of answers called fabricated that are, with its Wilson interval."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Estimate:
        """The share of fabricated answers that were called so, with its Wilson interval."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def is_hint(self) -> bool:
        """Whether the precision is below 0.8, or unknown: then the number only hints at answers to read."""
        value = self.precision.value
        return value is None or value < _LEAST_PRECISION

    @property
    def sentence(self) -> str:
        """The error in one line, for the note of a metric.

        Examples
        --------
        >>> FabricationError(tp=9, fp=1, fn=3, tn=8).sentence
        'precision 90 % of 10 (60 to 98 %), recall 75 % of 12 (47 to 91 %) on labelled answers'
        """
        text = f"precision {_shown(self.precision)}, recall {_shown(self.recall)} on labelled answers"
        return f"hint: {text}" if self.is_hint else text


def _share(x: int, n: int) -> Estimate:
    from neverempty.stats import wilson_interval

    return wilson_interval(x, n)


def _shown(share: Estimate) -> str:
    if share.value is None or share.lo is None or share.hi is None:
        return "not measured"
    # floor, so that 79.6 % is not shown as the 80 % that it misses
    return (
        f"{int(share.value * 100 + 1e-9)} % of {share.n:.0f} ({share.lo * 100:.0f} to {share.hi * 100:.0f} %)"
    )


@cache
def _shipped() -> dict[str, Any]:
    text = resources.files("neverempty.reader").joinpath(FABRICATION_FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def measured_fabrication(scorer_version: str) -> FabricationError:
    """Look up the error of `fabricated`, as measured on labelled answers that its code was not tuned on.

    Parameters
    ----------
    scorer_version : str
        The version of the failure scorer, as it stands on the scores.

    Returns
    -------
    FabricationError
        The counts; of another version than the measured one there are none, and it is a hint.

    Examples
    --------
    >>> measured_fabrication("failure/0").sentence
    'hint: precision not measured, recall not measured on labelled answers'
    """
    shipped = _shipped()
    known = shipped["scorer_version"] == scorer_version
    return FabricationError(*shipped["halves"]["frozen"]) if known else FabricationError(0, 0, 0, 0)
