"""The progress bar of a run, with the cost so far."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self


class Progress:
    """A bar that is moved from the thread or loop of the caller; the run itself only counts.

    Parameters
    ----------
    total : int
        Rows of the frame.
    shown : bool or None
        None shows it in a terminal and in a notebook, and nowhere else.
    """

    def __init__(self, total: int, shown: bool | None) -> None:
        self._bar: Any = None
        if shown or (shown is None and total and (_in_notebook() or sys.stderr.isatty())):
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, unit="trace")

    @property
    def shown(self) -> bool:
        """Whether there is a bar at all."""
        return self._bar is not None

    def show(self, done: int, spent_usd: float) -> None:
        """Move the bar.

        Parameters
        ----------
        done : int
            Rows that are there.
        spent_usd : float
            Cost so far, as far as it is known.
        """
        if self._bar is not None:
            if spent_usd:
                self._bar.set_postfix_str(f"{spent_usd:.4f} US dollars", refresh=False)
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _in_notebook() -> bool:
    """Tell a notebook's kernel from a terminal, without importing IPython for it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
