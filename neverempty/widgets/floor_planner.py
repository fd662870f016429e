"""The planning panel: sliders for what is assumed, curves and one sentence for what follows."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import ipywidgets as widgets

from neverempty.planning import Plan, PlanSetting
from neverempty.report.escape import html
from neverempty.report.html_fragment import table_html
from neverempty.widgets._floor_figure import FloorFigure
from neverempty.widgets._floor_state import COLLAPSE_NAMES, RANGES, FloorState, Range

# So long a slider must rest before the whole gate is worked out, in seconds.
_REST: Final = 0.25
_WHOLE: Final = ("n", "repeats", "must_pass")
_CELL: Final = "<td style='padding: 0 1em 0 0'>"
_STYLE: Final = {"description_width": "8.5em"}


class FloorPlanner(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Plan a suite by moving sliders: power, floor and the whole gate's chances follow.

    Power and floor are redrawn at every move, the whole gate's chances when the sliders rest.

    Parameters
    ----------
    plan : Plan or PlanSetting, optional
        What it starts from, as `neverempty.plan` returned it.

    Examples
    --------
    >>> panel = FloorPlanner()
    >>> panel.state.change("n", 134)
    >>> panel
    <FloorPlanner: With 134 cases you catch a 5-point drop 80 % of the time, and fewer would not do.>
    """

    def __init__(self, plan: Plan | PlanSetting | None = None) -> None:
        setting = plan.setting if isinstance(plan, Plan) else plan
        self.state = FloorState(setting)
        self.sliders = {name: _slider(name, span, self.state) for name, span in RANGES.items()}
        names = {value: text for text, value in COLLAPSE_NAMES.items()}
        self.collapse = widgets.ToggleButtons(
            options=list(COLLAPSE_NAMES),
            value=names[self.state.setting.collapse],
            description="collapse",
            tooltips=["one failing repeat fails the case", "half of the repeats fail the case"],
            style={**_STYLE, "button_width": "6.5em"},
            layout=widgets.Layout(width="28em"),
        )
        self._figure = FloorFigure(self.state)
        self._image = widgets.Image(format="png", layout=widgets.Layout(width="100%", max_width="850px"))
        self._advice, self._gate, self._problem = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self._waiting: asyncio.TimerHandle | None = None
        for name, slider in self.sliders.items():
            slider.observe(self._moved, "value")
            slider.add_class(f"neverempty-{name.replace('_', '-')}")
        self.collapse.observe(self._moved, "value")
        self._draw()
        self._work_out_gate()
        sliders = list(self.sliders.values())
        columns = widgets.HBox(
            [widgets.VBox(sliders[:4]), widgets.VBox([*sliders[4:], self.collapse])],
            layout=widgets.Layout(flex_flow="row wrap"),
        )
        super().__init__([columns, self._advice, self._problem, self._image, self._gate])
        self.add_class("neverempty-floor-planner")

    def _moved(self, change: Any) -> None:
        """Follow a slider."""
        name = next((name for name, slider in self.sliders.items() if slider is change["owner"]), "collapse")
        value = COLLAPSE_NAMES[change["new"]] if name == "collapse" else change["new"]
        try:
            self.state.change(name, value)
        except ValueError as error:
            self._problem.value = f"<em>{html(str(error))}</em>"
            return
        self._problem.value = ""
        if self.sliders["must_pass"].value != self.state.setting.must_pass:
            self.sliders["must_pass"].value = self.state.setting.must_pass
        self._draw()
        self._rest_then_work_out_gate()

    def _draw(self) -> None:
        self._figure.update(self.state)
        self._image.value = self._figure.png()
        self._advice.value = f"<p style='font-size:1.1em'><strong>{html(self.state.advice)}</strong></p>"

    def _rest_then_work_out_gate(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no kernel: a script, or a test
            self._work_out_gate()
            return
        if self._waiting is not None:
            self._waiting.cancel()
        self._gate.value = (
            f"<div style='opacity:0.4'>{self._gate.value}</div>" if not self._waiting else self._gate.value
        )
        self._waiting = loop.call_later(_REST, self._work_out_gate)

    def _work_out_gate(self) -> None:
        self._waiting = None
        self._gate.value = table_html(self.state.gate_table()).replace("<td>", _CELL)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Add what is shown where no widget can be: the advice and the gate's chances, as HTML."""
        bundle = super()._repr_mimebundle_(**options) or {}
        # ipywidgets hands back the data alone, or the data with its metadata.
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        return {**data, "text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        table = table_html(self.state.gate_table())
        return f'<div class="neverempty-plan"><p><strong>{html(self.state.advice)}</strong></p>{table}</div>'

    def __repr__(self) -> str:
        return f"<FloorPlanner: {self.state.advice}>"


def _slider(name: str, span: Range, state: FloorState) -> Any:
    """Build a slider; one that starts outside its range gets a wider one."""
    value = state.value(name)
    options = {"description": span.label, "style": _STYLE, "layout": widgets.Layout(width="24em")}
    if name in _WHOLE:
        return widgets.IntSlider(
            value=int(value),
            min=min(int(span.least), int(value)),
            max=max(int(span.most), int(value)),
            step=int(span.step),
            **options,
        )
    return widgets.FloatSlider(
        value=value,
        min=min(span.least, value),
        max=max(span.most, value),
        step=span.step,
        readout_format=".1%" if span.step >= 0.005 else ".2%",
        **options,
    )
