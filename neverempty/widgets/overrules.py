"""Labels that a person overruled, put into the frames."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from neverempty._errors import InputError
from neverempty.frames import SCHEMAS, check_frame
from neverempty.frames.arrays import make_array
from neverempty.scorers.failure import label_of, verdicts_of
from neverempty.widgets.label_events import LabelKey
from neverempty.widgets.label_store import LabelStore

if TYPE_CHECKING:
    import pandas as pd

ITEM: Final = "failure"
"""What is overruled: the label of the failure family, from which its metrics follow."""

MARK: Final = "+overruled"
FIRST: Final = "misreport_as_empty"
"""The metric whose row holds the evidence of the failure family."""
_CLAIMS: Final = ("absence", "failure", "data", "none")


def labels_for(truth: str) -> tuple[str, ...]:
    """List the labels that an answer can have, after what happened.

    Parameters
    ----------
    truth : {"error", "empty", "data"}
        What happened.

    Returns
    -------
    tuple of str
        In the order of the table.

    Examples
    --------
    >>> labels_for("error")
    ('misreport', 'reported', 'fabricated', 'ignored')
    """
    found = [label_of(truth, claim, made_up) for claim in _CLAIMS for made_up in (True, False)]
    return tuple(dict.fromkeys(found))


def overrule_key(trace: dict[Any, Any]) -> LabelKey:
    """Name what an overruling belongs to: one answer of one repeat, so that it never falls on another run's.

    Parameters
    ----------
    trace : dict
        A row of the traces frame.

    Returns
    -------
    LabelKey
        Its item holds a digest of the answer.

    Examples
    --------
    >>> row = {"suite": "default", "case_id": "a", "arm": "typed", "repeat": 0, "answer": "No trams."}
    >>> overrule_key(row).item
    'failure@d1b811ffe447'
    """
    answer = trace.get("answer")
    text = answer if isinstance(answer, str) else ""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return LabelKey(trace["suite"], trace["case_id"], trace["arm"], int(trace["repeat"]), f"{ITEM}@{digest}")


def apply_overrules(scores: pd.DataFrame, traces: pd.DataFrame, store: LabelStore) -> pd.DataFrame:
    """Put the labels that people overruled into a scores frame.

    Parameters
    ----------
    scores : DataFrame
        What `score` returned.
    traces : DataFrame
        What it was scored from. An overruling holds for the answer that the person saw, and for no other.
    store : LabelStore
        With the overrules of `FaultStepper`.

    Returns
    -------
    DataFrame
        The same rows. Where a repeat was overruled, the metrics of the failure family have the label, the
        verdicts that follow from it, a reason that says by whom and why, and a scorer version with
        ``+overruled``: `collapse` and `summarize` go on from there, and such numbers are never compared with
        those of the rules alone.

    Raises
    ------
    InputError
        Where a frame is of another kind, or two people overruled the same answer with different labels.

    Examples
    --------
    >>> import tempfile
    >>> import neverempty as ne
    >>> case = ne.Case(id="a", input={"payload": 1}, language="en")
    >>> call = ne.ToolCall(0, "t", {}, "error", kind="timeout")
    >>> traces = ne.traces_frame([ne.Trace("default", "a", "typed", 0, answer="No trams.", calls=[call])])
    >>> store = LabelStore(tempfile.mkdtemp() + "/labels.jsonl")
    >>> key = overrule_key(traces.iloc[0].to_dict())
    >>> _ = store.record("overrule", "ann", key, label="reported", reason="a pun", was="misreport")
    >>> after = apply_overrules(ne.score(traces, [case]), traces, store).iloc[0]
    >>> after["label"], after["verdict"], after["reason"]
    ('reported', 'pass', 'overruled by ann: a pun')
    """
    check_frame(scores, "scores")
    check_frame(traces, "traces")
    said = store.labels()
    said = said[(said["action"] == "overrule") & said["item"].str.startswith(f"{ITEM}@")]
    if said.empty:
        return scores
    rules = _agreed(said.to_dict("records"), traces)
    rows = scores.to_dict("records")
    truths = _truths(rows)
    changed = [_overruled(row, rules.get(_place(row)), truths.get(_place(row))) for row in rows]
    frame = scores.copy()
    for name in ("label", "verdict", "reason", "scorer_version"):
        column = SCHEMAS["scores"].column(name)
        frame[name] = make_array(column, [_plain(row[name]) for row in changed])
    return frame


def _agreed(said: list[dict[Any, Any]], traces: pd.DataFrame) -> dict[tuple[Any, ...], dict[Any, Any]]:
    """Keep what was said of the answers of these traces, once per repeat."""
    answers = traces[["suite", "case_id", "arm", "repeat", "answer"]].to_dict("records")
    known = {overrule_key(row) for row in answers}
    rules: dict[tuple[Any, ...], dict[Any, Any]] = {}
    for row in said:
        if tuple(row[name] for name in LabelKey._fields) not in known:
            continue
        first = rules.setdefault(_place(row), row)
        if first["label"] != row["label"]:
            raise InputError(
                f"case {row['case_id']!r}, arm {row['arm']!r}, repeat {row['repeat']}: {first['annotator']} "
                f"says {first['label']}, {row['annotator']} says {row['label']}; one must take it back"
            )
    return rules


def _place(row: dict[Any, Any]) -> tuple[Any, ...]:
    return row["suite"], row["case_id"], row["arm"], row["repeat"]


def _truths(rows: list[dict[Any, Any]]) -> dict[tuple[Any, ...], str]:
    """Find what happened in each repeat: the first metric's evidence says so."""
    return {
        _place(row): row["evidence"]["truth"]
        for row in rows
        if row["metric"] == FIRST and isinstance(row["evidence"], dict) and "truth" in row["evidence"]
    }


def _overruled(row: dict[Any, Any], rule: dict[Any, Any] | None, truth: str | None) -> dict[Any, Any]:
    if rule is None or truth not in ("error", "empty", "data"):
        return row
    verdict = verdicts_of(truth, rule["label"]).get(str(row["metric"]))
    if verdict is None:
        return row
    return row | {
        "label": rule["label"],
        "verdict": verdict,
        "reason": f"overruled by {rule['annotator']}: {rule['reason']}",
        "scorer_version": f"{row['scorer_version'].removesuffix(MARK)}{MARK}",
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
