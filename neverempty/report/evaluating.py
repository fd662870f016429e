"""The whole way in one call: run, score, collapse, summarise, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from neverempty.cases import Case, Cases
from neverempty.faults import Arm
from neverempty.metrics import collapse, summarize
from neverempty.report.model import Report
from neverempty.report.provenance import provenance_of
from neverempty.report.status import earned, status_of
from neverempty.running import RunInterrupted, run
from neverempty.running.api import RunOptions
from neverempty.running.units import checked_arms
from neverempty.scorers import Scorer, score
from neverempty.tools.contract import contract_hash, read_contract

if TYPE_CHECKING:
    import pandas as pd


class EvaluationInterrupted(KeyboardInterrupt):
    """An evaluation was stopped by Ctrl-C; what had finished is scored.

    Parameters
    ----------
    report : Report
        The report of what had finished, with the status ``interrupted``.
    """

    def __init__(self, report: Report) -> None:
        super().__init__("the evaluation was interrupted; .report holds what had finished")
        self.report = report


def evaluate(
    agent: Callable[..., Any],
    cases: Iterable[Case],
    *,
    scorers: Sequence[Scorer] | None = None,
    by: str | Sequence[str] | None = None,
    **options: Unpack[RunOptions],
) -> Report:
    """Run an agent over cases and report what it does when its tools fail.

    Parameters
    ----------
    agent : callable
        As for `run`.
    cases : Cases or iterable of Case
        The suite.
    scorers : sequence of Scorer, optional
        As for `score`.
    by : str or sequence of str, optional
        As for `summarize`.
    **options
        Everything that `run` takes: arms, repeats, seed, concurrency, timeout, budgets, store, record,
        replay, stubs.

    Returns
    -------
    Report
        With ``.traces``, ``.calls``, ``.scores``, ``.outcomes``, ``.metrics``, ``.honesty``,
        ``.provenance`` and ``.status``.

    Raises
    ------
    EvaluationInterrupted
        On Ctrl-C, with the report of what had finished.

    Examples
    --------
    >>> cases = [Case(id="a", input={"payload": "Any jobs?"})]
    >>> evaluate(lambda case, tracer: "Hello.", cases, repeats=2)
    <Report: nothing_measured, 1 cases, 2 traces, arms: typed>
    """
    suite = cases if isinstance(cases, Cases) else Cases(cases)
    options["arms"] = arms = checked_arms(options.get("arms"))
    report_on = partial(
        make_report,
        scorers=scorers,
        by=by,
        arms=arms,
        repeats=options.get("repeats", 1),
        seed=options.get("seed", 0),
    )
    try:
        traces = run(agent, suite, **options)
    except RunInterrupted as error:
        raise EvaluationInterrupted(report_on(error.traces, suite, interrupted=True)) from error
    report = report_on(traces, suite)
    if contract := options.get("contract"):
        report.provenance["contract"] = contract_hash(read_contract(contract))
    return report


def make_report(
    traces: pd.DataFrame,
    cases: Iterable[Case],
    *,
    scorers: Sequence[Scorer] | None = None,
    by: str | Sequence[str] | None = None,
    arms: Iterable[Arm | str] | None = None,
    repeats: int | None = None,
    seed: int | None = None,
    interrupted: bool = False,
) -> Report:
    """Report on traces that are already there: from `run`, from a store, imported.

    Parameters
    ----------
    traces : DataFrame
        The traces frame.
    cases : Cases or iterable of Case
        The suite that was to be run.
    scorers, by
        As for `evaluate`.
    arms : iterable of Arm or str, optional
        The arms that were to be run; those of the traces by default.
    repeats : int, optional
        Repeats that were to be run; without it nobody can tell whether repeats are missing.
    seed : int, optional
        Seed of the run.
    interrupted : bool, default False
        Whether the run was interrupted.

    Returns
    -------
    Report
        As from `evaluate`.

    Examples
    --------
    >>> from neverempty.frames import traces_frame
    >>> from neverempty.traces.model import Trace
    >>> cases = [Case(id="a", input={"payload": "Any jobs?"}), Case(id="b", input={"payload": "And now?"})]
    >>> traces = traces_frame([Trace("default", "a", "typed", 0, answer="Hello.")])
    >>> make_report(traces, cases, repeats=1).status
    'incomplete'
    """
    suite = cases if isinstance(cases, Cases) else Cases(cases)
    scores = score(traces, suite, scorers)
    outcomes = collapse(scores)
    metrics = summarize(outcomes, by)
    known = [_described(arm) for arm in arms] if arms is not None else None
    names = [arm["name"] for arm in known] if known is not None else traces["arm"].unique().tolist()
    n_expected = None if repeats is None else len(suite) * len(names) * repeats
    provenance = provenance_of(
        traces,
        scores,
        suite,
        arms=names,
        arm_settings=known,
        repeats=repeats,
        seed=seed,
        n_expected=n_expected,
    )
    status = status_of(traces, metrics, n_cases=len(suite), n_expected=n_expected, interrupted=interrupted)
    frames = {
        "traces": traces,
        "scores": scores,
        "outcomes": outcomes,
        "metrics": earned(metrics, status.status),
    }
    return Report(frames, provenance, status)


def _described(arm: Arm | str) -> dict[str, Any]:
    return {"name": arm} if isinstance(arm, str) else arm.model_dump(mode="json")
