"""The package's own scorers, the metrics they declare, and which of them a suite needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from neverempty.cases import Case
from neverempty.scorers.arguments import ArgumentsScorer
from neverempty.scorers.base import MetricSpec, Scorer
from neverempty.scorers.contract import ContractPinnedScorer
from neverempty.scorers.criteria import KEY as CRITERIA
from neverempty.scorers.criteria import CriteriaScorer
from neverempty.scorers.empty_payload import EmptyPayloadScorer
from neverempty.scorers.facts import FactsScorer
from neverempty.scorers.failure import FailureScorer
from neverempty.scorers.forbidden_claims import ForbiddenClaimsScorer
from neverempty.scorers.goal_state import GoalStateScorer
from neverempty.scorers.legality import ArgumentsLegalScorer, ToolExistsScorer
from neverempty.scorers.provenance import ProvenanceScorer
from neverempty.scorers.reply_lint import BannedWordsScorer, LocaleScorer
from neverempty.scorers.route import RouteScorer
from neverempty.scorers.rule_trace import RuleTraceScorer
from neverempty.scorers.statements import StatementJudge
from neverempty.scorers.terminal import TerminalEventScorer
from neverempty.scorers.tool_calls import ForbiddenToolsScorer, ToolCallsScorer
from neverempty.scorers.usage import UsageScorer

if TYPE_CHECKING:
    from neverempty.judge import Judge

HEADLINES = ("misreport_as_empty", "false_alarm", "undisclosed")
"""The three that are never shown alone: whoever always cries failure scores 0 on the first."""


@cache
def builtin_metrics() -> Mapping[str, MetricSpec]:
    """List the metrics that the package's own scorers declare.

    Returns
    -------
    mapping of str to MetricSpec
        By name.

    Examples
    --------
    >>> builtin_metrics()["misreport_as_empty"].collapse
    'any_hit'
    """
    specs = (
        *FailureScorer.metrics,
        *EmptyPayloadScorer.metrics,
        *RouteScorer.metrics,
        *CriteriaScorer.metrics,
        *ToolCallsScorer.metrics,
        *ArgumentsScorer.metrics,
        *ForbiddenToolsScorer.metrics,
        *ToolExistsScorer.metrics,
        *ArgumentsLegalScorer.metrics,
        *ContractPinnedScorer.metrics,
        *ProvenanceScorer.metrics,
        *TerminalEventScorer.metrics,
        *GoalStateScorer.metrics,
        *FactsScorer.metrics,
        *ForbiddenClaimsScorer.metrics,
        *BannedWordsScorer.metrics,
        *LocaleScorer.metrics,
        *RuleTraceScorer.metrics,
        *UsageScorer.metrics,
    )
    return MappingProxyType({spec.name: spec for spec in specs})


def default_scorers(
    cases: Iterable[Case], *, judge: Judge | StatementJudge | None = None
) -> tuple[Scorer, ...]:
    """Choose the scorers that a suite needs.

    Parameters
    ----------
    cases : iterable of Case
        The suite.
    judge : Judge or callable, optional
        For statements with ``match: judge``; a `neverempty.judge.Judge` also holds answers against the rule
        traces of ``expect.items``.

    Returns
    -------
    tuple of Scorer
        The failure family, empty_payload and usage always; the others where any case expects what they check.

    Examples
    --------
    >>> [scorer.name for scorer in default_scorers([Case(id="a", input={"payload": 1})])]
    ['failure', 'empty_payload', 'usage']
    """
    expectations = [case.expect for case in cases]
    reader, by_rules = _readers(judge)
    scorers: list[Scorer] = [FailureScorer(), EmptyPayloadScorer()]
    if any(expect.route is not None for expect in expectations):
        scorers.append(RouteScorer())
    if any(CRITERIA in expect.custom for expect in expectations):
        scorers.append(CriteriaScorer())
    called = [expect.tool_calls for expect in expectations if expect.tool_calls is not None]
    if called:
        scorers.append(ToolCallsScorer())
    if any(call.args for calls in called for call in calls.calls):
        scorers.append(ArgumentsScorer())
    if any(expect.forbidden_tools for expect in expectations):
        scorers.append(ForbiddenToolsScorer())
    if any(expect.facts for expect in expectations):
        scorers.append(FactsScorer(reader))
    if any(expect.forbidden_claims for expect in expectations):
        scorers.append(ForbiddenClaimsScorer(reader))
    if any(expect.items for expect in expectations):
        scorers.extend(by_rules)
    scorers.append(UsageScorer())
    return tuple(scorers)


def _readers(judge: Judge | StatementJudge | None) -> tuple[StatementJudge | None, list[Scorer]]:
    """Make of a judge what reads statements, and what reads reasons."""
    if judge is None:
        return None, []
    from neverempty.judge import Judge as ModelJudge
    from neverempty.judge import StatementReader

    if isinstance(judge, ModelJudge):
        return StatementReader(judge), [RuleTraceScorer(judge)]
    return judge, []
