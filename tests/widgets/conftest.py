"""What every test of a panel holds: no callback fails unseen."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _loud_callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    from ipywidgets.widgets.widget import CallbackDispatcher

    def call(self: Any, *args: Any, **options: Any) -> Any:
        return [callback(*args, **options) for callback in self.callbacks]

    # ipywidgets logs what a callback raises and goes on.
    monkeypatch.setattr(CallbackDispatcher, "__call__", call)
