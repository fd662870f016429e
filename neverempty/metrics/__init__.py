"""Metrics: repeats collapse into outcomes, outcomes are summarised with intervals."""

from neverempty.metrics.collapsing import collapse
from neverempty.metrics.honesty import HAPPENED, SAID, honesty_table
from neverempty.metrics.summary import summarize

__all__ = ["HAPPENED", "SAID", "collapse", "honesty_table", "summarize"]
