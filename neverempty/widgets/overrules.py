"""Labels that a person overruled, put into the frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from neverempty.frames import SCHEMAS, check_frame
from neverempty.frames.arrays import make_array
from neverempty.scorers.failure import label_of, verdicts_of
from neverempty.widgets.label_store import LabelStore

if TYPE_CHECKING:
    import pandas as pd

ITEM: Final = "failure"
"""What is overruled: the label of the failure family, from which its metrics follow."""

MARK: Final = "+overruled"
_FIRST: Final = "misreport_as_empty"
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


def apply_overrules(scores: pd.DataFrame, store: LabelStore) -> pd.DataFrame:
    """Put the labels that people overruled into a scores frame.

    Parameters
    ----------
    scores : DataFrame
        What `score` returned.
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
        Where the frame is not a scores frame.

    Examples
    --------
    >>> import tempfile
    >>> import neverempty as ne
    >>> from neverempty.widgets import LabelKey
    >>> case = ne.Case(id="a", input={"payload": 1}, language="en")
    >>> call = ne.ToolCall(0, "t", {}, "error", kind="timeout")
    >>> traces = ne.traces_frame([ne.Trace("default", "a", "typed", 0, answer="No trams.", calls=[call])])
    >>> store = LabelStore(tempfile.mkdtemp() + "/labels.jsonl")
    >>> key = LabelKey("default", "a", "typed", 0, ITEM)
    >>> _ = store.record("overrule", "ann", key, label="reported", reason="a pun", was="misreport")
    >>> after = apply_overrules(ne.score(traces, [case]), store).iloc[0]
    >>> after["label"], after["verdict"], after["reason"]
    ('reported', 'pass', 'overruled by ann: a pun')
    """
    check_frame(scores, "scores")
    said = store.labels()
    said = said[(said["action"] == "overrule") & (said["item"] == ITEM)]
    if said.empty:
        return scores
    last = said.sort_values("labelled_at").drop_duplicates(["suite", "case_id", "arm", "repeat"], keep="last")
    rules = {
        (row["suite"], row["case_id"], row["arm"], row["repeat"]): row for row in last.to_dict("records")
    }
    rows = scores.to_dict("records")
    truths = _truths(rows)
    changed = [_overruled(row, rules.get(_place(row)), truths.get(_place(row))) for row in rows]
    frame = scores.copy()
    for name in ("label", "verdict", "reason", "scorer_version"):
        column = SCHEMAS["scores"].column(name)
        frame[name] = make_array(column, [_plain(row[name]) for row in changed])
    return frame


def _place(row: dict[Any, Any]) -> tuple[Any, ...]:
    return row["suite"], row["case_id"], row["arm"], row["repeat"]


def _truths(rows: list[dict[Any, Any]]) -> dict[tuple[Any, ...], str]:
    """Find what happened in each repeat: the first metric's evidence says so."""
    return {
        _place(row): row["evidence"]["truth"]
        for row in rows
        if row["metric"] == _FIRST and isinstance(row["evidence"], dict) and "truth" in row["evidence"]
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
