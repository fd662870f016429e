"""A hundred hostile answers through every writer: each file stays valid, and nothing breaks out."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from neverempty.gating import gate
from neverempty.report import Report
from neverempty.report.export import export
from neverempty.report.markdown_fit import MARKER

ReportOf = Callable[..., Report]

_VOID = {"meta", "link"}
_HOSTILE = (
    "<script>alert(1)</script>",
    "</script></style></title><svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "]]> <![CDATA[ &#0; &amp; <!-- -->",
    "| a | b |\n|---|---|\n| x | y |",
    "# heading\n\n- @someone fixes #1, GH-2 and `code`",
    "[link](javascript:alert(1)) ![x](http://example.invalid/x.png)",
    "```\nfence\n``` ~~~ <!-- neverempty:report -->",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "+1-2",
    "\t=1+1",
    "\x1b[31mred\x1b[0m \x07",
    "\u202eright to left\u2066 \u200b",
    "NUL \x00 and \x0b and \x7f and \ufffe\uffff",
    "lone \ud835 surrogates \udc00",
    "\r\nTwo\rlines\u2028more\u2029",
    "There are no jobs. <b>None</b>",
    "",
    "x" * 1_000_000,
)


def _answers() -> list[str]:
    endings = ("", " There are no jobs.", " The search failed.", "\n</td></tr></table>", " \U0001f600\ud83d")
    texts = [f"{text}{ending}" for text in _HOSTILE for ending in endings]
    # one of a megabyte is enough
    return [
        text if at == len(texts) - 1 or len(text) < 10_000 else text[:9_000] for at, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def hostile_report(report_of: ReportOf) -> Report:
    return report_of([*_answers(), *([("\x00 <crash>", "agent_error")] * 4)])


@pytest.fixture(scope="module")
def files(hostile_report: Report, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("hostile")
    written = export(gate(None, hostile_report), folder)
    return {name: path.read_bytes().decode("utf-8") for name, path in written.items()}


class _Page(HTMLParser):
    """Collects what a page is made of, and fails where a tag is closed that is not open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.mismatched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.mismatched.append(tag)


def _parse(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    page.close()
    return page


def test_a_hundred_hostile_answers_are_tried(hostile_report: Report) -> None:
    assert len(hostile_report.traces) >= 100
    assert hostile_report.traces["answer"].str.len().max() >= 1_000_000


def test_html_stays_well_formed_and_runs_nothing(files: dict[str, str]) -> None:
    page = _parse(files["html"])
    assert (page.open, page.mismatched) == ([], [])
    assert not page.tags & {"script", "img", "iframe", "object", "form", "base"}
    assert [name for name, _ in page.attributes if name.startswith("on")] == []
    links = [value for name, value in page.attributes if name in ("href", "src")]
    assert all(value is not None and (value.startswith("#") or value == "data:,") for value in links)
    assert "default-src 'none'" in files["html"]
    assert len(files["html"]) < 1_000_000


def test_no_file_holds_what_a_terminal_or_reader_would_act_upon(files: dict[str, str]) -> None:
    acted = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
    shown = {name for name in files if name != "json"}
    assert {name for name in shown if acted.search(files[name])} == set()


@pytest.mark.parametrize("name", ["markdown", "summary"])
def test_markdown_keeps_its_tables_and_mentions_nobody(files: dict[str, str], name: str) -> None:
    lines = files[name].splitlines()
    assert not re.search(r"(?<![\w`\\])@(?!\u200b)\w", files[name])
    assert "<script" not in files[name]
    assert "<img" not in files[name]
    assert not re.search(r"(?<!\\)\[link", files[name])
    for at, line in enumerate(lines):
        if re.fullmatch(r"(\|---)+\|", line):
            width = line.count("|")
            rows = [line for line in lines[at - 1 :] if line.startswith("|")]
            assert rows
            for row in _until_blank(lines[at - 1 :]):
                assert len(re.findall(r"(?<!\\)\|", row)) == width


def _until_blank(lines: list[str]) -> list[str]:
    return lines[: lines.index("")] if "" in lines else lines


def test_the_comment_is_short_and_can_be_replaced(files: dict[str, str]) -> None:
    assert files["markdown"].startswith(MARKER)
    assert files["markdown"].count(MARKER) == 1
    assert len(files["markdown"].splitlines()) < 100
    assert len(files["markdown"]) < 65_536


def test_junit_is_xml_with_an_error_for_each_silent_check(
    files: dict[str, str], hostile_report: Report
) -> None:
    root = ElementTree.fromstring(files["junit"])
    errors = root.findall(".//testcase/error")
    outcomes = hostile_report.outcomes
    checks = outcomes[(outcomes["collapse"] != "median") & (outcomes["metric"] != "recovered")]
    silent = int((checks["verdict"].astype("str") == "no_signal").sum())
    assert silent > 0
    assert len([error for error in errors if "no signal" in (error.text or "")]) == silent
    assert root.findall(".//skipped") == []
    for broken in [*errors, *root.findall(".//testcase/failure")]:
        assert (broken.text or "").startswith(broken.attrib["message"])
    assert int(root.attrib["tests"]) == len(root.findall(".//testcase"))


def test_json_is_strict_and_versioned(files: dict[str, str]) -> None:
    def refuse(name: str) -> Any:
        raise ValueError(name)

    data = json.loads(files["json"], parse_constant=refuse)
    assert (data["schema"], data["schema_version"]) == ("neverempty.export", 1)
    assert data["cases"]["total"] == len(_answers()) + 4


def test_csv_is_read_back_with_every_row_and_no_formula(
    files: dict[str, str], hostile_report: Report
) -> None:
    for name in ("traces", "calls", "scores", "outcomes"):
        rows = list(csv.reader(io.StringIO(files[f"csv/{name}"], newline=""), strict=True))
        assert len(rows) == 1 + len(getattr(hostile_report, name))
        assert {len(row) for row in rows} == {len(rows[0])}
        texts = [cell for row in rows for cell in row if not _is_number(cell)]
        assert [text for text in texts if text.strip(" ")[:1] in ("=", "+", "-", "@", "\t", "\r")] == []


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", cell) is not None
