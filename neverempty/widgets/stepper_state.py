"""Stepping through fault cases without widgets: which case is shown, and all that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neverempty._errors import UsageError
from neverempty._suggest import did_you_mean
from neverempty.widgets.label_events import LabelEvent, LabelKey
from neverempty.widgets.label_store import LabelStore
from neverempty.widgets.overrules import FIRST, labels_for, overrule_key

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.report import Report

FILTERS: Final = ("label", "fault", "tool", "language", "disagreement")
ALL: Final = "all"
NEXT, PREVIOUS, CLEAR = "n", "p", "c"
_RANK: Final = ("misreport", "fabricated", "ignored", "no signal", "reported")
_KEYS: Final = ["suite", "case_id"]


class Repeat(NamedTuple):
    """One repeat of the case that is shown.

    Parameters
    ----------
    arm : str
        The arm.
    repeat : int
        Its number.
    label : str
        What was found, a person's overruling before the rules.
    truth : str
        What happened; empty where nobody knows.
    trace : dict
        The row of the traces frame.
    scores : list of dict
        The rows of the scores frame that apply.
    overruled : str
        By whom and why, everyone who did; empty where nobody did.
    """

    arm: str
    repeat: int
    label: str
    truth: str
    trace: dict[str, Any]
    scores: list[dict[str, Any]]
    overruled: str


class StepperState:
    """The fault cases of a report, one at a time.

    Parameters
    ----------
    report : Report
        The report.
    store : LabelStore, optional
        Where overrules go; without it nothing can be overruled.
    annotator : str, optional
        Who overrules.
    readings : DataFrame, optional
        From `neverempty.judge.second_reading`, for the filter of disagreements.

    Raises
    ------
    UsageError
        Where the report has no case with a planned fault.

    Examples
    --------
    >>> import neverempty as ne
    >>> fault = {"tool": "t", "kind": "timeout"}
    >>> case = ne.Case(id="a", input={"payload": 1}, language="en", faults=[fault])
    >>> call = ne.ToolCall(0, "t", {}, "error", kind="timeout", injected=True, state="seen")
    >>> trace = ne.Trace("default", "a", "typed", 0, answer="No trams.", calls=[call], fault_kind="timeout",
    ...     fault_state="seen")
    >>> state = StepperState(ne.make_report(ne.traces_frame([trace]), [case]))
    >>> state.place, [one.label for one in state.repeats]
    ('1 of 1: default/a', ['misreport'])
    """

    def __init__(
        self,
        report: Report,
        store: LabelStore | None = None,
        annotator: str = "",
        readings: pd.DataFrame | None = None,
    ) -> None:
        if store is not None and not annotator:
            raise UsageError("annotator is empty; name who overrules")
        self.store = store
        self.annotator = annotator
        self.message = ""
        self.chosen = dict.fromkeys(FILTERS, ALL)
        self._traces, self._scores = report.traces, report.scores
        self._cases = _listed(self._traces, self._scores, readings)
        if not self._cases:
            raise UsageError(
                "the report has no case with a planned fault, so there is nothing to step through"
            )
        self.has_readings = readings is not None
        self._rows = _positions(self._traces)
        self._score_rows = _positions(self._scores)
        self._at = 0

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The cases that pass the filters, the worst first."""
        return [case for case in self._cases if all(self._passes(case, name) for name in FILTERS)]

    def _passes(self, case: dict[str, Any], name: str) -> bool:
        wanted = self.chosen[name]
        return wanted == ALL or wanted in case[name]

    def options(self, name: str) -> list[str]:
        """List what a filter can be set to.

        Parameters
        ----------
        name : str
            One of `FILTERS`.

        Returns
        -------
        list of str
            ``all`` first; nothing else where the report does not know it.
        """
        return [ALL, *sorted({value for case in self._cases for value in case[name]})]

    @property
    def current(self) -> dict[str, Any] | None:
        """The case that is shown; None where no case passes the filters."""
        shown = self.shown
        return shown[min(self._at, len(shown) - 1)] if shown else None

    @property
    def place(self) -> str:
        """Which of how many cases is shown."""
        case, shown = self.current, self.shown
        if case is None:
            return f"no case of {len(self._cases)} passes the filters"
        at = min(self._at, len(shown) - 1) + 1
        of = len(shown) if len(shown) == len(self._cases) else f"{len(shown)} (of {len(self._cases)})"
        return f"{at} of {of}: {case['suite']}/{case['case_id']}"

    @property
    def repeats(self) -> list[Repeat]:
        """Every repeat of the present case, arm by arm."""
        case = self.current
        if case is None:
            return []
        place = (case["suite"], case["case_id"])
        traces = self._traces.iloc[self._rows[place]].to_dict("records")
        scores: dict[tuple[str, int], list[dict[Any, Any]]] = {}
        for row in self._scores.iloc[self._score_rows.get(place, [])].to_dict("records"):
            scores.setdefault((str(row["arm"]), int(row["repeat"])), []).append(row)
        made = [self._repeat(trace, scores.get((trace["arm"], trace["repeat"]), [])) for trace in traces]
        return sorted(made, key=lambda one: (one.arm, one.repeat))

    def _repeat(self, trace: dict[Any, Any], scores: list[dict[Any, Any]]) -> Repeat:
        first = next((row for row in scores if row["metric"] == FIRST), {})
        evidence = first.get("evidence")
        truth = str(evidence.get("truth", "")) if isinstance(evidence, dict) else ""
        label = _label(first)
        overruled = ""
        if self.store is not None:
            said = self._overrules_of(overrule_key(trace))
            if said:
                label = str(said[-1].label)
                overruled = "; ".join(f"{one.annotator}: {one.label}, {one.reason}" for one in said)
        kept = [row for row in scores if row["verdict"] != "not_applicable"]
        return Repeat(str(trace["arm"]), int(trace["repeat"]), label, truth, trace, kept, overruled)

    def _overrules_of(self, key: LabelKey) -> list[LabelEvent]:
        """List what stands of an answer, the last of each person, the latest at the end."""
        last: dict[str, LabelEvent] = {}
        if self.store is None:
            return []
        for one in self.store.events():
            if one.key == key and one.action == "overrule" and self.store.is_standing(one):
                last.pop(one.annotator, None)  # who spoke last comes last
                last[one.annotator] = one
        return list(last.values())

    def step(self, by: int) -> None:
        """Go on, or back; at an end it stays there and says so.

        Parameters
        ----------
        by : int
            How many cases.
        """
        last = max(len(self.shown) - 1, 0)
        wanted = min(self._at, last) + by
        edge = "this is the last case" if by > 0 else "this is the first case"
        self.message = "" if 0 <= wanted <= last else edge
        self._at = min(max(wanted, 0), last)

    def goto(self, name: str) -> None:
        """Go to a case by its id or its number.

        Parameters
        ----------
        name : str
            The id, or the place among the shown ones, from 1.

        Raises
        ------
        UsageError
            Where there is none.
        """
        ids = [case["case_id"] for case in self.shown]
        if name in ids:
            self._at = ids.index(name)
        elif name.isdecimal() and 1 <= int(name) <= len(ids):
            self._at = int(name) - 1
        else:
            raise UsageError(f"no shown case is called {name!r}{did_you_mean(name, ids)}")
        self.message = ""

    def filter(self, name: str, value: str) -> None:
        """Show only the cases that have a value.

        Parameters
        ----------
        name : str
            One of `FILTERS`.
        value : str
            One of its `options`.

        Raises
        ------
        UsageError
            For another filter or value.
        """
        if name not in FILTERS:
            raise UsageError(f"there is no filter {name!r}{did_you_mean(name, FILTERS)}")
        options = self.options(name)
        if value not in options:
            raise UsageError(f"no case has the {name} {value!r}{did_you_mean(value, options)}")
        self.chosen[name] = value
        self._at, self.message = 0, ""

    def overrule(self, arm: str, repeat: int, label: str, reason: str) -> None:
        """Overrule the label of one repeat; it is on disk when this returns.

        Parameters
        ----------
        arm : str
            The arm.
        repeat : int
            The repeat.
        label : str
            The right label, one of those that what happened allows.
        reason : str
            Why.

        Raises
        ------
        UsageError
            Without a store, a reason, such a repeat, or for a label that does not fit.
        """
        if self.store is None:
            raise UsageError("there is no store to keep an overruling in; give store= and annotator=")
        found = [one for one in self.repeats if (one.arm, one.repeat) == (arm, repeat)]
        if not found:
            raise UsageError(f"the case that is shown has no repeat {repeat} under the arm {arm!r}")
        one = found[0]
        if one.truth not in ("error", "empty", "data"):
            raise UsageError("nobody knows what happened in this repeat, so it has no label to overrule")
        allowed = labels_for(one.truth)
        if label not in allowed:
            raise UsageError(f"after {one.truth} the label is one of {', '.join(allowed)}, not {label!r}")
        if not reason.strip():
            raise UsageError("say why the label is overruled")
        language = one.trace["language"]
        self.store.record(
            "overrule",
            self.annotator,
            overrule_key(one.trace),
            label=label,
            reason=reason.strip(),
            was=one.label,
            language=language if isinstance(language, str) else None,
        )
        self.message = f"overruled: {one.label} is {label}"

    def take_back(self, arm: str, repeat: int) -> None:
        """Take one's own overruling of a repeat back, or else the latest; both stay in the file.

        Parameters
        ----------
        arm : str
            The arm.
        repeat : int
            The repeat.

        Raises
        ------
        UsageError
            Where it was not overruled.
        """
        found = [one for one in self.repeats if (one.arm, one.repeat) == (arm, repeat) and one.overruled]
        said = self._overrules_of(overrule_key(found[0].trace)) if found else []
        if not said or self.store is None:
            raise UsageError(f"repeat {repeat} under the arm {arm!r} was not overruled")
        taken = next((one for one in said if one.annotator == self.annotator), said[-1])
        self.store.record("undo", taken.annotator, taken.key, of=taken.id)
        self.message = "taken back"

    def press(self, keys: str) -> None:
        """Do what keys mean: ``n`` next, ``p`` previous, ``c`` clear the filters.

        Parameters
        ----------
        keys : str
            What was typed.
        """
        for key in keys.lower():
            if key in (NEXT, PREVIOUS):
                self.step(1 if key == NEXT else -1)
            elif key == CLEAR:
                self.chosen = dict.fromkeys(FILTERS, ALL)
                self._at, self.message = 0, "every fault case is shown"
            elif not key.isspace():
                self.message = f"the key {key!r} means nothing"


def _positions(frame: pd.DataFrame) -> dict[tuple[Any, ...], list[int]]:
    found: dict[tuple[Any, ...], list[int]] = {}
    for at, place in enumerate(zip(*(frame[name].tolist() for name in _KEYS), strict=True)):
        found.setdefault(place, []).append(at)
    return found


def _listed(
    traces: pd.DataFrame, scores: pd.DataFrame, readings: pd.DataFrame | None
) -> list[dict[str, Any]]:
    """List the fault cases with what they can be filtered by, the worst first."""
    cases: dict[tuple[Any, ...], dict[str, Any]] = {}
    columns = ["suite", "case_id", "fault_kind", "language", "calls"]
    for suite, case_id, kind, language, calls in traces[columns].itertuples(index=False, name=None):
        if kind in ("none", "empty"):
            continue
        case = cases.setdefault((suite, case_id), _blank(suite, case_id))
        case["fault"].update(kind.split("+"))
        case["tool"].update(call.tool for call in calls or () if call.injected)
        if isinstance(language, str):
            case["language"].add(language)
    first = scores[scores["metric"] == FIRST]
    for row in first[["suite", "case_id", "label", "verdict"]].to_dict("records"):
        if (row["suite"], row["case_id"]) in cases and row["verdict"] != "not_applicable":
            cases[row["suite"], row["case_id"]]["label"].add(_label(row))
    if readings is not None:
        for row in readings[["suite", "case_id", "agree"]].to_dict("records"):
            if (row["suite"], row["case_id"]) in cases:
                cases[row["suite"], row["case_id"]]["disagreement"].add(f"rules and judge: {row['agree']}")
    return sorted(cases.values(), key=lambda case: min(map(_rank, case["label"]), default=len(_RANK)))


def _blank(suite: str, case_id: str) -> dict[str, Any]:
    return {"suite": suite, "case_id": case_id, **{name: set() for name in FILTERS}}


def _label(row: dict[Any, Any]) -> str:
    if row.get("verdict") == "no_signal":
        return "no signal"
    label = row.get("label")
    return label if isinstance(label, str) else ""


def _rank(label: str) -> int:
    return _RANK.index(label) if label in _RANK else len(_RANK)
