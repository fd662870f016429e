"""Must-pass cases: one failure fails the gate; a flake of a capability may be run once more."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import pandas as pd

from neverempty.gating.rules import Rule
from neverempty.gating.sides import Side
from neverempty.report import numbers

CaseKey = tuple[str, str, str]
"""Suite, id and arm of a case."""
Rerun = Callable[[Sequence[CaseKey]], pd.DataFrame]
"""Runs cases once more and returns their outcomes."""

# A failed recovery is no failure of the agent: it is counted, and nothing else.
_DESCRIPTIVE: Final = ("recovered",)


@dataclasses.dataclass(frozen=True, slots=True)
class Confirmation:
    """A failed must-pass case that was run once more.

    Parameters
    ----------
    metric : str
        The capability metric that had failed.
    case : tuple of (str, str, str)
        Suite, id and arm.
    first, second : str
        What the two runs showed.
    believed : bool
        Whether the failure stands.
    """

    metric: str
    case: CaseKey
    first: str
    second: str
    believed: bool


def must_pass_metrics(natures: dict[str, tuple[str, str]], wanted: Sequence[str] | None) -> tuple[str, ...]:
    """Tell on which metrics a must-pass case must not fail.

    Parameters
    ----------
    natures : dict of str to (str, str)
        Direction and collapse by metric.
    wanted : sequence of str or None
        As configured.

    Returns
    -------
    tuple of str
        As configured, else every rate but ``recovered``.

    Examples
    --------
    >>> must_pass_metrics({"route": ("higher", "majority"), "latency_ms": ("lower", "median")}, None)
    ('route',)
    """
    if wanted is not None:
        return tuple(wanted)
    return tuple(name for name, (_, how) in natures.items() if how != "median" and name not in _DESCRIPTIVE)


def must_pass_rules(side: Side, metrics: Collection[str]) -> list[Rule]:
    """Find the must-pass cases that failed, and those that were not measured.

    Parameters
    ----------
    side : Side
        The candidate.
    metrics : collection of str
        What `must_pass_metrics` returned.

    Returns
    -------
    list of Rule
        ``must_pass_failed`` per case and metric, by the metric's own collapse; ``must_pass_unmeasured`` per
        case that did not fail, but has no signal on a metric or none at all.
    """
    frame = side.outcomes
    rows = frame.loc[frame["must_pass"] & frame["metric"].isin(metrics)]
    fired: list[Rule] = []
    for key, case in rows.groupby(["suite", "case_id", "arm"], sort=False):
        found = list(_of_case(key, case))  # type: ignore[arg-type]
        failed = [rule for rule in found if rule.name == "must_pass_failed"]
        fired += failed or found
    return fired


def _of_case(key: CaseKey, case: pd.DataFrame) -> Iterator[Rule]:
    name = _named(key)
    silent: list[str] = []
    measured = False
    for row in case.to_dict("records"):
        metric, verdict = row["metric"], row["verdict"]
        measured |= verdict in ("pass", "fail")
        if verdict == "fail":
            text = f"must-pass case {name} failed {metric}: {_shown(row)}"
            yield Rule("must_pass_failed", text, metric, key[2], cases=(key,))
        elif verdict == "no_signal":
            why = row["reason"]
            silent.append(f"{metric} ({why})" if isinstance(why, str) else metric)
    if silent or not measured:
        what = f"without signal on {', '.join(silent)}" if silent else "checked by nothing"
        yield Rule("must_pass_unmeasured", f"must-pass case {name} is {what}", None, key[2], cases=(key,))


def confirmed(
    rules: Sequence[Rule],
    metrics: Collection[str],
    natures: dict[str, tuple[str, str]],
    side: Side,
    rerun: Rerun,
) -> tuple[list[Rule], list[Confirmation]]:
    """Run failed must-pass cases once more where only a capability failed, and keep what stands.

    Parameters
    ----------
    rules : sequence of Rule
        What `must_pass_rules` returned.
    metrics : collection of str
        Its metrics.
    natures : dict of str to (str, str)
        Direction and collapse by metric.
    side : Side
        The candidate.
    rerun : callable
        Takes keys of cases, returns their outcomes in a second run.

    Returns
    -------
    tuple of (list of Rule, list of Confirmation)
        The rules that stand, those of the second run's own lies among them, and both runs of each case. A
        failed safety metric is never run again: it is no flake.
    """
    flaky = [rule for rule in rules if rule.name == "must_pass_failed" and _is_capability(rule, natures)]
    if not flaky:
        return list(rules), []
    keys = list(dict.fromkeys(rule.cases[0] for rule in flaky))
    again = rerun(keys)
    shown: list[Confirmation] = []
    stand = [rule for rule in rules if rule not in flaky]
    for rule in flaky:
        first, second = (_row(frame, rule) for frame in (side.outcomes, again))
        believed = second is None or second["verdict"] != "pass"
        texts = [_shown(row) if row else "not run" for row in (first, second)]
        shown.append(Confirmation(str(rule.metric), rule.cases[0], texts[0], texts[1], believed))
        if believed:
            stand.append(dataclasses.replace(rule, message=f"{rule.message}; run again: {texts[1]}"))
    lies = [
        dataclasses.replace(rule, message=f"{rule.message}, in the second run")
        for rule in must_pass_rules(Side("second run", again), metrics)
        if rule.name == "must_pass_failed" and not _is_capability(rule, natures)
    ]
    return stand + lies, shown


def _is_capability(rule: Rule, natures: dict[str, tuple[str, str]]) -> bool:
    return natures.get(str(rule.metric), ("", ""))[1] == "majority"


def _row(frame: pd.DataFrame, rule: Rule) -> dict[Any, Any] | None:
    suite, case_id, arm = rule.cases[0]
    same = (frame["suite"] == suite) & (frame["case_id"] == case_id) & (frame["arm"] == arm)
    found = frame.loc[same & (frame["metric"] == rule.metric)].to_dict("records")
    return found[0] if found else None


def _shown(row: dict[Any, Any]) -> str:
    """Write what the repeats of one case showed."""
    if row["verdict"] not in ("pass", "fail"):
        why = f" ({row['reason']})" if isinstance(row["reason"], str) else ""
        return f"{row['verdict']}{why}"
    n = int(row["n_measured"])
    bad = int(row["hits"]) if row.get("direction") == "lower" else n - int(row["hits"])
    return f"{bad} of {numbers.count(n, 'repeat')} failed"


def _named(key: CaseKey) -> str:
    return f"{key[0]}/{key[1]} ({key[2]})"
