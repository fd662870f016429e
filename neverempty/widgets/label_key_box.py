"""A box that takes keys: the one place of a notebook in which a letter is no command of the notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets


class KeyBox(widgets.Text):  # type: ignore[misc]  # ipywidgets has no types
    """Hand on every character that is typed, once.

    The box is never cleared: browser and kernel would disagree about what is in it under fast typing, and
    keys be lost or doubled. Only what came in since counts, wherever the cursor stood; deleting does nothing.

    Parameters
    ----------
    typed : callable
        Called with the new characters.
    placeholder : str, optional
        What the empty box says.

    Examples
    --------
    >>> keys = []
    >>> box = KeyBox(keys.append)
    >>> for value in ("a", "abc", "ab", "axb"):
    ...     box.value = value
    >>> keys
    ['a', 'bc', 'x']
    """

    def __init__(self, typed: Callable[[str], None], placeholder: str = "type keys here") -> None:
        self._typed = typed
        super().__init__(
            description="keys",
            placeholder=placeholder,
            continuous_update=True,
            tooltip="Keys typed here label; the list of keys is below.",
            layout=widgets.Layout(width="24em", max_width="100%"),
        )
        self.add_class("neverempty-keys")
        self.observe(self._changed, "value")

    def _changed(self, change: Any) -> None:
        fresh = _inserted(change["old"] or "", change["new"] or "")
        if fresh:
            self._typed(fresh)


def _inserted(old: str, new: str) -> str:
    if new.startswith(old):
        return new[len(old) :]
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return new[start : len(new) - end]
