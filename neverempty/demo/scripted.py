"""The demonstration on scripted agents: a measurement recovers the rates that were put in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neverempty.agents.scripted import Alarmist, Fabricator, Flaky, Honest, Misreporting, Silent
from neverempty.cases import Cases
from neverempty.demo.data import demo_cases
from neverempty.demo.tools import THINGS, TOOLS
from neverempty.faults import Arm

if TYPE_CHECKING:
    import pandas as pd

HEADLINES: Final = ("misreport_as_empty", "false_alarm", "undisclosed")
_SEED: Final = 20260929
_REPEATS: Final = 3
# Far above what any of these answers takes; only the agent that hangs on purpose reaches it.
_TIMEOUT: Final = 2.0


class Scripted(NamedTuple):
    """A scripted agent and what is true of it.

    Parameters
    ----------
    name : str
        How the table calls it.
    agent : callable
        The agent.
    true : tuple of (float, float, float)
        Its true rates per answer of `HEADLINES`, among the answers that it gives.
    """

    name: str
    agent: Callable[..., Any]
    true: tuple[float, float, float]


def scripted_agents() -> tuple[Scripted, ...]:
    """Build the demonstration's agents.

    Returns
    -------
    tuple of Scripted
        In the order of the table.
    """
    honest = Honest(TOOLS, THINGS)
    return (
        Scripted("honest", honest, (0.0, 0.0, 0.0)),
        *(
            Scripted(f"misreports {p:.0%}", Misreporting(TOOLS, p, THINGS), (p, 0.0, p))
            for p in (0.02, 0.10, 0.35)
        ),
        Scripted("alarmist", Alarmist(TOOLS, THINGS), (0.0, 1.0, 0.0)),
        Scripted("fabricator", Fabricator(TOOLS, THINGS), (0.0, 0.0, 1.0)),
        Scripted("silent", Silent(TOOLS, THINGS), (0.0, 0.0, 1.0)),
        Scripted("flaky", Flaky(honest, crash=0.2, hang=0.02), (0.0, 0.0, 0.0)),
        Scripted("always crashing", Flaky(honest, crash=1.0), (0.0, 0.0, 0.0)),
    )


def true_per_case(rate: float, repeats: int) -> float:
    """Turn a rate per answer into the rate per case of an any-hit metric.

    Parameters
    ----------
    rate : float
        Chance per answer.
    repeats : int
        Independent repeats k of each case.

    Returns
    -------
    float
        ``1 - (1 - rate) ** repeats``.

    Examples
    --------
    >>> round(true_per_case(0.1, 3), 3)
    0.271
    """
    return float(1 - (1 - rate) ** repeats)


@dataclass(frozen=True, eq=False)
class DemoResult:
    """What the demonstration measured.

    Parameters
    ----------
    rates : DataFrame
        One row per agent and headline: ``agent``, ``metric``, ``n_cases``, ``n_applicable``, ``n_measured``,
        ``true_per_answer``, ``per_answer``, ``per_answer_lo``, ``per_answer_hi``, ``true_per_case``,
        ``per_case``, ``per_case_lo``, ``per_case_hi`` (shares; NaN where nothing was measured), ``hits``
        (cases), ``status`` and ``note``.
    honesty : DataFrame
        What happened × what was said, per agent: see `neverempty.metrics.honesty_table`.
    traces, scores : DataFrame
        What they come from; the agents are the arms.
    repeats : int
        Repeats of each case.
    """

    rates: pd.DataFrame
    honesty: pd.DataFrame
    traces: pd.DataFrame
    scores: pd.DataFrame
    repeats: int

    def __str__(self) -> str:
        from neverempty.demo.render import demo_text

        return demo_text(self)


def run_demo(
    *, repeats: int = _REPEATS, seed: int = _SEED, cases: Cases | None = None, progress: bool | None = None
) -> DemoResult:
    """Measure agents whose true rates are known, the whole way through: run, score, collapse, summarise.

    Nothing is sent anywhere. The tools' faults are typed errors; on the rates' scope: misreport_as_empty and
    undisclosed are rates over the cases whose tool failed, false_alarm over the controls, in which it worked.

    Parameters
    ----------
    repeats : int, default 3
        Repeats of each case.
    seed : int, default 20260929
        Seed of the agents' chance.
    cases : Cases, optional
        The demonstration's own by default.
    progress : bool, optional
        As for `neverempty.run`.

    Returns
    -------
    DemoResult
        Print it, or take its frames.
    """
    import pandas as pd

    from neverempty.metrics import collapse, honesty_table, summarize
    from neverempty.running import run
    from neverempty.scorers import FailureScorer, score

    agents = scripted_agents()
    cases = demo_cases() if cases is None else cases
    traces = pd.concat(
        [
            run(
                one.agent,
                cases,
                arms=Arm(name=one.name),
                repeats=repeats,
                seed=seed,
                timeout=_TIMEOUT,
                progress=progress,
            )
            for one in agents
        ],
        ignore_index=True,
    )
    scores = score(traces, cases, [FailureScorer()])
    metrics = summarize(collapse(scores))
    return DemoResult(_rates(agents, metrics, repeats), honesty_table(scores), traces, scores, repeats)


def _rates(agents: tuple[Scripted, ...], metrics: pd.DataFrame, repeats: int) -> pd.DataFrame:
    """Put the true rates beside the measured ones."""
    import pandas as pd

    true = pd.DataFrame(
        [
            {
                "agent": one.name,
                "metric": metric,
                "true_per_answer": rate,
                "true_per_case": true_per_case(rate, repeats),
            }
            for one in agents
            for metric, rate in zip(HEADLINES, one.true, strict=True)
        ]
    )
    measured = metrics.rename(
        columns={"arm": "agent", "value": "per_case", "lo": "per_case_lo", "hi": "per_case_hi"}
    )
    measured["metric"] = measured["metric"].astype("str")
    merged = true.merge(measured, on=["agent", "metric"], how="left", validate="one_to_one")
    return merged[
        [
            "agent",
            "metric",
            "n_cases",
            "n_applicable",
            "n_measured",
            "hits",
            "true_per_answer",
            "per_answer",
            "per_answer_lo",
            "per_answer_hi",
            "true_per_case",
            "per_case",
            "per_case_lo",
            "per_case_hi",
            "status",
            "note",
        ]
    ]
