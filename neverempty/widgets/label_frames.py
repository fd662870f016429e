"""Labels as a frame, and how far two who labelled agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd

from neverempty.frames.arrays import TEXT, objects
from neverempty.stats import Estimate, Kappa, cohen_kappa, confusion_matrix, wilson_interval
from neverempty.widgets.label_events import CANT_TELL, LabelKey

if TYPE_CHECKING:
    from neverempty.stats import ConfusionMatrix
    from neverempty.widgets.label_store import LabelStore, Mark

KEY: Final = list(LabelKey._fields)
JUDGE: Final = "judge"
"""Name under which the judge's own labels are compared."""
# A matrix needs two categories, and says itself that one is unused.
_UNUSED: Final = ("any other label", "any label but these")


def labels_frame(marks: Sequence[tuple[LabelKey, str, Mark]]) -> pd.DataFrame:
    """Lay out what annotators said.

    Parameters
    ----------
    marks : sequence of (LabelKey, str, Mark)
        Items with who said what; each has a label.

    Returns
    -------
    DataFrame
        As `LabelStore.labels` describes it.
    """
    said = [mark.said for _, _, mark in marks if mark.said is not None]
    texts = {
        "annotator": [who for _, who, _ in marks],
        "label": [mark.label for _, _, mark in marks],
        "judge_label": [one.judge_label for one in said],
        "blind": [bool(one.blind) for one in said],
        "reason": [mark.reason for _, _, mark in marks],
        "note": [mark.note for _, _, mark in marks],
        "language": [one.language for one in said],
        "labelled_at": [one.at for one in said],
        "judge_id": [one.judge_id for one in said],
        "tags": objects([list(one.tags) for one in said]),
        "action": [one.action for one in said],
        "was": [one.was for one in said],
    }
    keys = {name: [getattr(key, name) for key, _, _ in marks] for name in KEY}
    frame = pd.DataFrame({**keys, **texts})
    dtypes = dict.fromkeys([name for name in frame if name not in ("repeat", "blind", "tags")], TEXT)
    frame = frame.astype({**dtypes, "repeat": "int64", "blind": "bool", "tags": "object"})
    return frame.assign(
        labelled_at=pd.to_datetime(frame["labelled_at"], utc=True, format="ISO8601").dt.as_unit("us")
    )


class LabelAgreement(NamedTuple):
    """How far two who labelled the same items agree.

    Parameters
    ----------
    first, second : str
        Who; ``"judge"`` is the judge.
    matrix : ConfusionMatrix
        Rows are the first's labels, columns the second's.
    agreement : Estimate
        Share of items on which both agree.
    kappa : Kappa
        Cohen's; without a value, with the reason, where chance agreement is certain.
    n_cant_tell : int
        Items on which at least one could not tell; they are in no other number.
    disagreements : tuple of LabelKey
        Items on which the two differ, those on which one of the two could not tell among them.
    """

    first: str
    second: str
    matrix: ConfusionMatrix
    agreement: Estimate
    kappa: Kappa
    n_cant_tell: int
    disagreements: tuple[LabelKey, ...]

    def sentence(self) -> str:
        """Say it in one sentence.

        Returns
        -------
        str
            With the counts; a kappa that is not defined is said to be so.
        """
        n, value = self.matrix.n, self.kappa.value
        same = sum(row[at] for at, row in enumerate(self.matrix.counts))
        if n == 0:
            kappa = "not measured"
        elif value is None:
            kappa = f"kappa is not defined ({self.kappa.reason})"
        elif self.kappa.lo is None or self.kappa.hi is None:
            kappa = f"kappa {value:.2f} ({self.kappa.reason})"
        else:
            kappa = f"kappa {value:.2f} [{self.kappa.lo:.2f}, {self.kappa.hi:.2f}]"
        left = f"; {self.n_cant_tell} left out, where one could not tell" if self.n_cant_tell else ""
        return f"{self.first} and {self.second} agree on {same} of {n} items: {kappa}{left}."


def label_agreement(
    store: LabelStore, first: str, second: str = JUDGE, items: Collection[LabelKey] | None = None
) -> LabelAgreement:
    """Compare two annotators, or an annotator with the judge.

    Parameters
    ----------
    store : LabelStore
        Where the labels are.
    first : str
        An annotator.
    second : str, default "judge"
        Another one, or the judge.
    items : collection of LabelKey, optional
        Only these; a store may hold labels of several kinds.

    Returns
    -------
    LabelAgreement
        Over the items that both labelled.

    Examples
    --------
    >>> import tempfile
    >>> from neverempty.widgets import LabelStore
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = LabelStore(folder.name + "/labels.jsonl")
    >>> for at, (ann, ben) in enumerate([("yes", "yes"), ("no", "no"), ("yes", "no"), ("no", "no")]):
    ...     key = LabelKey("", f"case {at}", "", 0, f"case {at}")
    ...     _ = store.record("label", "ann", key, label=ann), store.record("label", "ben", key, label=ben)
    >>> found = label_agreement(store, "ann", "ben")
    >>> found.kappa.value, [key.item for key in found.disagreements]
    (0.5, ['case 2'])
    >>> folder.cleanup()
    """
    mine, other = _both(store, first, second, items)
    told = [key for key in mine if CANT_TELL not in (mine[key], other[key])]
    offered = {name for event in store.events(first) if event.key in mine for name in event.options}
    names = sorted({*offered, *(mine[key] for key in told), *(other[key] for key in told)})
    names += _UNUSED[: max(2 - len(names), 0)]
    matrix = confusion_matrix([mine[key] for key in told], [other[key] for key in told], names)
    same = sum(mine[key] == other[key] for key in told)
    return LabelAgreement(
        first,
        second,
        matrix,
        wilson_interval(same, len(told)),
        cohen_kappa(matrix),
        len(mine) - len(told),
        _differing(mine, other),
    )


def disagreements(store: LabelStore, first: str, second: str = JUDGE) -> tuple[LabelKey, ...]:
    """List the items on which two who labelled them differ.

    Parameters
    ----------
    store : LabelStore
        Where the labels are.
    first : str
        An annotator.
    second : str, default "judge"
        Another one, or the judge.

    Returns
    -------
    tuple of LabelKey
        Those on which one of the two could not tell among them.
    """
    return _differing(*_both(store, first, second))


def _both(
    store: LabelStore, first: str, second: str, items: Collection[LabelKey] | None = None
) -> tuple[dict[LabelKey, str], dict[LabelKey, str]]:
    """Give the labels of both by item, where both have one."""
    mine = _by_key(store.labels(first), "label")
    whose, column = (first, "judge_label") if second == JUDGE else (second, "label")
    other = _by_key(store.labels(whose), column)
    both = [key for key in mine if key in other and (items is None or key in items)]
    return {key: mine[key] for key in both}, {key: other[key] for key in both}


def _differing(mine: dict[LabelKey, str], other: dict[LabelKey, str]) -> tuple[LabelKey, ...]:
    return tuple(key for key in mine if mine[key] != other[key] or mine[key] == CANT_TELL)


def _by_key(labels: pd.DataFrame, column: str) -> dict[LabelKey, str]:
    known = labels[labels[column].notna() & (labels["action"] != "overrule")]
    return {LabelKey(*row[:-1]): row[-1] for row in known[[*KEY, column]].itertuples(index=False, name=None)}
