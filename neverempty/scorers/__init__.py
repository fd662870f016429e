"""Scorers: one family a file, the protocol for your own, and the way from traces to scores."""

from neverempty.scorers.arguments import ArgumentsScorer
from neverempty.scorers.base import MetricSpec, Score, Scorer, check, no_signal, not_applicable
from neverempty.scorers.contract import ContractPinnedScorer
from neverempty.scorers.criteria import CriteriaScorer, criteria_hash
from neverempty.scorers.empty_payload import EmptyPayloadScorer
from neverempty.scorers.facts import FactsScorer
from neverempty.scorers.failure import FailureScorer
from neverempty.scorers.forbidden_claims import ForbiddenClaimsScorer
from neverempty.scorers.goal_state import GoalStateScorer
from neverempty.scorers.legality import ArgumentsLegalScorer, ToolExistsScorer
from neverempty.scorers.provenance import ProvenanceRule, ProvenanceScorer
from neverempty.scorers.registry import HEADLINES, builtin_metrics, default_scorers
from neverempty.scorers.reply_lint import BannedWordsScorer, LocaleScorer
from neverempty.scorers.route import RouteScorer
from neverempty.scorers.rule_trace import RuleTraceScorer
from neverempty.scorers.scoring import declared_metrics, score
from neverempty.scorers.terminal import TerminalEventScorer
from neverempty.scorers.tool_calls import ForbiddenToolsScorer, ToolCallsScorer
from neverempty.scorers.usage import UsageScorer

__all__ = [
    "HEADLINES",
    "ArgumentsLegalScorer",
    "ArgumentsScorer",
    "BannedWordsScorer",
    "ContractPinnedScorer",
    "CriteriaScorer",
    "EmptyPayloadScorer",
    "FactsScorer",
    "FailureScorer",
    "ForbiddenClaimsScorer",
    "ForbiddenToolsScorer",
    "GoalStateScorer",
    "LocaleScorer",
    "MetricSpec",
    "ProvenanceRule",
    "ProvenanceScorer",
    "RouteScorer",
    "RuleTraceScorer",
    "Score",
    "Scorer",
    "TerminalEventScorer",
    "ToolCallsScorer",
    "ToolExistsScorer",
    "UsageScorer",
    "builtin_metrics",
    "check",
    "criteria_hash",
    "declared_metrics",
    "default_scorers",
    "no_signal",
    "not_applicable",
    "score",
]
