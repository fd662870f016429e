"""Cases: what an agent is asked, which faults its tools meet, and what is expected of it."""

from neverempty.cases.collection import Cases
from neverempty.cases.coverage import coverage
from neverempty.cases.expect import (
    Expect,
    ExpectedArg,
    ExpectedCall,
    ExpectedCalls,
    ExpectedRoute,
    Item,
    Statement,
)
from neverempty.cases.loading import load_cases, validate_file
from neverempty.cases.model import Case, CaseInput, Message
from neverempty.cases.patterns import compile_pattern, find_pattern

__all__ = [
    "Case",
    "CaseInput",
    "Cases",
    "Expect",
    "ExpectedArg",
    "ExpectedCall",
    "ExpectedCalls",
    "ExpectedRoute",
    "Item",
    "Message",
    "Statement",
    "compile_pattern",
    "coverage",
    "find_pattern",
    "load_cases",
    "validate_file",
]
