"""Exports: whatever an agent wrote, every file is valid and claims no more than was earned."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import neverempty as ne
from neverempty import UsageError
from neverempty.gating import gate
from neverempty.report import Report
from neverempty.report.export import FORMATS, export
from neverempty.report.export_content import content_of
from neverempty.report.export_health import LEVELS, health_of
from neverempty.report.job_summary import MOST_BYTES, job_summary
from neverempty.report.markdown_fit import MARKER, comment

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


def test_the_words_that_made_the_label_are_marked(report_of: ReportOf, tmp_path: Path) -> None:
    report = report_of(["Sorry <b>, there are no jobs & that is it."])
    text = export(report, tmp_path, ["html"])["html"].read_text(encoding="utf-8")
    assert re.search(r'<mark class="absence"[^>]*>there are no[^<]*</mark>', text)
    assert "Sorry &lt;b&gt;, " in text


def test_the_same_report_gives_the_same_bytes_in_another_process(report_of: ReportOf, tmp_path: Path) -> None:
    report = report_of(["There are no jobs.", "The search failed."] * 30)
    report.save(tmp_path / "saved")
    here = export(Report.load(tmp_path / "saved"), tmp_path / "here")
    script = (
        "import sys; from neverempty.report import Report; from neverempty.report.export import export; "
        "export(Report.load(sys.argv[1]), sys.argv[2])"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "saved"), str(tmp_path / "there")], check=True
    )
    there = {name: tmp_path / "there" / path.relative_to(tmp_path / "here") for name, path in here.items()}
    assert {name for name, path in here.items() if path.read_bytes() != there[name].read_bytes()} == set()


@pytest.mark.parametrize(
    ("n", "shown", "hidden"),
    [
        (5, "2 of 5", "40.0 %"),
        (20, "40.0 % (indicative)", "\0"),
        (60, "40.0 %", "40.0 % (indicative)"),
    ],
)
def test_every_format_refuses_what_was_not_earned(
    report_of: ReportOf, tmp_path: Path, n: int, shown: str, hidden: str
) -> None:
    report = report_of(["There are no jobs."] * (n * 2 // 5) + ["The search failed."] * (n - n * 2 // 5))
    written = export(report, tmp_path)
    for name in ("html", "markdown", "summary", "json", "csv/metrics"):
        text = written[name].read_text(encoding="utf-8")
        assert shown in text, name
        assert hidden not in text, name
    (row,) = [
        one
        for one in json.loads(written["json"].read_text())["metrics"]
        if one["metric"] == "misreport_as_empty"
    ]
    assert (row["value"] is None) == (n < 10)
    assert row["indicative"] == (n == 20)


def test_a_report_that_is_not_whole_shows_no_number_anywhere(report_of: ReportOf, tmp_path: Path) -> None:
    report = report_of(["There are no jobs."] * 60 + [("", "budget_stopped")] * 4)
    assert report.status == "budget_stopped"
    written = export(report, tmp_path)
    for name in ("html", "markdown", "summary", "json", "csv/metrics", "badge"):
        assert not re.search(r"\d\.\d %", written[name].read_text(encoding="utf-8")), name
    assert "withheld" in written["html"].read_text(encoding="utf-8")


def _judged(report: Report, **facts: Any) -> Report:
    frames = {name: getattr(report, name) for name in ("traces", "scores", "outcomes", "metrics")}
    provenance = report.provenance | {"judges": {"misreport_as_empty": facts}}
    return type(report)(frames, provenance, report._status)


def test_a_judge_without_agreement_has_its_numbers_cut(report_of: ReportOf, tmp_path: Path) -> None:
    report = report_of(["There are no jobs."] * 24 + ["The search failed."] * 36)
    unknown, known = _judged(report), _judged(report, agreement=0.82, n=60)
    for at, (one, cut) in enumerate(((unknown, True), (known, False))):
        written = export(one, tmp_path / str(at))
        (row,) = [
            one
            for one in json.loads(written["json"].read_text())["metrics"]
            if one["metric"] == "misreport_as_empty"
        ]
        assert (row["shown"], row["value"]) == (("withheld", None) if cut else ("40.0 %", 0.4))
        for text in (one.render("markdown"), one.render("html"), written["csv/metrics"].read_text()):
            line = next(line for line in text.splitlines() if "misreport" in line)
            assert ("withheld" in line) == cut
        assert (json.loads(written["badge"].read_text())["message"] == "n/a") == cut


def test_a_badge_is_earned_or_reads_na(report_of: ReportOf, tmp_path: Path) -> None:
    good = report_of(["The search failed."] * 60)
    few = report_of(["The search failed."] * 20)
    messages = []
    for subject in (good, few, gate(None, good), gate(None, few)):
        badge = json.loads(export(subject, tmp_path, [])["badge"].read_text())
        assert badge["schemaVersion"] == 1
        messages.append(badge["message"])
    assert messages[0] == "misreports 0.0 %, false alarms n/a, undisclosed 0.0 %"
    assert messages[1] == "n/a"
    assert messages[2].startswith("pass, misreports 0.0 %")


def test_an_old_badge_is_withdrawn_even_where_the_report_is_gone(report_of: ReportOf, tmp_path: Path) -> None:
    from neverempty.cli.app import main

    export(report_of(["The search failed."] * 60), tmp_path)
    assert "0.0 %" in (tmp_path / "badge.json").read_text()
    assert main(["export", str(tmp_path / "nowhere"), "--out", str(tmp_path)]) == 4
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "n/a"


def test_the_command_writes_and_exits_with_the_status(report_of: ReportOf, tmp_path: Path) -> None:
    from neverempty.cli.app import main

    saved = report_of(["The search failed."] * 3 + [("", "agent_error")] * 3).save(tmp_path / "saved")
    assert main(["export", str(saved), "--out", str(tmp_path / "out"), "--format", "html"]) == 4
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["badge.json", "report.html"]
    assert main(["export", str(saved), "--out", str(tmp_path / "out"), "--format", "pdf"]) == 64


def test_an_export_beside_the_report_leaves_the_report_whole(report_of: ReportOf, tmp_path: Path) -> None:
    report = report_of(["The search failed."] * 3)
    report.save(tmp_path)
    export(report, tmp_path)
    assert Report.load(tmp_path) == report


def test_what_an_earlier_export_left_is_taken_away(report_of: ReportOf, tmp_path: Path) -> None:
    base = report_of(["The search failed."] * 60)
    worse = report_of(["There are no jobs."] * 10 + ["The search failed."] * 50)
    written = export(gate(base, worse), tmp_path)
    assert written["csv/flips"].read_text(encoding="utf-8").count("regressed") >= 10
    export(worse, tmp_path)
    assert not written["csv/flips"].exists()


def test_a_decision_leads_every_file(report_of: ReportOf, tmp_path: Path) -> None:
    base = report_of(["The search failed."] * 60)
    worse = report_of(["There are no jobs."] * 10 + ["The search failed."] * 50)
    decision = gate(base, worse)
    assert decision.exit_code == 1
    written = export(decision, tmp_path)
    assert "<h1>Regression</h1>" in written["html"].read_text(encoding="utf-8")
    assert "# \u274c Regression" in written["markdown"].read_text(encoding="utf-8").splitlines()[1]
    assert "safety_worse" in written["junit"].read_text(encoding="utf-8")
    assert json.loads(written["json"].read_text())["decision"]["comparison"]["flips"]
    assert json.loads(written["badge"].read_text())["color"] == "red"


def test_no_signal_never_ranks_below_ok(report_of: ReportOf) -> None:
    found = health_of(report_of(["The search failed."] * 3 + [("", "agent_timeout")] * 3))
    ranks = [LEVELS.index(one.level) for one in found]
    assert ranks == sorted(ranks)
    assert LEVELS.index("no signal") < LEVELS.index("ok")
    assert any(one.level == "broken" and "agent_timeout 3" in one.detail for one in found)


def test_a_large_summary_is_trimmed_by_sections_and_says_so(report_of: ReportOf) -> None:
    content = content_of(report_of(["The search failed."] * 3))
    (table,) = next(one.tables for one in content.sections if one.key == "metrics")
    long = table._replace(rows=[("x" * 250, *row[1:]) for row in table.rows] * 3_000)
    sections = tuple(
        one._replace(tables=(long,) * 20) if one.key == "health" else one for one in content.sections
    )
    import dataclasses

    text = job_summary(dataclasses.replace(content, sections=sections))
    assert len(text.encode("utf-8")) <= MOST_BYTES
    assert "in the HTML report" in text
    short = comment(dataclasses.replace(content, sections=sections))
    assert "Trimmed for size. Left out:" in short
    assert "Health" in short.rpartition("Left out:")[2]


def test_scores_without_the_failure_family_are_exported_all_the_same(tmp_path: Path) -> None:
    case = ne.Case(id="a", input={"payload": "Any jobs?"})
    report = ne.evaluate(
        lambda case, tracer: "Hello.",
        [case],
        progress=False,
        scorers=[_Polite()],
    )
    written = export(report, tmp_path)
    assert set(FORMATS) <= {name.partition("/")[0] for name in written}
    assert "nobody knows" in written["html"].read_text(encoding="utf-8")


class _Polite:
    name, version = "polite", "1"
    metrics = (ne.MetricSpec("polite"),)

    def score(self, trace: Any, case: Any) -> Any:
        yield ne.Score("polite", "yes", "pass")


def test_unknown_formats_and_decisions_about_frames_are_refused_in_words(
    report_of: ReportOf, tmp_path: Path
) -> None:
    report = report_of(["The search failed."])
    with pytest.raises(UsageError, match="there is no format 'htm'"):
        export(report, tmp_path, "htm")
    with pytest.raises(UsageError, match="the decision is about frames"):
        export(gate(None, report.outcomes), tmp_path)
