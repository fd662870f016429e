"""The exported page in a real browser without a network: it asks for nothing, and fits a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import neverempty as ne
from neverempty.agents.scripted import Flaky, Honest, Misreporting
from neverempty.demo.data import demo_cases
from neverempty.demo.tools import THINGS, TOOLS
from neverempty.report.export import export

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cases, settings = demo_cases(), {"arms": ["typed"], "repeats": 2, "seed": 7, "progress": False}
    base = ne.evaluate(Honest(TOOLS, THINGS), cases, **settings)
    worse = ne.evaluate(Flaky(Misreporting(TOOLS, 0.2, THINGS), crash=0.02), cases, **settings)
    return export(ne.gate(base, worse), tmp_path_factory.mktemp("page"), ["html"])["html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_asks_for_nothing_complains_of_nothing_and_fits(
    chromium: Any, page_file: Path, width: int, scheme: str
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(page_file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").inner_text() == "Regression"
    assert page.locator("mark.absence").count() > 1
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).position") == "sticky"
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) == 1
    assert complaints == []
    context.close()


def test_the_keyboard_reaches_the_report_and_opens_a_case(chromium: Any, page_file: Path) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(page_file.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator("a.skip").bounding_box()["x"] == 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    closed = page.locator("details.case:not([open]) > summary").first
    closed.focus()
    before = page.locator("details.case[open]").count()
    page.keyboard.press("Enter")
    assert page.locator("details.case[open]").count() == before + 1
    page.close()


def test_paper_has_the_folded_parts_too(chromium: Any, page_file: Path) -> None:
    page = chromium.new_page()
    page.goto(page_file.as_uri())
    page.emulate_media(media="print")
    folded = page.locator("details:not([open]) dl").first
    assert folded.evaluate("one => one.getBoundingClientRect().height") > 0
    assert not page.locator("nav").is_visible()
    page.close()
