"""Traces in the project's own format, written by an agent in any language, turned into a report."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError, loads_strict
from neverempty._suggest import did_you_mean
from neverempty.cases import Case, Cases
from neverempty.integrations._envelope import read_envelope
from neverempty.report import Report, make_report
from neverempty.scorers import Scorer
from neverempty.traces.model import ToolCall, Trace
from neverempty.traces.reading import read_numbered

_DEFAULT_SUITE: Final = "default"
_STATES: Final = ("none", "armed", "fired", "seen")
_NOT_FAULTS: Final = frozenset({"none", "empty"})
_MOST: Final = 20


def import_traces(
    path: str | os.PathLike[str],
    cases: Iterable[Case],
    *,
    error_ceiling: float = 0.10,
    trust_text: bool = False,
    scorers: Sequence[Scorer] | None = None,
) -> Report:
    """Check and score traces that an agent of another kind has written.

    Each trace is completed from its case: split, language, tags, planned faults. What really happened at a
    tool must stand in the trace: ``truth`` of each call, ``injected`` where the harness made it fail. It is
    never inferred from the answer.

    Parameters
    ----------
    path : path-like
        A JSONL file that fits the shipped schema (``neverempty/schemas/trace.schema.json``).
    cases : iterable of Case
        The cases that were run.
    error_ceiling : float, default 0.10
        The largest share of traces that may have ended otherwise than ``ok``.
    trust_text : bool, default False
        Take a tool result whose text alone tells of a failure for a failed call. Otherwise such a call of
        truth ``data`` becomes ``unknown``, and no number rests on it.
    scorers : sequence of Scorer, optional
        As for `score`.

    Returns
    -------
    Report
        Its provenance says under ``imported`` what was completed, what was doubtful, and how many results
        told of a failure in their text alone.

    Raises
    ------
    InputError
        Where the traces cannot support a number: lists every reason.
    UsageError
        For a ceiling outside 0 to 1.

    Examples
    --------
    >>> import json, tempfile
    >>> case = Case(id="a", input={"payload": "Any jobs?"}, faults=[{"tool": "search", "kind": "timeout"}])
    >>> call = {"tool": "search", "args": {}, "truth": "error", "kind": "timeout", "injected": True}
    >>> file = Path(tempfile.mkdtemp()) / "traces.jsonl"
    >>> line = {"case_id": "a", "answer": "There are no jobs.", "language": "en", "calls": [call]}
    >>> _ = file.write_text(json.dumps(line), encoding="utf-8")
    >>> report = import_traces(file, [case])
    >>> report.scores.loc[report.scores["metric"] == "misreport_as_empty", "label"].tolist()
    ['misreport']
    """
    if isinstance(error_ceiling, bool) or not 0 <= error_ceiling <= 1:
        raise UsageError(f"error_ceiling is {error_ceiling!r}; give a share from 0 to 1")
    suite = cases if isinstance(cases, Cases) else Cases(cases)
    name = os.fspath(path)
    traces = read_numbered(path)
    problems: list[str] = []
    notes: Counter[str] = Counter()
    whole = [
        trace
        for number, one in traces
        if (trace := _completed(one, suite, f"{name}:{number}", trust_text, notes, problems))
    ]
    problems += _unsupported(name, whole, len(traces), error_ceiling)
    if problems:
        more = len(problems) - _MOST
        raise InputError([*problems[:_MOST], *([f"and {more} more problems"] if more > 0 else [])])
    from neverempty.frames import traces_frame

    arms = dict.fromkeys(trace.arm for trace in whole)
    repeats = max(trace.repeat for trace in whole) + 1
    report = make_report(traces_frame(whole), suite, scorers=scorers, arms=list(arms), repeats=repeats)
    told = {"file": Path(name).name, "traces": len(whole), "notes": dict(sorted(notes.items()))}
    report.provenance["imported"] = told
    return report


def _completed(
    trace: Trace, cases: Cases, where: str, trust_text: bool, notes: Counter[str], problems: list[str]
) -> Trace | None:
    """Fill in what the case knows; None, with its problem, for a trace that belongs to no case."""
    case = _case_of(trace, cases)
    if case is None:
        known = [one.id for one in cases]
        problems.append(
            f"{where}: there is no case {trace.case_id!r} in suite {trace.suite!r}"
            f"{did_you_mean(trace.case_id, known)}"
        )
        return None
    planned = "+".join(fault.kind for fault in case.faults) or "none"
    if trace.fault_kind not in ("none", planned):
        problems.append(
            f"{where}: case {case.id!r} plans the fault {planned!r}, the trace names {trace.fault_kind!r}"
        )
        return None
    calls = [_doubted(call, trust_text, notes) for call in trace.calls]
    for field in ("split", "language"):
        if getattr(trace, field) is None and getattr(case, field) is not None:
            notes[f"{field} taken from the case"] += 1
    return dataclasses.replace(
        trace,
        suite=case.suite,
        split=trace.split or case.split,
        language=trace.language or case.language,
        tags=trace.tags or tuple(case.tags),
        must_pass=trace.must_pass or case.must_pass,
        fault_kind=planned,
        fault_state=_furthest([trace.fault_state, *map(_state_of, calls)]),
        calls=calls,
    )


def _case_of(trace: Trace, cases: Cases) -> Case | None:
    """Find the case; a trace that names no suite belongs to the only case of its id."""
    named = [case for case in cases if case.id == trace.case_id]
    exact = [case for case in named if case.suite == trace.suite]
    if exact:
        return exact[0]
    return named[0] if trace.suite == _DEFAULT_SUITE and len(named) == 1 else None


def _doubted(call: ToolCall, trust_text: bool, notes: Counter[str]) -> ToolCall:
    """Take the truth back where a call is said to have worked and its result tells of a failure."""
    if call.truth != "data" or call.injected or call.returned is None:
        return call
    found = read_envelope(_parsed(call.returned), trust_text=trust_text)
    if found.outcome not in ("error", "unknown"):
        return call
    notes["results that tell of a failure in their text alone"] += 1
    return dataclasses.replace(call, truth=found.outcome)


def _parsed(returned: str) -> Any:
    """Read a result that is a JSON object: it may be a protocol's message, with flags of its own."""
    try:
        body = loads_strict(returned)
    except JsonError:
        return returned
    return body if isinstance(body, dict) else returned


def _state_of(call: ToolCall) -> str:
    return "fired" if call.injected and call.state in ("none", "armed") else call.state


def _furthest(states: Iterable[str]) -> Any:
    return max(states, key=_STATES.index)


def _unsupported(name: str, traces: list[Trace], n_read: int, ceiling: float) -> Iterator[str]:
    """Say why no number can rest on the traces."""
    if not n_read:
        yield f"{name}: holds no trace"
    if not traces:
        return
    ended = Counter(trace.status for trace in traces if trace.status != "ok")
    broken = sum(ended.values())
    if broken > ceiling * len(traces):
        listed = ", ".join(f"{status} {n}" for status, n in ended.most_common())
        yield (
            f"{name}: {broken} of {len(traces)} traces did not end well ({listed}), above the ceiling of "
            f"{ceiling:.0%}; run them again, or raise --error-ceiling if that is meant"
        )
    faulty = [trace for trace in traces if trace.fault_kind not in _NOT_FAULTS and trace.status == "ok"]
    if faulty and all(trace.fault_state in ("none", "armed") for trace in faulty):
        yield (
            f"{name}: no call of the {len(faulty)} traces with a planned fault shows that it fired; write "
            'each call with "truth": "error" and "injected": true where the tool was made to fail'
        )
    told = [trace for trace in traces if trace.status == "ok" and trace.calls]
    if told and all(call.truth == "unknown" for trace in told for call in trace.calls):
        yield (f'{name}: no call says what really happened; write its "truth": "data", "empty" or "error"')
    if any(trace.status == "ok" for trace in traces) and not told:
        yield f"{name}: no trace has a tool call, so nothing tells what the answers are about"
