"""What keeps two reports from being compared; all of it is said at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from neverempty._errors import InputError
from neverempty._suggest import did_you_mean
from neverempty.gating.sides import Side

_CUT_OFF: Final = ("no_cases", "interrupted", "budget_stopped", "incomplete")
_MOST_NAMED: Final = 3
_UNKNOWN: Final = "unknown"


class Reason(NamedTuple):
    """One reason why a comparison is refused.

    Parameters
    ----------
    name : str
        ``incomplete``, ``other_cases``, ``edited_cases``, ``split_hash``, ``repeats``, ``pattern_version``,
        ``scorer_version``, ``collapse``, ``model``, ``metric`` or ``arm``.
    text : str
        What differs, and the way out.
    """

    name: str
    text: str


class NotComparableError(InputError):
    """Two reports cannot be compared; ``reasons`` lists every reason.

    Parameters
    ----------
    reasons : iterable of Reason
        All of them.

    Examples
    --------
    >>> str(NotComparableError([Reason("split_hash", "the test splits differ")]))
    'split_hash: the test splits differ'
    """

    def __init__(self, reasons: Iterable[Reason]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"{reason.name}: {reason.text}" for reason in self.reasons)


def incomplete(side: Side) -> list[Reason]:
    """Say whether a report was cut off.

    Parameters
    ----------
    side : Side
        Baseline or candidate.

    Returns
    -------
    list of Reason
        Empty where every repeat ran.
    """
    if side.status in _CUT_OFF:
        return [Reason("incomplete", f"the {side.name} is {side.status}: {side.status_reason}")]
    if side.outcomes.empty:
        return [Reason("incomplete", f"the {side.name} has no outcome")]
    return []


def unknown_arms(side: Side, arms: Collection[str]) -> list[Reason]:
    """Say which arms a report does not have.

    Parameters
    ----------
    side : Side
        Baseline or candidate, with all its arms.
    arms : collection of str
        The wanted ones.

    Returns
    -------
    list of Reason
        One per arm.
    """
    known = side.distinct("arm")
    return [
        Reason("arm", f"the {side.name} has no arm {arm!r}{did_you_mean(arm, known)}")
        for arm in arms
        if arm not in known
    ]


def unknown_metrics(side: Side, metrics: Iterable[str]) -> list[Reason]:
    """Say which metrics a report does not have.

    Parameters
    ----------
    side : Side
        Baseline or candidate.
    metrics : iterable of str
        The wanted ones.

    Returns
    -------
    list of Reason
        One per metric.
    """
    known = side.distinct("metric")
    return [
        Reason("metric", f"the {side.name} has no metric {metric!r}{did_you_mean(metric, known)}")
        for metric in metrics
        if metric not in known
    ]


def differences(
    base: Side, cand: Side, metrics: Collection[str], allow_models: Collection[str] = ()
) -> list[Reason]:
    """List everything that keeps two complete reports from being compared.

    Parameters
    ----------
    base, cand : Side
        Baseline and candidate.
    metrics : collection of str
        The compared metrics.
    allow_models : collection of str
        Models that the candidate may have and the baseline has not.

    Returns
    -------
    list of Reason
        Empty where they can be compared.
    """
    return [
        *_cases(base, cand),
        *_hashes(base, cand),
        *_repeats(base, cand),
        *_versions(base, cand, metrics),
        *_natures(base, cand, metrics),
        *_models(base, cand, allow_models),
    ]


def _cases(base: Side, cand: Side) -> Iterator[Reason]:
    keys = ["suite", "case_id", "arm"]
    there, here = (side.outcomes[keys].drop_duplicates() for side in (base, cand))
    joined = there.merge(here, on=keys, how="outer", indicator="side")
    for side, name in (("left_only", base.name), ("right_only", cand.name)):
        alone = joined.loc[joined["side"] == side, keys]
        if len(alone):
            few = "; ".join("/".join(row) for row in alone.head(_MOST_NAMED).itertuples(index=False))
            more = f" and {len(alone) - _MOST_NAMED} more" if len(alone) > _MOST_NAMED else ""
            yield Reason("other_cases", f"only the {name} has {few}{more}; run both over the same cases")


def _hashes(base: Side, cand: Side) -> Iterator[Reason]:
    for key, name, text in (
        ("split_hash", "split_hash", "the frozen test split differs"),
        ("dataset_hash", "edited_cases", "cases of the same name differ in content"),
    ):
        there, here = (_one(side, key) for side in (base, cand))
        if there and here and there != here:
            yield Reason(name, f"{text} ({_short(there)} and {_short(here)}); run the baseline anew")
            return


def _repeats(base: Side, cand: Side) -> Iterator[Reason]:
    there, here = (side.known("repeats") for side in (base, cand))
    if there is None or here is None:
        there, here = (int(side.outcomes["n_repeats"].max()) for side in (base, cand))
    if there != here:
        yield Reason("repeats", f"the baseline has {there} repeats, the candidate {here}; run both alike")


def _versions(base: Side, cand: Side, metrics: Collection[str]) -> Iterator[Reason]:
    there, here = (_one(side, "pattern_version") for side in (base, cand))
    if there and here and there != here:
        yield Reason(
            "pattern_version",
            f"answers were read by the rules {_short(there)} and {_short(here)}; score both reports anew",
        )
    by_metric = [_of_metrics(side, "scorer_version") for side in (base, cand)]
    for metric in metrics:
        old, new = (found.get(metric) for found in by_metric)
        if old and new and old != new:
            yield Reason(
                "scorer_version",
                f"{metric!r} was scored by version {_listed(old)} and {_listed(new)}; score both anew",
            )


def _natures(base: Side, cand: Side, metrics: Collection[str]) -> Iterator[Reason]:
    there, here = base.natures(), cand.natures()
    for metric in metrics:
        if metric in there and metric in here and there[metric] != here[metric]:
            yield Reason(
                "collapse",
                f"{metric!r} is {' by '.join(there[metric])} in the baseline, {' by '.join(here[metric])} in "
                "the candidate; collapse both reports anew",
            )


def _models(base: Side, cand: Side, allowed: Collection[str]) -> Iterator[Reason]:
    there, here = _of_arms(base), _of_arms(cand)
    refused: dict[tuple[str, ...], set[str]] = {}
    for arm in sorted(here.keys() & there.keys()):
        new = here[arm] - there[arm] or here[arm]
        if here[arm] != there[arm] and not new <= set(allowed):
            refused.setdefault(tuple(sorted(new - set(allowed))), set()).update(there[arm])
    for models, old in refused.items():
        yield Reason(
            "model",
            f"the candidate was answered by {_listed(models)}, the baseline by {_listed(old)}; allow it by "
            f"name where it is meant: allow_models = [{', '.join(repr(model) for model in models)}]",
        )


def _of_arms(side: Side) -> dict[str, set[str]]:
    """Collect the resolved models of each arm."""
    if "resolved_model" in side.outcomes.columns:
        return _pairs(side.outcomes, "arm", "resolved_model")
    return {arm: {_UNKNOWN} for arm in side.distinct("arm")}


def _of_metrics(side: Side, column: str) -> dict[str, set[str]]:
    return _pairs(side.outcomes, "metric", column) if column in side.outcomes.columns else {}


def _pairs(frame: pd.DataFrame, key: str, column: str) -> dict[str, set[str]]:
    """Collect a column's values by another's; joined ones, as of repeats that differ, are parted."""
    found: dict[str, set[str]] = {}
    for name, value in frame[[key, column]].drop_duplicates().itertuples(index=False):
        parts = value.split(" | ") if isinstance(value, str) else [_UNKNOWN]
        found.setdefault(str(name), set()).update(parts)
    return found


def _one(side: Side, key: str) -> str | None:
    """Find a version: in the provenance, else in the column of that name, without its gaps."""
    if (value := side.known(key)) is not None:
        return str(value)
    return ", ".join(sorted(side.distinct(key) - {_UNKNOWN})) or None


def _short(value: str) -> str:
    return value if len(value) <= 16 else f"{value[:12]}…"


def _listed(names: Iterable[Any]) -> str:
    found: Sequence[str] = sorted(map(str, names))
    return ", ".join(found) or _UNKNOWN
