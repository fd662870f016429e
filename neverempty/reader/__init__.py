"""How often the answer reader is wrong: on labelled answers, and as measured for its rules."""

from neverempty.reader.evaluation import (
    FLAGS,
    Evaluation,
    FlagScore,
    WrongRow,
    evaluate,
    load_answers,
)
from neverempty.reader.fabrication import FABRICATION_FILE, FabricationError, measured_fabrication
from neverempty.reader.measured import HEADLINE_TRUTHS, ReaderError, count_errors, measured_error

__all__ = [
    "FABRICATION_FILE",
    "FLAGS",
    "HEADLINE_TRUTHS",
    "Evaluation",
    "FabricationError",
    "FlagScore",
    "ReaderError",
    "WrongRow",
    "count_errors",
    "evaluate",
    "load_answers",
    "measured_error",
    "measured_fabrication",
]
