"""The panel that steps through fault cases, and in which a label can be overruled."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import ipywidgets as widgets

from neverempty._errors import NeverEmptyError
from neverempty.report.escape import html
from neverempty.widgets._stepper_html import case_html
from neverempty.widgets.label_key_box import KeyBox
from neverempty.widgets.label_store import LabelStore
from neverempty.widgets.overrules import labels_for
from neverempty.widgets.stepper_state import ALL, CLEAR, FILTERS, NEXT, PREVIOUS, StepperState

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.report import Report

_SHEET: Final = (
    f"<p>Keys in the box: <kbd>{NEXT}</kbd> next · <kbd>{PREVIOUS}</kbd> previous · "
    f"<kbd>{CLEAR}</kbd> clear the filters. Tab moves on, Shift+Tab back.</p>"
)


class FaultStepper(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Step through the fault cases of a report, the worst first.

    Shown are the conversation, each tool call with what really happened and what the model saw, the fault and
    how far it got, the answer with the words that claim absence or disclose the failure, and the scores with
    their reasons; repeats and arms stand side by side.

    Parameters
    ----------
    report : Report
        The report.
    store : LabelStore or path-like, optional
        Where overrules go; `apply_overrules` puts them into a scores frame.
    annotator : str, optional
        Who overrules; needed with a store.
    readings : DataFrame, optional
        From `neverempty.judge.second_reading`, for the filter of disagreements.

    Raises
    ------
    UsageError
        Where the report has no case with a planned fault.
    """

    def __init__(
        self,
        report: Report,
        store: LabelStore | str | os.PathLike[str] | None = None,
        annotator: str = "",
        readings: pd.DataFrame | None = None,
    ) -> None:
        if store is not None and not isinstance(store, LabelStore):
            store = LabelStore(store)
        self.state = StepperState(report, store, annotator, readings)
        self.box = KeyBox(lambda keys: self._do(lambda: self.state.press(keys)), "click here and type")
        self._head, self._body, self._said = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.buttons = {"previous": _button("previous", PREVIOUS), "next": _button("next", NEXT)}
        self.buttons["previous"].on_click(lambda _: self._do(lambda: self.state.step(-1)))
        self.buttons["next"].on_click(lambda _: self._do(lambda: self.state.step(1)))
        self.jump = widgets.Text(placeholder="go to: number or id", continuous_update=False, tooltip="go to")
        self.jump.observe(self._jumped, "value")
        self.filters = {name: self._filter(name) for name in FILTERS}
        self._drawing = False
        parts = [self._head, self._row(*self.buttons.values(), self.jump), self._row(*self.filters.values())]
        super().__init__(
            [*parts, self.box, self._said, self._body, *self._overruling(), widgets.HTML(_SHEET)]
        )
        self.add_class("neverempty-fault-stepper")
        self._draw()

    def _row(self, *children: Any) -> Any:
        return widgets.HBox(list(children), layout=widgets.Layout(flex_flow="row wrap"))

    def _filter(self, name: str) -> Any:
        options = self.state.options(name)
        why = "" if len(options) > 1 else "the report knows nothing of it"
        if name == "disagreement" and not self.state.has_readings:
            why = "give readings= of a second reader"
        box = widgets.Dropdown(
            options=options,
            description=name.removesuffix("ment"),
            tooltip=why or f"show one {name} only",
            disabled=bool(why),
        )
        box.observe(lambda change, name=name: self._filtered(name, change["new"]), "value")
        return box

    def _overruling(self) -> list[Any]:
        self.which = widgets.Dropdown(description="repeat", tooltip="which repeat is overruled")
        self.label = widgets.Dropdown(description="label", tooltip="the right label")
        self.reason = widgets.Text(placeholder="why", description="reason", tooltip="why it is overruled")
        self.overrule = widgets.Button(description="overrule", tooltip="keep this label instead")
        self.back = widgets.Button(description="take back", tooltip="take the overruling back")
        self.which.observe(lambda _: self._offer_labels(), "value")
        self.overrule.on_click(lambda _: self._overrule())
        self.back.on_click(lambda _: self._do(lambda: self.state.take_back(*self.which.value)))
        if self.state.store is None:
            return []
        return [self._row(self.which, self.label, self.reason, self.overrule, self.back)]

    def _overrule(self) -> None:
        chosen, label, reason = self.which.value, self.label.value, self.reason.value
        if chosen is not None and label is not None:
            self._do(lambda: self.state.overrule(chosen[0], chosen[1], label, reason))
            if self.state.message.startswith("overruled"):
                self.reason.value = ""

    def _filtered(self, name: str, value: str) -> None:
        if not self._drawing:
            self._do(lambda: self.state.filter(name, value))

    def _jumped(self, change: Any) -> None:
        if change["new"]:
            self._do(lambda: self.state.goto(change["new"].strip()))
            self.jump.value = ""

    def _do(self, action: Any) -> None:
        """Act, say what went wrong in the panel, and show what is there now."""
        try:
            action()
        except (NeverEmptyError, OSError) as error:
            self.state.message = str(error)
        self._draw()

    def _draw(self) -> None:
        state = self.state
        self._drawing = True
        for name, box in self.filters.items():
            box.value = state.chosen[name] if state.chosen[name] in box.options else ALL
        self._drawing = False
        repeats = state.repeats
        self._head.value = f'<p role="status"><strong>{html(state.place)}</strong></p>'
        self._said.value = f'<p role="alert">{html(state.message)}</p>'
        self._body.value = case_html(repeats)
        options = [(f"{one.arm}, repeat {one.repeat}", (one.arm, one.repeat)) for one in repeats]
        kept = self.which.value
        self.which.options = options
        values = [value for _, value in options]
        self.which.value = kept if kept in values else values[0] if values else None
        self._offer_labels()

    def _offer_labels(self) -> None:
        found = [one for one in self.state.repeats if (one.arm, one.repeat) == self.which.value]
        truth = found[0].truth if found else ""
        self.label.options = labels_for(truth) if truth in ("error", "empty", "data") else []
        self.label.value = found[0].label if found and found[0].label in self.label.options else None

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Add what is shown where no widget can be: the present case, as HTML."""
        bundle = super()._repr_mimebundle_(**options) or {}
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, "text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        return (
            f'<div class="neverempty-stepper"><p><strong>{html(self.state.place)}</strong></p>'
            f"{case_html(self.state.repeats)}</div>"
        )

    def __repr__(self) -> str:
        return f"<FaultStepper: {self.state.place}>"


def _button(label: str, key: str) -> Any:
    return widgets.Button(description=f"{label} [{key}]", tooltip=f"{label} case: key {key}")
