"""The vocabulary of faults: kind (what went wrong), presentation (how it reaches the model), and timing."""

from neverempty.faults.degrade import degrade
from neverempty.faults.kinds import KINDS, PRESENTATIONS, FaultKind, KindInfo, Presentation
from neverempty.faults.plan import FaultPlan, seed_of
from neverempty.faults.present import (
    FlaggedText,
    HTTPStatusError,
    Presented,
    ShownErr,
    ShownOk,
    exception_of,
    fault_table,
    present,
)
from neverempty.faults.spec import Arm, ArmedFault, FaultSpec

__all__ = [
    "KINDS",
    "PRESENTATIONS",
    "Arm",
    "ArmedFault",
    "FaultKind",
    "FaultPlan",
    "FaultSpec",
    "FlaggedText",
    "HTTPStatusError",
    "KindInfo",
    "Presentation",
    "Presented",
    "ShownErr",
    "ShownOk",
    "degrade",
    "exception_of",
    "fault_table",
    "present",
    "seed_of",
]
