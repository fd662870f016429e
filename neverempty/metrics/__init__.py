"""Metrics: repeats collapse into outcomes, outcomes are summarised with intervals."""

from neverempty.metrics.collapsing import collapse
from neverempty.metrics.summary import summarize

__all__ = ["collapse", "summarize"]
