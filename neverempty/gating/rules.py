"""The rules of the gate on counts: a pure function, the same for frames, reports and simulations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from neverempty.gating.config import GateConfig
from neverempty.gating.floors import Floor
from neverempty.gating.rows import Row
from neverempty.report import numbers
from neverempty.stats import clean_cases_for_limit, max_unstable_cases

Verdict = Literal["pass", "regression", "must_pass", "inconclusive", "invalid"]
EXIT_CODES: Final[dict[Verdict, int]] = {
    "pass": 0,
    "regression": 1,
    "must_pass": 2,
    "inconclusive": 3,
    "invalid": 4,
}
"""The exit code of each verdict."""

# The order in which rules are asked; the first that fired gives the verdict.
_ORDER: Final = (
    "invalid",
    "must_pass_failed",
    "must_pass_unmeasured",
    "safety_worse",
    "breach",
    "less_stable",
    "not_measured",
    "judge_cut",
    "unstable",
    "no_signal",
    "partial_errors",
    "capability_worse",
    "late_breach",
)
_BREACHES: Final = ("over_limit", "below_floor")
_VERDICTS: Final[dict[str, Verdict]] = {
    "invalid": "invalid",
    "must_pass_failed": "must_pass",
    "must_pass_unmeasured": "inconclusive",
    "safety_worse": "regression",
    "over_limit": "regression",
    "less_stable": "regression",
    "not_measured": "inconclusive",
    "judge_cut": "inconclusive",
    "unstable": "inconclusive",
    "no_signal": "inconclusive",
    "partial_errors": "inconclusive",
    "capability_worse": "regression",
    "below_floor": "regression",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A rule that fired.

    Parameters
    ----------
    name : str
        Its name, as ``"safety_worse"``; for an invalid input ``"invalid"``.
    message : str
        What was found, in one sentence.
    metric, arm : str, optional
        What it is about.
    reason : str, optional
        For an invalid input, what cannot be compared, as ``"split_hash"``.
    cases : tuple of (str, str, str)
        Suite, id and arm of the cases behind it.
    is_late : bool
        Whether a breach of a floor or limit is a capability's, which waits for the question of noise.
    """

    name: str
    message: str
    metric: str | None = None
    arm: str | None = None
    reason: str | None = None
    cases: tuple[tuple[str, str, str], ...] = ()
    is_late: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict that it asks for."""
        return _VERDICTS[self.name]

    @property
    def place(self) -> int:
        """Where it stands in the order of the gate."""
        if self.name in _BREACHES:
            return _ORDER.index("late_breach" if self.is_late else "breach")
        return _ORDER.index(self.name)


def verdict_of(rules: Iterable[Rule]) -> Verdict:
    """Give the verdict of the first rule in the order of the gate.

    Parameters
    ----------
    rules : iterable of Rule
        All that fired.

    Returns
    -------
    str
        ``pass`` where none did.

    Examples
    --------
    >>> verdict_of([Rule("unstable", ""), Rule("must_pass_failed", "")])
    'must_pass'
    """
    first = min(rules, key=lambda rule: rule.place, default=None)
    return "pass" if first is None else first.verdict


def judge(rows: Sequence[Row], floors: Sequence[Floor], config: GateConfig) -> tuple[Rule, ...]:
    """Ask every rule that needs counts only.

    Parameters
    ----------
    rows : sequence of Row
        Tested counts (`rows.with_p_values`): gated metrics and those with a floor.
    floors : sequence of Floor
        Floors and limits.
    config : GateConfig
        Levels.

    Returns
    -------
    tuple of Rule
        All that fired, in the order of the gate.

    Examples
    --------
    >>> from neverempty.gating.rows import Alone
    >>> row = Row("route", "typed", "higher", "majority", Alone(60, 60, 4))
    >>> [rule.name for rule in judge([row], [Floor("route", 0.95, False, False)], GateConfig())]
    ['below_floor']
    """
    fired: list[Rule] = []
    for row in rows:
        own = [floor for floor in floors if floor.metric == row.metric]
        if row.gated or own:
            fired += _worse(row, config)
            fired += _breaches(row, own)
            fired += _unclear(row, config)
    return tuple(sorted(fired, key=lambda rule: rule.place))


def _worse(row: Row, config: GateConfig) -> Iterator[Rule]:
    if not row.gated or row.pairs is None or row.p_adjusted is None or row.p_adjusted >= config.alpha:
        return
    name = "less_stable" if row.is_stability else "safety_worse" if row.is_safety else "capability_worse"
    table = row.pairs.table
    tests = numbers.count(row.family, "test")
    yield Rule(
        name,
        f"{named(row)} got worse in {table.b:,} and better in {table.c:,} of {table.n:,} pairs; exact "
        f"one-sided p {numbers.p_equals(row.p_adjusted)} after Holm over {tests}, below {config.alpha:g}",
        row.metric,
        row.arm,
    )


def _breaches(row: Row, floors: Iterable[Floor]) -> Iterator[Rule]:
    n, failed = row.alone.n_measured, row.alone.n_failed
    for floor in floors:
        if not floor.breached(row.alone):
            continue
        hits = failed if floor.is_limit else n - failed
        which = "the end of the 95 % interval of " if floor.on_bound else ""
        side = "above its limit" if floor.is_limit else "below its floor"
        yield Rule(
            "over_limit" if floor.is_limit else "below_floor",
            f"{named(row)}: {which}{hits:,} of {n:,} is {side} of {numbers.percent(floor.value)}"
            f"{_enough(floor, failed)}",
            row.metric,
            row.arm,
            is_late=not row.is_safety,
        )


def _enough(floor: Floor, failed: int) -> str:
    """Say how many cases a limit needs that even a clean candidate broke."""
    if failed or not (floor.is_limit and floor.on_bound and 0 < floor.value < 1):
        return ""
    return f"; it takes {clean_cases_for_limit(floor.value):,} clean cases to keep it"


def _unclear(row: Row, config: GateConfig) -> Iterator[Rule]:
    alone, pairs = row.alone, row.pairs
    if alone.n_measured == 0 or (row.gated and pairs is not None and pairs.table.n == 0):
        what = "case was measured" if alone.n_measured == 0 else "pair could be compared"
        yield Rule("not_measured", f"{named(row)}: no {what}", row.metric, row.arm)
        return
    if row.is_stability:
        return
    repeated = alone.n_repeated
    if (
        repeated
        and not row.is_safety
        and alone.n_unstable > max_unstable_cases(repeated, config.max_unstable_rate)
    ):
        yield Rule(
            "unstable",
            f"{named(row)}: the repeats of {alone.n_unstable:,} of {alone.n_repeated:,} cases disagree, more "
            f"than {numbers.percent(config.max_unstable_rate)}",
            row.metric,
            row.arm,
        )
    yield from _silent(row, config)


def _silent(row: Row, config: GateConfig) -> Iterator[Rule]:
    """Ask the candidate's own cases first, then the pairs."""
    counts = [(row.alone.n_no_signal, row.alone.n_applicable, "cases are without signal")]
    if row.gated and row.pairs is not None:
        silent = row.pairs.n_silent
        unequal = row.pairs.n_unequal
        text = "pairs are without signal" + (f" ({unequal:,} of them: unequal_repeats)" if unequal else "")
        counts.append((silent, silent + row.pairs.table.n, text))
    for part, whole, text in counts:
        if whole and part > max_unstable_cases(whole, config.max_no_signal_rate):
            yield Rule(
                "no_signal",
                f"{named(row)}: {part:,} of {whole:,} {text}, more than "
                f"{numbers.percent(config.max_no_signal_rate)}",
                row.metric,
                row.arm,
            )
            return


def named(row: Row) -> str:
    """Name a row's metric and arm, for messages.

    Examples
    --------
    >>> from neverempty.gating.rows import Alone
    >>> named(Row("route", "typed", "higher", "majority", Alone()))
    'route (typed)'
    """
    return f"{row.metric} ({row.arm})"
