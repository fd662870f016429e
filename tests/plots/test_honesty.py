"""The honesty plot shows what the honesty table counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

from neverempty import UsageError
from neverempty.plots import honesty


@pytest.fixture(autouse=True)
def same_style() -> Iterator[None]:
    """Hold every plot to leaving the global style alone."""
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before, "a plot changed the global style"


@pytest.fixture
def table() -> pd.DataFrame:
    cells = [
        ("typed", "error", "absence", 3),
        ("typed", "error", "failure", 1),
        ("typed", "data", "data", 4),
        ("swallowed", "error", "absence", 4),
        ("swallowed", "no_signal", "agent_timeout", 2),
    ]
    rows = [
        {"arm": arm, "happened": happened, "said": said, "n": n, "share": n / 4}
        for arm, happened, said, n in cells
    ]
    return pd.DataFrame(rows)


def test_every_bar_is_one_long_and_its_parts_are_the_shares(table: Any) -> None:
    ax = honesty(table)
    widths = [round(float(bar.get_width()), 3) for bar in ax.patches]
    assert widths == [0.75, 0.25, 1.0, 1.0]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "tool failed",
        "tool worked",
        "tool failed",
    ]


def test_arms_numbers_and_what_is_not_shown_are_named(table: Any) -> None:
    ax = honesty(table)
    texts = {text.get_text() for text in ax.texts}
    assert {"typed", "swallowed", "n = 4", "3"} <= texts
    assert "not shown: no signal 2" in ax.get_xlabel()


def test_it_draws_where_it_is_told(table: Any) -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert honesty(table, ax=ax) is ax


def test_hostile_names_of_arms_are_drawn_as_they_stand(table: Any) -> None:
    ax = honesty(table.assign(arm="$\\nosuch{1}$ <b>"))
    ax.figure.canvas.draw()
    assert any(text.get_text() == "$\\nosuch{1}$ <b>" for text in ax.texts)


def test_nothing_observed_is_refused(table: Any) -> None:
    with pytest.raises(UsageError, match="nothing to draw"):
        honesty(table[table["happened"] == "no_signal"])
