"""Reading answers: which spans of a text claim absence, disclose a failure, report data.

The rules of each language stand in a file of its own under ``rules/``, with the examples that test them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neverempty.claims.explain import explain
from neverempty.claims.reading import Reading, Span, read_answer
from neverempty.claims.rulebook import LANGUAGES

if TYPE_CHECKING:
    from neverempty.reader import evaluate as evaluate

    PATTERNS_VERSION: str

__all__ = ["LANGUAGES", "PATTERNS_VERSION", "Reading", "Span", "evaluate", "explain", "read_answer"]


def __getattr__(name: str) -> Any:
    """Load what reads every rule file, or other rooms of the package, on first use only."""
    if name == "PATTERNS_VERSION":
        from neverempty.claims.rulebook import patterns_version

        return patterns_version()
    if name == "evaluate":
        from neverempty.reader import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
