"""Labelling in a real browser with a real kernel behind it; what counts is what stands in the file."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty.widgets import LabelStore

pytestmark = pytest.mark.browser

_NOTEBOOK = """
import os
from pathlib import Path
from neverempty.widgets import LabelPanel
Path("{name}.pid").write_text(str(os.getpid()))
item = lambda at: dict(id=f"c{{at}}", claim=f"Claim {{at}}.", evidence=["E."], judge_label="supported")
items = [item(at) for at in range({n})]
LabelPanel(items, "{name}.jsonl", "ida", balance=False)
"""
_BOX = ".neverempty-keys input"
_DIGITS = {"1": "supported", "2": "contradicted", "3": "not_in_evidence"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, write_notebook: Callable[[Path, str], None]) -> Path:
    folder = tmp_path_factory.mktemp("served")
    for name, n in (("few", 8), ("many", 1000), ("lab", 30)):
        write_notebook(folder / f"{name}.ipynb", _NOTEBOOK.format(name=name, n=n))
    return folder


@pytest.fixture(scope="module")
def voila(folder: Path, serve: Callable[[Path, str], str]) -> str:
    return serve(folder, "voila") + "/voila/render"


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _wait_for_lines(file: Path, n: int, seconds: float = 20.0) -> list[dict[str, Any]]:
    """Wait until the kernel has written so many actions; more of them fail the test."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (not file.exists() or len(_lines(file)) < n):
        time.sleep(0.05)
    found = _lines(file)
    assert len(found) == n, [line["action"] for line in found]
    return found


def _wait_for_item(page: Any, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.neverempty-label-panel')?.innerText.includes(text)",
        arg=text,
        timeout=30_000,
    )


def test_labels_undone_put_off_and_resumed_after_a_killed_kernel_are_right_to_the_row(
    voila: str, folder: Path, open_page: Callable[[str], Any]
) -> None:
    file = folder / "few.jsonl"
    page = open_page(f"{voila}/few.ipynb")
    page.wait_for_selector(_BOX, timeout=60_000)
    page.locator(_BOX).click()
    page.keyboard.type("12ul3", delay=40)
    page.get_by_role("button", name="2 contradicted", exact=True).click()
    _wait_for_lines(file, 7)
    page.wait_for_function("document.activeElement.matches('.neverempty-keys input')", timeout=10_000)
    page.keyboard.type("t2n", delay=40)
    page.wait_for_function("document.activeElement.placeholder == 'then Enter'", timeout=10_000)
    page.keyboard.type("odd <b>one</b>", delay=5)
    page.keyboard.press("Enter")
    order = _wait_for_lines(file, 9)[0]["order"]
    _wait_for_item(page, f"item 6 of 8 · {order[5]}")
    _wait_for_item(page, "odd <b>one</b>")
    os.kill(int((folder / "few.pid").read_text()), signal.SIGKILL)

    page = open_page(f"{voila}/few.ipynb")
    _wait_for_item(page, f"item 6 of 8 · {order[5]}")
    _wait_for_item(page, "4 of 8 done, 1 can't tell, 1 put off")
    page.locator(_BOX).click()
    page.keyboard.type("1112", delay=40)
    lines = _wait_for_lines(file, 13)
    _wait_for_item(page, "Every item is labelled")
    assert [(line["action"], line.get("item")) for line in lines] == [
        ("session", None),
        ("label", order[0]),
        ("label", order[1]),
        ("undo", order[1]),
        ("later", order[1]),
        ("label", order[2]),
        ("label", order[3]),
        ("cant_tell", order[4]),
        ("note", order[5]),
        *(("label", order[at]) for at in (5, 6, 7, 1)),
    ]
    frame = LabelStore(file).labels().set_index("item")
    assert frame.loc[order, "label"].tolist() == [
        *("supported", "contradicted", "not_in_evidence", "contradicted", "cant_tell"),
        *("supported", "supported", "supported"),
    ]
    assert frame.loc[order, "blind"].tolist() == [True, False, *[True] * 6]
    assert frame.loc[order[5], "note"] == "odd <b>one</b>"


def test_a_thousand_items_at_five_milliseconds_a_key_are_neither_lost_nor_doubled(
    voila: str, folder: Path, open_page: Callable[[str], Any]
) -> None:
    page = open_page(f"{voila}/many.ipynb")
    page.wait_for_selector(_BOX, timeout=60_000)
    page.locator(_BOX).click()
    keys = "".join(random.Random(5).choices("123", k=1000))
    page.keyboard.type(keys, delay=5)
    lines = _wait_for_lines(folder / "many.jsonl", 1001, 60.0)
    assert [line["item"] for line in lines[1:]] == lines[0]["order"]
    assert [line["label"] for line in lines[1:]] == [_DIGITS[key] for key in keys]
    _wait_for_item(page, "1000 of 1000 done")


def test_in_jupyterlab_no_key_becomes_a_command_of_the_notebook(
    folder: Path, serve: Callable[[Path, str], str], open_page: Callable[[str], Any]
) -> None:
    page = open_page(serve(folder, "jupyterlab") + "/doc/tree/lab.ipynb?reset")
    widget = "window.jupyterapp?.shell?.currentWidget"
    ready = f"{widget}?.sessionContext?.session?.kernel?.status === 'idle' && {widget}.context.isReady"
    page.wait_for_function(ready, timeout=90_000)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_selector(_BOX, timeout=60_000)
    cells = f"{widget}.context.model.sharedModel.cells"
    sources = f"JSON.stringify({cells}.map(one => one.getSource()))"
    before = page.evaluate(sources)
    page.locator(_BOX).click()
    page.keyboard.type("abxddvymzcjk123u", delay=20)
    _wait_for_lines(folder / "lab.jsonl", 5)
    page.get_by_role("button", name="1 supported", exact=True).click()
    page.wait_for_function("document.activeElement.matches('.neverempty-keys input')", timeout=10_000)
    page.keyboard.type("abxdd1", delay=20)
    _wait_for_lines(folder / "lab.jsonl", 7)
    assert page.evaluate(sources) == before
    assert page.evaluate(f"{cells}.map(one => one.cell_type)") == ["code"]
    assert page.locator(".jp-Notebook .jp-Cell").count() == 1
    # The same key on a button is a command: this test would notice.
    page.get_by_role("button", name="1 supported", exact=True).focus()
    page.keyboard.type("b")
    page.wait_for_function(f"{cells}.length == 2", timeout=10_000)
