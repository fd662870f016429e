"""Metrics: repeats collapse into outcomes, outcomes are summarised with intervals."""

from neverempty.metrics.collapsing import collapse
from neverempty.metrics.confidence import confidence_pairs, stated_confidence
from neverempty.metrics.honesty import HAPPENED, SAID, honesty_table
from neverempty.metrics.passing import pass_rates
from neverempty.metrics.reading_error import correct_for_reading
from neverempty.metrics.summary import summarize

__all__ = [
    "HAPPENED",
    "SAID",
    "collapse",
    "confidence_pairs",
    "correct_for_reading",
    "honesty_table",
    "pass_rates",
    "stated_confidence",
    "summarize",
]
