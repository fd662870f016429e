"""The two curves of the planning panel: built once, then only moved."""

from __future__ import annotations

import io
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from neverempty.planning.advice import points, share
from neverempty.plots import _style as style
from neverempty.widgets._floor_state import Curve, FloorState

_SIZE: Final = (9.4, 3.1)
_DPI: Final = 90


class FloorFigure:
    """Power by the number of cases, and chance to breach the floor by the pass rate.

    Parameters
    ----------
    state : FloorState
        What is drawn first.
    """

    def __init__(self, state: FloorState) -> None:
        # A figure of its own, outside pyplot: the notebook does not show it a second time.
        self._figure = Figure(figsize=_SIZE, dpi=_DPI)
        self._canvas = FigureCanvasAgg(self._figure)
        left, right = self._figure.subplots(1, 2)
        self._figure.subplots_adjust(left=0.085, right=0.985, bottom=0.19, top=0.89, wspace=0.24)
        self._power, self._floor = left, right
        (self._power_line,) = left.plot([], [], **style.line(0))
        (self._here,) = left.plot([], [], marker="o", markersize=8, color=style.RED, zorder=5, clip_on=False)
        self._wanted = left.axhline(0.8, color=style.GREY, linewidth=0.9, linestyle=(0, (2, 2)))
        (self._floor_line,) = right.plot([], [], **style.line(0))
        (self._good,) = right.plot(
            [], [], marker="o", markersize=8, color=style.BLUE, linestyle="none", clip_on=False
        )
        (self._bad,) = right.plot(
            [], [], marker="s", markersize=8, color=style.RED, linestyle="none", clip_on=False
        )
        self._level = right.axvline(0.9, color=style.GREY, linewidth=0.9, linestyle=(0, (2, 2)))
        self._dress()
        self.update(state)

    def _dress(self) -> None:
        for ax in (self._power, self._floor):
            ax.set_ylim(0, 1.03)
            style.shares(ax.yaxis)
            style.tidy(ax)
        style.shares(self._floor.xaxis)
        self._power.set_xlabel("cases to which the metric applies")
        self._power.set_ylabel("chance to catch the drop")
        self._floor.set_xlabel("true pass rate (circle: unchanged, square: worse)")
        self._floor.set_ylabel("chance to breach the floor")

    def update(self, state: FloorState) -> None:
        """Move the curves to where the state has them.

        Parameters
        ----------
        state : FloorState
            What is drawn.
        """
        power, chance = state.power_curve(), state.power()
        _move(self._power_line, power)
        self._power.set_xlim(0, float(power.x[-1]))
        self._here.set_data([state.n], [chance])
        self._wanted.set_ydata([state.setting.power] * 2)
        drop = points(state.setting.drop)
        self._power.set_title(f"{drop} drop, {state.n} cases: {share(chance)}", loc="left", fontsize="small")
        curve = state.floor_curve()
        _move(self._floor_line, curve)
        self._floor.set_xlim(float(curve.x[0]), 1.005)
        unchanged, worse = state.floor_marks()
        self._good.set_data([unchanged[0]], [unchanged[1]])
        self._bad.set_data([worse[0]], [worse[1]])
        floor = state.setting.floors[0]
        self._level.set_xdata([floor] * 2)
        says = f"{share(unchanged[1])} unchanged, {share(worse[1])} worse"
        self._floor.set_title(f"{share(floor)} floor breached: {says}", loc="left", fontsize="small")

    def png(self) -> bytes:
        """Render the figure.

        Returns
        -------
        bytes
            A PNG.
        """
        buffer = io.BytesIO()
        # Speed counts more than size here: the picture never leaves the machine.
        self._figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 1})
        return buffer.getvalue()


def _move(line: Any, curve: Curve) -> None:
    line.set_data(curve.x, curve.y)
