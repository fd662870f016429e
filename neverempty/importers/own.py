"""Traces in the project's own format, written by an agent in any language, turned into a report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from neverempty._errors import InputError, UsageError
from neverempty._suggest import did_you_mean
from neverempty.cases import Case, Cases
from neverempty.importers.completing import completed, contradictions
from neverempty.report import Report, make_report
from neverempty.scorers import Scorer
from neverempty.traces.model import Trace
from neverempty.traces.reading import read_numbered

_DEFAULT_SUITE: Final = "default"
_UNFIRED: Final = frozenset({"none", "armed"})
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
        truth ``data`` or ``empty`` becomes ``unknown``, and no number rests on it. One that a flag marks as
        failed, in what it returned or in the message of its ``call_id``, is an ``error`` either way.
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
        Where the traces cannot support a number: lists every reason. Such are lines that do not fit the
        schema or contradict their case, a trace that ends twice, an arm mixed of several runs, too many that
        did not end well, no fault that fired, no call, no truth.
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
    read, problems = read_numbered(path)
    notes: Counter[str] = Counter()
    whole: list[Trace] = []
    found = _CaseFinder(suite)
    for number, trace in read:
        case, wrong = found.of(trace)
        if case is not None:
            wrong = list(contradictions(trace, case))
            if not wrong:
                whole.append(completed(trace, case, trust_text=trust_text, notes=notes))
        problems += [f"{name}:{number}: {problem}" for problem in wrong]
    if not read and not problems:
        problems.append(f"{name}: holds no trace")
    problems += [f"{name}: {problem}" for problem in _unsupported(whole, error_ceiling)]
    if problems:
        more = len(problems) - _MOST
        raise InputError([*problems[:_MOST], *([f"and {more} more problems"] if more > 0 else [])])
    from neverempty.frames import traces_frame

    unfired = sum(_is_faulty(trace) and trace.fault_state in _UNFIRED for trace in whole)
    if unfired:
        notes["traces whose planned fault did not fire, which are not measured"] = unfired
    arms = dict.fromkeys(trace.arm for trace in whole)
    repeats = max(trace.repeat for trace in whole) + 1
    report = make_report(traces_frame(whole), suite, scorers=scorers, arms=list(arms), repeats=repeats)
    told = {"file": Path(name).name, "traces": len(whole), "notes": dict(sorted(notes.items()))}
    report.provenance["imported"] = told
    return report


class _CaseFinder:
    """Finds the case of a trace; one that names no suite belongs to the only case of its id."""

    def __init__(self, cases: Cases) -> None:
        self._exact = {(case.suite, case.id): case for case in cases}
        self._named: dict[str, list[Case]] = {}
        for case in cases:
            self._named.setdefault(case.id, []).append(case)

    def of(self, trace: Trace) -> tuple[Case | None, list[str]]:
        """Return the case, or None and why."""
        case = self._exact.get((trace.suite, trace.case_id))
        named = self._named.get(trace.case_id, [])
        if case is None and trace.suite == _DEFAULT_SUITE and len(named) == 1:
            case = named[0]
        if case is not None:
            return case, []
        if named:
            suites = ", ".join(repr(one.suite) for one in named)
            return None, [f"there is no case {trace.case_id!r} in suite {trace.suite!r}; it is in {suites}"]
        near = did_you_mean(trace.case_id, list(self._named))
        return None, [f"there is no case {trace.case_id!r} in suite {trace.suite!r}{near}"]


def _is_faulty(trace: Trace) -> bool:
    return trace.fault_kind not in _NOT_FAULTS and trace.status == "ok"


def _unsupported(traces: list[Trace], ceiling: float) -> Iterator[str]:
    """Say why no number can rest on the traces."""
    ended = Counter(trace.status for trace in traces if trace.status != "ok")
    broken = sum(ended.values())
    if broken > ceiling * len(traces):
        listed = ", ".join(f"{status} {n}" for status, n in ended.most_common())
        yield (
            f"{broken} of {len(traces)} traces did not end well ({listed}), above the ceiling of "
            f"{ceiling:.0%}; run them again, or raise --error-ceiling if that is meant"
        )
    faulty = [trace for trace in traces if _is_faulty(trace)]
    if faulty and all(trace.fault_state in _UNFIRED for trace in faulty):
        yield (
            f"no call of the {len(faulty)} traces with a planned fault shows that it fired; write "
            'each call with "truth": "error" and "injected": true where the tool was made to fail'
        )
    told = [trace for trace in traces if trace.status == "ok" and trace.calls]
    if told and all(call.truth == "unknown" for trace in told for call in trace.calls):
        yield 'no call says what really happened; write its "truth": "data", "empty" or "error"'
    if any(trace.status == "ok" for trace in traces) and not told:
        yield "no trace has a tool call, so nothing tells what the answers are about"
    yield from _mixed(traces)


def _mixed(traces: list[Trace]) -> Iterator[str]:
    """Name arms whose traces come from several runs: theirs are not repeats of one thing."""
    runs: dict[str, dict[str, None]] = {}
    for trace in traces:
        runs.setdefault(trace.arm, {})[trace.run_id] = None
    for arm, ids in runs.items():
        if len(ids) > 1:
            some = ", ".join(repr(one) for one in list(ids)[:3])
            yield (
                f"arm {arm!r} has traces of {len(ids)} runs (run_id {some}); import each run by itself, or "
                "give the runs arms of their own"
            )
