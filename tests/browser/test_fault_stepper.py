"""The stepper in a real browser: keys, filters and an overruling reach the kernel and the file."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
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
def voila(tmp_path: Path) -> Iterator[str]:
    """Serve a notebook that shows the panel; give its address."""
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": _SET_UP,
    }
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "panel.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(tmp_path / name.lower()) for name in homes}
    command = [sys.executable, "-m", "voila", str(tmp_path), "--no-browser", "--Voila.ip=127.0.0.1"]
    server = subprocess.Popen(
        [*command, f"--port={port}"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            assert server.poll() is None, "voila did not start"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/voila/render/panel.ipynb"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture
def page(voila: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(voila)
        page.wait_for_selector(".neverempty-keys input", timeout=60_000)
        yield page
        browser.close()


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
