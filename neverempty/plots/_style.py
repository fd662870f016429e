"""What the plots share: lines that differ without colour, names beside lines, axes without clutter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from neverempty.planning import PlanSetting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from neverempty.planning import Plan

DARK: Final = "#1b2a3a"
RED: Final = "#8c1c13"
BLUE: Final = "#2a6f97"
PALE: Final = "#a9d6e5"
GREY: Final = "#868e96"
FAINT: Final = "#e9ecef"
# Dark to light and each with a dash of its own, so that grey paper keeps them apart.
LINES: Final[tuple[dict[str, Any], ...]] = (
    {"color": DARK, "linestyle": "-", "linewidth": 2.0},
    {"color": RED, "linestyle": (0, (6, 2)), "linewidth": 2.0},
    {"color": BLUE, "linestyle": (0, (4, 1.5, 1, 1.5)), "linewidth": 2.0},
    {"color": "#b5651d", "linestyle": (0, (1.2, 1.2)), "linewidth": 2.2},
    {"color": GREY, "linestyle": (0, (9, 2, 1, 2, 1, 2)), "linewidth": 2.0},
)
_GAP: Final = 0.065


class Name(NamedTuple):
    """A name to be written beside the end of a line.

    Parameters
    ----------
    y : float
        Height of the line's end, in data units.
    text : str
        The name.
    color : str
        The line's colour.
    """

    y: float
    text: str
    color: str


def setting_of(plan: Plan | PlanSetting) -> PlanSetting:
    """Return what a plan assumes."""
    return plan if isinstance(plan, PlanSetting) else plan.setting


def fresh(ax: Axes | None, width: float = 6.4, height: float = 3.8) -> Axes:
    """Return the axes, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=(width, height), layout="constrained")
    return made


def line(at: int) -> dict[str, Any]:
    """Return the looks of the line with that number."""
    return LINES[at % len(LINES)]


def name_lines(ax: Axes, names: Sequence[Name]) -> None:
    """Write names right of the axes, at the heights of their lines but never over each other."""
    bottom, top = ax.get_ylim()
    heights = [(name.y - bottom) / (top - bottom) for name in names]
    order = sorted(range(len(names)), key=heights.__getitem__)
    placed = spread([heights[at] for at in order])
    for at, height in zip(order, placed, strict=True):
        ax.text(
            1.015,
            height,
            names[at].text,
            transform=ax.transAxes,
            color=names[at].color,
            va="center",
            ha="left",
            parse_math=False,
        )


def spread(heights: Sequence[float], gap: float = _GAP) -> list[float]:
    """Move sorted heights apart until each has its gap, and keep them within the axes.

    Examples
    --------
    >>> [round(height, 2) for height in spread([0.5, 0.5, 0.99], gap=0.1)]
    [0.5, 0.6, 0.99]
    """
    up: list[float] = []
    for height in heights:
        up.append(max(height, up[-1] + gap) if up else max(height, 0.0))
    for at in range(len(up) - 1, -1, -1):
        highest = 1.0 if at == len(up) - 1 else up[at + 1] - gap
        up[at] = min(up[at], highest)
    return up


def shares(axis: Any) -> None:
    """Label an axis of shares in per cent."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(6))
    axis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g} %")


def tidy(ax: Axes, grid: Literal["x", "y"] = "y") -> None:
    """Take away the frame, and lay a faint grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis=grid, color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)


def mark(ax: Axes, x: float, text: str, *, ha: str = "center") -> None:
    """Draw a thin upright line with a word above it."""
    ax.axvline(x, color=GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    ax.annotate(
        text,
        (x, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, 3),
        textcoords="offset points",
        color="#495057",
        fontsize="small",
        va="bottom",
        ha=ha,
        parse_math=False,
    )
