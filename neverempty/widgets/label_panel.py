"""The labelling panel: one item, its labels, and a box whose keys do everything."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from neverempty._errors import NeverEmptyError
from neverempty.report.escape import html
from neverempty.widgets.label_html import (
    cheat_sheet_html,
    item_html,
    progress_html,
    revealed_html,
    static_html,
)
from neverempty.widgets.label_key_box import KeyBox
from neverempty.widgets.label_keys import ACTION_KEYS, LabelKeys
from neverempty.widgets.label_session import LabelSession

if TYPE_CHECKING:
    from neverempty.widgets.label_items import Items
    from neverempty.widgets.label_store import LabelStore

# So long keys go to a field that they asked for, in seconds: the cursor needs a moment to get there.
_CURSOR_MOVES: Final = 1.0
_WRAP: Final = {"flex_flow": "row wrap"}
_BY_BUTTON: Final = ("undo", "later", "agreement")


class LabelPanel(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Label claims, answers or a judge's verdicts by hand, one key each.

    Type into the key box; every key stands below it. Every action is on disk before the next item shows, and
    a panel with the same store and annotator goes on where the last one was.

    Parameters
    ----------
    items : iterable of mapping, or DataFrame
        Rows with an ``id`` or a ``case_id`` (and ``suite``, ``arm``, ``repeat``), and what is shown:
        ``question`` or ``messages``, ``context``, ``evidence``, ``claim``, ``answer``. A ``judge_label``
        stays hidden until one's own is stored.
    store : LabelStore or path-like
        Where the labels go.
    annotator : str
        Who labels.
    labels : sequence of str, optional
        Two to nine labels; by default a judge's verdicts for claims, and what an answer claims for answers.
    seed : int, default 0
        Of the order.
    blind : bool, default True
        Whether other labels stay hidden until one's own is stored.
    reveal : bool, default True
        Whether the judge's label shows then.
    balance : bool, default True
        Whether every label stands at every place equally often; a label's key stays the same.
    between : tuple of (str, str), optional
        Two annotators, or one and ``"judge"``: only the items on which they differ.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> panel = LabelPanel([{"id": "a", "claim": "Two trams."}], folder.name + "/labels.jsonl", "ann")
    >>> panel.key_box.value = "1"
    >>> panel
    <LabelPanel: 1 of 1 labelled by ann>
    >>> folder.cleanup()
    """

    def __init__(
        self,
        items: Items,
        store: LabelStore | str | os.PathLike[str],
        annotator: str,
        *,
        labels: Sequence[str] | None = None,
        seed: int = 0,
        blind: bool = True,
        reveal: bool = True,
        balance: bool = True,
        between: tuple[str, str] | None = None,
    ) -> None:
        self.state = LabelSession(
            items,
            store,
            annotator,
            labels=labels,
            seed=seed,
            blind=blind,
            reveal=reveal,
            balance=balance,
            between=between,
        )
        self._does = LabelKeys(self.state)
        self._problem, self._asked_at, self._is_putting = "", 0.0, False
        self._build()
        self._draw()
        super().__init__(
            [
                self._progress,
                self._item,
                self._row,
                self.key_box,
                self._said,
                widgets.HBox(list(self.actions.values()), layout=widgets.Layout(**_WRAP)),
                widgets.HBox(list(self.fields.values()), layout=widgets.Layout(**_WRAP)),
                widgets.HTML(cheat_sheet_html(self._does)),
            ]
        )
        self.add_class("neverempty-label-panel")

    def _build(self) -> None:
        """Make every widget once; later only their values change."""
        self._progress, self._item, self._said = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.key_box = KeyBox(self._typed)
        self.buttons = {
            label: _button(f"{key} {label}", f"label the item: {label} (key {key})")
            for key, label in self._does.labels.items()
        }
        for label, button in self.buttons.items():
            button.on_click(lambda _, label=label: self._act(lambda: self._does.do("label", label)))
        self._row = widgets.HBox(layout=widgets.Layout(**_WRAP))
        key_of = {action: key for key, action in ACTION_KEYS.items()}
        self.actions = {
            name: _button(f"{key_of[name]} {name}", f"{name} (key {key_of[name]})") for name in _BY_BUTTON
        }
        for name, button in self.actions.items():
            button.on_click(lambda _, name=name: self._act(lambda: self._does.do(name)))
        self.fields = {
            "note": _field("note", "then Enter"),
            "can't tell": _field("can't tell", "why, then Enter"),
            "go to": _field("go to", "id or number, Enter"),
        }
        for name, field in self.fields.items():
            field.observe(lambda change, name=name: self._written(name, change["new"]), "value")

    def _typed(self, keys: str) -> None:
        field = {"note": "note", "goto": "go to"}.get(self._does.asks)
        if field is not None and time.monotonic() - self._asked_at < _CURSOR_MOVES:
            self._put(field, self.fields[field].value + keys)
            return
        if field is not None:
            self._does.asks = ""
        self._act(lambda: self._does.press(keys), focus=False)
        if self._does.asks in ("note", "goto"):
            self._asked_at = time.monotonic()
            self.fields["note" if self._does.asks == "note" else "go to"].focus()

    def _written(self, name: str, text: str) -> None:
        if not text.strip() or self._is_putting:
            return
        self._act(lambda: self._does.do(name, text))
        if not self._problem:
            self._put(name, "")

    def _put(self, name: str, text: str) -> None:
        """Write into a field without taking that for an entry."""
        self._is_putting = True
        try:
            self.fields[name].value = text
        finally:
            self._is_putting = False

    def _act(self, action: Callable[[], None], *, focus: bool = True) -> None:
        """Act, say in the panel what went wrong, and show what is next."""
        try:
            action()
            self._problem = ""
        except NeverEmptyError as error:
            self._problem = str(error)
        self._draw()
        if focus:
            self.key_box.focus()  # a letter typed while a button is focused would be the notebook's command

    def _draw(self) -> None:
        state = self.state
        self._progress.value = progress_html(state)
        self._item.value = item_html(state)
        shown = tuple(self.buttons[label] for label in state.options()) if state.current else ()
        if self._row.children != shown:
            self._row.children = shown
        lines = [f'<p role="alert"><strong>Not stored: {html(self._problem)}</strong></p>'] * bool(
            self._problem
        )
        if self._does.asks == "reason":
            lines.append("<p>why? a number from the list of t keys, or in your own words below</p>")
        if self._does.message:
            lines.append(f"<p>{html(self._does.message)}</p>")
        if state.current is None and state.items:
            lines.append(f"<p>{html(self._does.agreement())}</p>")
        saved = state.store.events(state.annotator)
        last = f", the last at {saved[-1].at[11:19]} UTC" if saved else ""
        where = f"{len(saved)} actions saved in {html(state.store.path)}{last}"
        lines.append(f'<p style="opacity: .75; font-size: .9em">{where}</p>')
        self._said.value = revealed_html(state) + "".join(lines)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Add what is shown where no widget can be: progress, labels and the next item, as HTML."""
        bundle = super()._repr_mimebundle_(**options) or {}
        # ipywidgets hands back the data alone, or the data with its metadata.
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, "text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        return static_html(self.state)

    def __repr__(self) -> str:
        return repr(self.state).replace("LabelSession", "LabelPanel", 1)


def _button(text: str, tooltip: str) -> Any:
    return widgets.Button(description=text, tooltip=tooltip, layout=widgets.Layout(width="auto"))


def _field(name: str, placeholder: str) -> Any:
    return widgets.Text(
        description=name,
        placeholder=placeholder,
        continuous_update=False,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="18em"),
    )
