"""Metrics: repeats collapse into outcomes, outcomes are summarised with intervals."""

from neverempty.metrics.collapsing import collapse
from neverempty.metrics.honesty import HAPPENED, SAID, honesty_table
from neverempty.metrics.reading_error import correct_for_reading
from neverempty.metrics.summary import summarize

__all__ = ["HAPPENED", "SAID", "collapse", "correct_for_reading", "honesty_table", "summarize"]
