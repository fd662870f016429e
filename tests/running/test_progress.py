from __future__ import annotations

import asyncio
import sys
import types
from typing import Any

import pytest

from neverempty.running import arun, run
from neverempty.running import progress as progress_module
from neverempty.running.progress import Progress


async def spends(case: Any, tracer: Any) -> str:
    tracer.usage("gpt-4o", 100_000, 1000)
    await asyncio.sleep(0.25)
    return "done"


def test_the_bar_counts_traces_and_cost_where_it_is_asked_for(make_cases, capsys) -> None:
    run(spends, make_cases(3), progress=True, concurrency=2)
    text = capsys.readouterr().err
    assert "3/3" in text
    assert "0.7800 US dollars" in text
    asyncio.run(arun(spends, make_cases(2), progress=True, concurrency=1))
    text = capsys.readouterr().err
    assert "2/2" in text
    assert "0.5200 US dollars" in text
    assert "1/2" in text


def test_there_is_no_bar_without_a_terminal_unless_asked(make_cases, capsys) -> None:
    run(spends, make_cases(1))
    run(spends, make_cases(1), progress=False)
    assert capsys.readouterr().err == ""


def test_a_terminal_or_a_notebook_gets_a_bar_unasked(monkeypatch) -> None:
    monkeypatch.setattr(progress_module, "_in_notebook", lambda: False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert not Progress(3, None).shown
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert not Progress(3, False).shown
    for wanted, total, shown in ((None, 3, True), (None, 0, False)):
        with Progress(total, wanted) as bar:
            assert bar.shown is shown


@pytest.mark.parametrize(
    ("shell", "found"), [("ZMQInteractiveShell", True), ("TerminalInteractiveShell", False)]
)
def test_a_notebook_is_told_from_a_terminal_by_its_shell(monkeypatch, shell, found) -> None:
    ipython = types.SimpleNamespace(get_ipython=lambda: type(shell, (), {})())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert progress_module._in_notebook() is found
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert not progress_module._in_notebook()
