"""Reading answers: which spans of a text claim absence, disclose a failure, report data."""

from __future__ import annotations

from neverempty.claims.reading import Reading, Span, read_answer

__all__ = ["Reading", "Span", "read_answer"]
