"""The honesty table as bars: what was said after a failure, after a genuine empty, over data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from neverempty._errors import UsageError
from neverempty.metrics import HAPPENED, SAID, honesty_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_NAMES: Final = {"error": "tool failed", "empty": "nothing matched", "data": "tool worked"}
# Light to dark, so that the order survives a grey printer; the hatch tells the two darkest apart.
_LOOKS: Final[dict[str, dict[str, Any]]] = {
    "absence": {"facecolor": "#8c1c13", "hatch": "////", "edgecolor": "white"},
    "failure": {"facecolor": "#2a6f97", "edgecolor": "white"},
    "data": {"facecolor": "#a9d6e5", "edgecolor": "white"},
    "none": {"facecolor": "#e9ecef", "edgecolor": "#868e96"},
}
_SAID: Final = {"absence": "there is none", "failure": "it failed", "data": "an answer", "none": "nothing"}
_ON_DARK: Final = ("absence", "failure")
_LEAST_SHARE: Final = 0.06


def honesty(scores: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw what was said, by what happened and by arm; `honesty_table` returns the same data.

    Parameters
    ----------
    scores : DataFrame
        A scores frame, or what `honesty_table` returned.
    ax : matplotlib Axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        One bar per arm and what happened, as long as its share of repeats is 1; the number of repeats stands
        behind it. What has no place in the three rows (recovered, no signal, ...) is counted below the plot.

    Raises
    ------
    UsageError
        Where nothing was observed.

    Examples
    --------
    >>> import pandas as pd
    >>> cell = {"arm": "typed", "happened": "error", "said": "absence", "n": 3, "share": 1.0}
    >>> honesty(pd.DataFrame([cell])).get_yticklabels()[0].get_text()
    'tool failed'
    """
    table = honesty_table(scores) if "metric" in scores.columns else scores
    bars = _bars(table)
    if not bars:
        raise UsageError("plots.honesty: no repeat has a place in the table, so there is nothing to draw")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(7, 0.9 + 0.42 * len(bars)), layout="constrained")
    arms = list(dict.fromkeys(arm for arm, _, _ in bars))
    places = [-(at + 0.8 * arms.index(arm)) for at, (arm, _, _) in enumerate(bars)]
    for place, (_, _, counts) in zip(places, bars, strict=True):
        _draw(ax, place, counts)
    ax.set_yticks(places, [_NAMES[happened] for _, happened, _ in bars])
    for arm in arms:
        top = max(place for place, bar in zip(places, bars, strict=True) if bar[0] == arm)
        ax.text(0, top + 0.5, arm, fontweight="bold", va="bottom", ha="left", parse_math=False)
    _dress(ax, min(places), _apart(table))
    return ax


def _bars(table: pd.DataFrame) -> list[tuple[str, str, dict[str, int]]]:
    """List arm, what happened and counts of each bar that has any."""
    bars: list[tuple[str, str, dict[str, int]]] = []
    for arm in table["arm"].unique().tolist():
        for happened in HAPPENED:
            cell = table[(table["arm"] == arm) & (table["happened"] == happened)]
            counts = {said: int(n) for said, n in zip(cell["said"], cell["n"], strict=True) if n}
            if counts:
                bars.append((arm, happened, counts))
    return bars


def _draw(ax: Axes, place: float, counts: dict[str, int]) -> None:
    total = sum(counts.values())
    left = 0.0
    for said in SAID:
        n = counts.get(said, 0)
        share = n / total
        if n:
            ax.barh(place, share, left=left, height=0.7, linewidth=0.8, **_LOOKS[said])
        if share >= _LEAST_SHARE:
            ink: dict[str, Any] = (
                {"color": "white", "fontweight": "bold"} if said in _ON_DARK else {"color": "black"}
            )
            back = {"facecolor": _LOOKS[said]["facecolor"], "edgecolor": "none", "pad": 1.2}
            ax.text(left + share / 2, place, f"{n}", ha="center", va="center", bbox=back, **ink)
        left += share
    ax.text(1.01, place, f"n = {total}", ha="left", va="center")


def _apart(table: pd.DataFrame) -> str:
    rest = table[~table["happened"].isin(HAPPENED)]
    counts = rest.groupby("happened", sort=False)["n"].sum()
    return ", ".join(f"{str(name).replace('_', ' ')} {n}" for name, n in counts.items())


def _dress(ax: Axes, lowest: float, apart: str) -> None:
    from matplotlib.patches import Patch
    from matplotlib.ticker import PercentFormatter

    ax.set_xlim(0, 1)
    ax.set_ylim(lowest - 0.6, 1.0)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("share of repeats" + (f"\nnot shown: {apart}" if apart else ""))
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    handles = [Patch(label=_SAID[said], **_LOOKS[said]) for said in SAID]
    ax.legend(
        handles=handles,
        title="what was said",
        ncols=len(SAID),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        frameon=False,
    )
