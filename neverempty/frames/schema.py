"""The contract of each frame: which columns it has, of which dtype, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, get_args

from neverempty.traces.model import FaultState, TraceStatus, Truth

Kind = Literal["str", "category", "int", "Int", "float", "bool", "datetime", "object"]
FrameName = Literal["traces", "calls", "scores", "outcomes", "metrics"]

VERDICTS = ("pass", "fail", "no_signal", "not_applicable")
DIRECTIONS = ("lower", "higher")
COLLAPSES = ("majority", "any_hit", "median")
DTYPES: Mapping[Kind, str] = MappingProxyType(
    {
        "str": "str",
        "category": "category",
        "int": "int64",
        "Int": "Int64",
        "float": "float64",
        "bool": "bool",
        "datetime": "datetime64[us, UTC]",
        "object": "object",
    }
)
"""The pandas dtype of each kind of column. ``Int`` may be missing, ``int`` may not."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a frame.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        Key of `DTYPES`.
    meaning : str
        What a value says, with its unit.
    nullable : bool
        False where every row must have a value.
    required : bool
        False where a frame without the column is still complete.
    categories : tuple of str
        The only values of a closed categorical; empty for an open one.
    lo, hi : float, optional
        Least and greatest value of a number.
    """

    name: str
    kind: Kind
    meaning: str
    nullable: bool = True
    required: bool = True
    categories: tuple[str, ...] = ()
    lo: float | None = None
    hi: float | None = None

    @property
    def dtype(self) -> str:
        """Name of the pandas dtype."""
        return DTYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one frame and the ones that name a row.

    Parameters
    ----------
    name : str
        ``"traces"``, ``"calls"``, ``"scores"``, ``"outcomes"`` or ``"metrics"``.
    keys : tuple of str
        Columns whose values together occur once.
    columns : tuple of Column
        All columns, in the order of the frame.
    """

    name: FrameName
    keys: tuple[str, ...]
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Return the column of that name; KeyError where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def describe(self) -> str:
        """Write the contract as a Markdown table."""
        lines = ["| column | dtype | meaning |", "|---|---|---|"]
        lines += [f"| {column.name} | {column.dtype} | {column.meaning} |" for column in self.columns]
        return "\n".join(lines)


def _text(name: str, meaning: str, *, nullable: bool = True, required: bool = True) -> Column:
    return Column(name, "str", meaning, nullable, required)


def _choice(name: str, meaning: str, categories: tuple[str, ...], *, nullable: bool = False) -> Column:
    return Column(name, "category", meaning, nullable, categories=categories)


def _number(name: str, meaning: str, *, required: bool = True, lo: float | None = None) -> Column:
    return Column(name, "float", meaning, required=required, lo=lo)


def _count(name: str, meaning: str) -> Column:
    return Column(name, "int", meaning, nullable=False, lo=0)


def _any(name: str, meaning: str, *, nullable: bool = False) -> Column:
    return Column(name, "object", meaning, nullable)


_KEYS = (
    _text("suite", "suite of the case", nullable=False),
    _text("case_id", "id of the case within its suite", nullable=False),
    _text("arm", "name of the arm", nullable=False),
)
_REPEAT = _count("repeat", "number of the repeat, from 0")
_FLAG = Column("must_pass", "bool", "True where a failure of this case alone fails a gate", nullable=False)
_GROUPS = (
    _text("split", "dev or test"),
    _text("language", "language of the case"),
    _any("tags", "tuple of the case's tags"),
    _FLAG,
)
_VERSIONS = (
    _text("pattern_version", "version of the rules that read the answers", required=False),
    _text("resolved_model", "model that answered, as the provider named it", required=False),
    _text("split_hash", "hash of the frozen split that the cases come from", required=False),
    _text("run_id", "run that made the row", required=False),
)

_FAULT = (
    _text("fault_kind", "planned fault kinds joined by '+'", nullable=False),
    _text("fault_presentation", "how the fault is shown to the model"),
    _text("fault_layer", "where the fault was put"),
)
# what a metric says about itself, so that a frame can be summarised without the scorer that made it
_NATURE = (
    Column("direction", "category", "which way is better", categories=DIRECTIONS, required=False),
    Column("collapse", "category", "how repeats become one outcome", categories=COLLAPSES, required=False),
)

_TRACES = (
    *_KEYS,
    _REPEAT,
    *_GROUPS,
    _choice("status", "how the repeat ended", get_args(TraceStatus)),
    _text("terminal_reason", "why it ended", nullable=False),
    _text("answer", "final answer; NA where there was none"),
    _text("route", "label that the agent chose"),
    _any("structured", "structured output, any JSON value", nullable=True),
    _any("messages", "messages of the conversation, as the agent reported them"),
    _text("fault_kind", "planned fault kinds joined by '+'; 'none' for a control", nullable=False),
    _text("fault_presentation", "how the fault is shown to the model"),
    _text("fault_layer", "where the fault was put"),
    _choice("fault_state", "how far the furthest fault got", get_args(FaultState)),
    _number("duration_ms", "wall time of the repeat, in milliseconds", lo=0),
    Column("input_tokens", "Int", "tokens sent, as reported; NA where unknown", lo=0),
    Column("output_tokens", "Int", "tokens received, as reported; NA where unknown", lo=0),
    _number("cost_usd", "cost in US dollars; NA where unknown", lo=0),
    _text("cost_unknown_reason", "why the cost is not known"),
    _text("error_kind", "kind of the agent's error"),
    _text("error_message", "text of the agent's error"),
    _text("resolved_model", "model that answered, as the provider named it"),
    _text("trace_id", "id of the trace", nullable=False),
    _text("run_id", "run that made the row", nullable=False),
    Column("started_at", "datetime", "when the repeat started"),
    Column("confidence", "float", "the agent's confidence in its answer, 0 to 1", required=False, lo=0, hi=1),
    Column(
        "repeat_of",
        "Int",
        "repeat that this one copies by construction (its replies were replayed); NA for one of its own",
        required=False,
        lo=0,
    ),
    _any("calls", "list of ToolCall, in order; `calls_frame` makes rows of them"),
)
_CALLS = (
    *_KEYS,
    _REPEAT,
    _count("call", "order of the call within its repeat, from 0"),
    _text("tool", "name of the tool", nullable=False),
    _any("args", "arguments by name"),
    _choice("truth", "what really happened", get_args(Truth)),
    _text("returned", "text that the tool layer handed back; NA where it raised"),
    _text("seen", "text that stood before the model; NA where no seam could tell"),
    _text("kind", "fault or error kind; NA for a clean call"),
    Column("injected", "bool", "True where a planned fault fired on this call", nullable=False),
    _text("presentation", "how the fault was shown"),
    _text("layer", "where the fault was put"),
    _choice("state", "how far the fault got", get_args(FaultState)),
    _number("duration_ms", "wall time of the call, in milliseconds", lo=0),
    _text("call_id", "the framework's id of the call"),
    Column("attempts", "int", "how often the tool layer tried", nullable=False, required=False, lo=0),
)
_SCORES = (
    *_KEYS,
    _REPEAT,
    _text("metric", "name of the metric", nullable=False),
    Column("label", "category", "what was found: the datum, from which the verdict follows"),
    _choice("verdict", "what the label means for the metric", VERDICTS),
    _number("value", "number of a continuous metric"),
    _text("reason", "why there is no signal, or a remark"),
    _any("evidence", "what the label rests on, any JSON value", nullable=True),
    _text("scorer_version", "version of the scorer", nullable=False),
    *_VERSIONS,
    *_NATURE,
    *(replace(column, required=False) for column in (*_FAULT, *_GROUPS)),
    Column("repeat_of", "Int", "repeat that this one copies by construction", required=False, lo=0),
)
_OUTCOMES = (
    *_KEYS,
    _text("metric", "name of the metric", nullable=False),
    _choice("verdict", "verdict over the measured repeats", VERDICTS),
    _number("value", "value over the measured repeats"),
    _count("n_repeats", "repeats that were run"),
    _count("n_measured", "repeats with a signal"),
    _count("hits", "measured repeats that count towards the rate"),
    Column("unstable", "bool", "True where the measured repeats disagree", nullable=False),
    _text("reason", "why there is no signal"),
    *_FAULT,
    *_GROUPS,
    _text("scorer_version", "version of the scorer", required=False),
    *_VERSIONS,
    *_NATURE,
)
_METRICS = (
    _text("metric", "name of the metric", nullable=False),
    _text("direction", "'lower' or 'higher': which way is better", nullable=False),
    _count("n_cases", "cases that the metric saw"),
    _count("n_applicable", "cases to which it applies"),
    _count("n_measured", "applicable cases with a signal"),
    _count("n_no_signal", "applicable cases without one"),
    Column("hits", "Int", "cases that count towards the rate; NA for a continuous metric", lo=0),
    _number("value", "rate, or median; NA where nothing was measured"),
    _number("lo", "lower end of the interval"),
    _number("hi", "upper end of the interval"),
    _number("bound_lo", "rate, had every case without signal gone the lower way"),
    _number("bound_hi", "rate, had every case without signal gone the upper way"),
    _number("per_answer", "rate per answer rather than per case"),
    _number("per_answer_lo", "lower end of its interval", required=False),
    _number("per_answer_hi", "upper end of its interval", required=False),
    _text("method", "how the interval was made"),
    _number("unstable_rate", "share of measured cases whose repeats disagree"),
    Column("status", "category", "measured or not", nullable=False),
    _text("note", "what a reader must know"),
)

SCHEMAS: Mapping[FrameName, Schema] = MappingProxyType(
    {
        "traces": Schema("traces", ("suite", "case_id", "arm", "repeat"), _TRACES),
        "calls": Schema("calls", ("suite", "case_id", "arm", "repeat", "call"), _CALLS),
        "scores": Schema("scores", ("suite", "case_id", "arm", "repeat", "metric"), _SCORES),
        "outcomes": Schema("outcomes", ("suite", "case_id", "arm", "metric"), _OUTCOMES),
        # the columns that a summary was grouped by come on top
        "metrics": Schema("metrics", ("metric",), _METRICS),
    }
)
"""The contract of every frame, by its name."""
