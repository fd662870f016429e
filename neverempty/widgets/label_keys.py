"""What each key of a labelling session does; no widget is needed to try it."""

from __future__ import annotations

import warnings
from typing import Final, Literal

from neverempty.stats import DegenerateTableWarning
from neverempty.widgets.label_frames import JUDGE
from neverempty.widgets.label_session import LabelSession

REASONS: Final = (
    "the evidence is unclear",
    "the text is unclear",
    "two labels fit",
    "I do not read this language",
    "the item is broken",
)
ACTION_KEYS: Final = {
    "u": "undo",
    "l": "later",
    "t": "can't tell",
    "n": "note",
    "g": "go to",
    "k": "agreement",
}
"""None of them destroys anything where a notebook should take it for a command of its own."""


class LabelKeys:
    """Turn keys into actions.

    Parameters
    ----------
    session : LabelSession
        What they act on.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> claims = [{"id": "a", "claim": "Two trams."}, {"id": "b", "claim": "No trams."}]
    >>> keys = LabelKeys(LabelSession(claims, folder.name + "/labels.jsonl", "ann"))
    >>> keys.press("1t2")
    >>> keys.session.frame()[["label", "reason"]].values.tolist()
    [['supported', nan], ['cant_tell', 'the text is unclear']]
    >>> folder.cleanup()
    """

    def __init__(self, session: LabelSession) -> None:
        self.session = session
        self.labels = {str(at): label for at, label in enumerate(session.labels, 1)}
        self.message = ""
        self.asks: Literal["", "reason", "note", "goto"] = ""

    def press(self, keys: str) -> None:
        """Do what keys say, one after the other.

        Parameters
        ----------
        keys : str
            The characters as they were typed; what asks for a text (note, go to) takes the rest no further.

        Raises
        ------
        NeverEmptyError
            Where an action could not be put on disk; the keys behind it are not done.
        """
        for key in keys.lower():
            if self.asks in ("note", "goto"):
                return
            self._press(key)

    def _press(self, key: str) -> None:
        was_asked, self.asks = self.asks, ""
        self.message = ""
        if was_asked == "reason":
            self._give_reason(key)
        elif key in self.labels:
            self.do("label", self.labels[key])
        elif key in ACTION_KEYS:
            self.do(ACTION_KEYS[key])
        elif not key.isspace():
            self.message = f"the key {key!r} does nothing"

    def _give_reason(self, key: str) -> None:
        reasons = {str(at): reason for at, reason in enumerate(REASONS, 1)}
        if key in reasons:
            self.do("can't tell", reasons[key])
        else:
            self.message = f"{key!r} is none of the reasons 1 to {len(REASONS)}; nothing was stored"

    def do(self, action: str, text: str = "") -> None:
        """Do one action, as a key or a button names it.

        Parameters
        ----------
        action : str
            ``"label"`` or one of `ACTION_KEYS`.
        text : str, optional
            The label, the reason, the note, or where to go; without it the last three are asked for.

        Raises
        ------
        NeverEmptyError
            Where it cannot be done or put on disk.
        """
        session, self.message, self.asks = self.session, "", ""
        if action == "undo":
            undone = session.undo()
            self.message = "nothing to take back" if undone is None else f"took back: {undone.action}"
        elif action == "agreement":
            self.message = self.agreement()
        elif action == "go to" and text:
            session.goto(text.strip())
        elif action == "go to":
            self.asks = "goto"
        elif session.current is None:
            self.message = "every item is labelled; u takes back, g goes to one"
        elif action == "label":
            session.label(text)
        elif action == "later":
            session.later()
        elif text:
            (session.note if action == "note" else session.cannot_tell)(text)
        else:
            self.asks = "note" if action == "note" else "reason"

    def agreement(self) -> str:
        """Say how far this annotator agrees with everyone else.

        Returns
        -------
        str
            One sentence per annotator and for the judge.
        """
        session = self.session
        session.store.refresh()
        others = [who for who in session.store.annotators() if who != session.annotator]
        judged = any(item.judge_label for item in session.items)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateTableWarning)  # the sentence says it
            found = [session.agreement(who) for who in (*others, *((JUDGE,) if judged else ()))]
        return " ".join(one.sentence() for one in found) or "there is nobody to agree with yet"
