"""The stepper in a real browser: keys, filters and an overruling reach the kernel and the file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

_SET_UP = """
import neverempty as ne
from neverempty.widgets import FaultStepper
fault = {"tool": "trams", "kind": "timeout"}
case = lambda at: ne.Case(id=f"c{at}", input={"payload": "Trams?"}, language="en", faults=[fault])
cases = [case(at) for at in range(5)]
def trace(case, at):
    call = ne.ToolCall(0, "trams", {}, "error", "[]", "[]", kind="timeout", injected=True, state="seen")
    answer = "There are no trams." if at < 3 else "It timed out."
    made = ne.Trace("default", case.id, "typed", 0, answer=answer, calls=[call], language="en")
    made.messages = [{"role": "user", "content": "Trams?"}]
    made.fault_kind, made.fault_state = "timeout", "seen"
    return made
report = ne.make_report(ne.traces_frame(trace(case, at) for at, case in enumerate(cases)), cases, repeats=1)
FaultStepper(report, "labels.jsonl", annotator="ida")
"""


@pytest.fixture
def page(
    tmp_path: Path,
    write_notebook: Callable[[Path, str], None],
    serve: Callable[[Path, str], str],
    open_page: Callable[[str], Any],
) -> Any:
    """Open a notebook that shows the panel."""
    write_notebook(tmp_path / "panel.ipynb", _SET_UP)
    page = open_page(f"{serve(tmp_path, 'voila')}/voila/render/panel.ipynb")
    page.wait_for_selector(".neverempty-keys input", timeout=60_000)
    return page


def _place(page: Any, text: str) -> None:
    page.wait_for_function(
        "text => [...document.querySelectorAll('p[role=status]')].some(one => one.innerText.includes(text))",
        arg=text,
        timeout=20_000,
    )


def test_keys_step_filters_filter_and_an_overruling_is_in_the_file(page: Any, tmp_path: Path) -> None:
    _place(page, "1 of 5")
    page.locator(".neverempty-keys input").click()
    page.keyboard.type("nnp", delay=20)
    _place(page, "2 of 5: default/c1")
    page.keyboard.type("p")
    _place(page, "1 of 5: default/c0")
    assert page.locator("mark[title='claims absence']").first.inner_text().startswith("There are no")
    page.get_by_label("label", exact=True).first.select_option("reported")
    _place(page, "1 of 2 (of 5): default/c3")
    page.locator(".neverempty-keys input").click()
    page.keyboard.type("c")
    _place(page, "1 of 5")
    page.get_by_placeholder("why").fill("shown as an example")
    page.get_by_placeholder("why").press("Tab")
    page.locator("select").last.select_option("reported")
    page.get_by_role("button", name="overrule", exact=True).click()
    file = tmp_path / "labels.jsonl"
    for _ in range(100):
        if file.exists():
            break
        time.sleep(0.1)
    (line,) = [json.loads(one) for one in file.read_text(encoding="utf-8").splitlines()]
    assert (line["action"], line["case_id"], line["was"], line["label"]) == (
        "overrule",
        "c0",
        "misreport",
        "reported",
    )
    assert line["reason"] == "shown as an example"
