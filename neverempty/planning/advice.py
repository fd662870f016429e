"""The plan in words: one sentence of advice, and what else to know before the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from neverempty.planning.power import PowerOutlook
from neverempty.planning.setting import PlanSetting
from neverempty.planning.whole_gate import MOST_FOR_GATE
from neverempty.report.numbers import count

if TYPE_CHECKING:
    from neverempty.planning.model import Plan

_MUCH: Final = 0.05
_NAMES: Final = {"any_hit": "any hit", "majority": "majority"}
# A safety metric is never confirmed by a second run: a lie that comes and goes is still a lie.
_CURE: Final = {
    "any_hit": "keep them few, or bring the flake rate down",
    "majority": "have a failure confirmed by a second run",
}
_BOUNDS: Final = {
    "wilson": "Wilson's 95 % interval",
    "clopper_pearson": "the exact 95 % interval",
    "clopper_pearson_upper": "the exact one-sided 95 % bound",
}


def share(value: float) -> str:
    """Write a chance for a sentence: whole per cent, with its decimals where it is small.

    Parameters
    ----------
    value : float
        From 0 to 1.

    Returns
    -------
    str
        Only a true zero is ``0 %`` and only a true one ``100 %``.

    Examples
    --------
    >>> share(0.1801), share(0.034), share(0.0002), share(0.9999), share(0.0)
    ('18 %', '3.4 %', 'under 0.1 %', 'over 99 %', '0 %')
    """
    if value in (0.0, 1.0):
        return f"{value:.0%}".replace("%", " %")
    if value < 0.001:
        return "under 0.1 %"
    if value > 0.99:
        return "over 99 %"
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.1f} %"


def points(drop: float) -> str:
    """Write a drop in points.

    Parameters
    ----------
    drop : float
        As a share.

    Returns
    -------
    str
        As ``"5-point"``.

    Examples
    --------
    >>> points(0.05), points(0.0667)
    ('5-point', '6.7-point')
    """
    return f"{round(100 * drop, 1):g}-point"


def advice(setting: PlanSetting, test: PowerOutlook) -> str:
    """Say what the size catches, and what would be enough.

    Parameters
    ----------
    setting : PlanSetting
        What is assumed.
    test : PowerOutlook
        What follows.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> from neverempty.planning.power import power_outlook
    >>> few = PlanSetting(4)
    >>> advice(few, power_outlook(few))
    'With 4 cases no run can ever fail by the test, which needs 5 clean flips; 134 give 80 %.'
    """
    wanted, drop = share(setting.power), points(setting.drop)
    enough = test.smallest.n
    if setting.n is None or test.power is None:
        return f"No number of cases up to 20,000 catches a {drop} drop {wanted} of the time."
    if test.cannot_reject:
        rest = f"{enough:,} give {wanted}" if enough else "more are needed"
        few = count(setting.n, "case")
        needs = f"which needs {test.clean_flips} clean flips"
        return f"With {few} no run can ever fail by the test, {needs}; {rest}."
    found = f"With {count(setting.n, 'case')} you catch a {drop} drop {share(test.power)} of the time"
    if enough is None:
        return f"{found}; no number up to 20,000 gives {wanted}."
    if enough > setting.n:
        return f"{found}; {count(enough, 'case')} give {wanted}."
    if enough == setting.n:
        return f"{found}, and fewer would not do."
    return f"{found}; {enough:,} would be enough for {wanted}."


def cautions(plan: Plan) -> tuple[str, ...]:
    """List what else to know before the run.

    Parameters
    ----------
    plan : Plan
        The plan.

    Returns
    -------
    tuple of str
        Sentences.
    """
    return (*_on_limit(plan), *_on_gate(plan), *_on_floors(plan), *_on_assumptions(plan))


def _on_limit(plan: Plan) -> Iterator[str]:
    limit, n = plan.limit, plan.setting.n
    if limit is None or not limit.cases:
        return
    needed = limit.cases[0][1]
    if n is not None and n < needed:
        yield (
            f"The limit of {share(limit.limit)} on the upper end of {_BOUNDS[limit.bound]} needs at least "
            f"{needed} cases without a failing one: {n} can never meet it."
        )


def _on_gate(plan: Plan) -> Iterator[str]:
    setting = plan.setting
    if setting.n is not None and not plan.gates:
        yield f"The whole gate's chances are worked out for up to {MOST_FOR_GATE:,} cases."
    for one in plan.gates:
        if one.scenario != "unchanged" or one.collapse != setting.collapse:
            continue
        if one.odds.p_fail_must_pass > _MUCH:
            yield (
                f"Flakes alone fail at least one of {count(setting.must_pass, 'must-pass case')} in "
                f"{share(one.odds.p_fail_must_pass)} of runs: {_CURE[setting.collapse]}."
            )
        if one.odds.p_inconclusive > _MUCH:
            yield (
                f"Flakes alone make {share(one.odds.p_inconclusive)} of runs inconclusive: more than "
                f"{share(setting.max_unstable_rate)} of the cases are unstable then."
            )
        if one.odds.p_mcnemar_joint > _MUCH:
            yield f"The test fails {share(one.odds.p_mcnemar_joint)} of runs in which nothing changed."


def _on_floors(plan: Plan) -> Iterator[str]:
    for one in plan.floors:
        if one.breach_unchanged is not None and one.breach_unchanged > _MUCH:
            yield (
                f"The floor of {share(one.floor)} fails an unchanged agent, seen at "
                f"{share(one.rate_unchanged)}, in {share(one.breach_unchanged)} of runs."
            )


def _on_assumptions(plan: Plan) -> Iterator[str]:
    setting = plan.setting
    guessed = [name for name in ("flake", "churn") if getattr(setting, name).method == "assumed"]
    if guessed:
        named = {"flake": "no call flakes", "churn": "no case improves"}
        yield f"This is the best case: {' and '.join(named[name] for name in guessed)}."
    if setting.churn.status == "clipped" or setting.pass_rate.status == "clipped":
        yield f"The pass rate was {setting.pass_rate.reason}."


def collapse_name(collapse: str) -> str:
    """Write a collapse as words.

    Examples
    --------
    >>> collapse_name("any_hit")
    'any hit'
    """
    return _NAMES[collapse]


def bound_name(bound: str) -> str:
    """Write the interval of a limit as words.

    Examples
    --------
    >>> bound_name("wilson")
    "Wilson's 95 % interval"
    """
    return _BOUNDS[bound]
