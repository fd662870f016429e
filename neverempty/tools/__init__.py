"""Tools: functions whose failure cannot be taken for an empty result, and where faults are put into them."""

from neverempty.tools.below import below
from neverempty.tools.making import tool, wrap
from neverempty.tools.options import AmbiguousEmptyError, SideEffectError, UnexpectedEmptyError
from neverempty.tools.tool import Tool

__all__ = [
    "AmbiguousEmptyError",
    "SideEffectError",
    "Tool",
    "UnexpectedEmptyError",
    "below",
    "tool",
    "wrap",
]
