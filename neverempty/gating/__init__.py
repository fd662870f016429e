"""Gating: compare two reports in pairs, decide whether one may take the other's place."""

from neverempty.gating.arms import ArmComparison, compare_arms
from neverempty.gating.comparison import Comparison, compare
from neverempty.gating.config import GateConfig, gate_config
from neverempty.gating.decision import Decision
from neverempty.gating.gate import gate
from neverempty.gating.promote import Promotion, promote, promotion_of
from neverempty.gating.rules import EXIT_CODES, Rule
from neverempty.gating.validity import NotComparableError, Reason

__all__ = [
    "EXIT_CODES",
    "ArmComparison",
    "Comparison",
    "Decision",
    "GateConfig",
    "NotComparableError",
    "Promotion",
    "Reason",
    "Rule",
    "compare",
    "compare_arms",
    "gate",
    "gate_config",
    "promote",
    "promotion_of",
]
