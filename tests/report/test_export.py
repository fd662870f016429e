"""Exports say the verdict first, the same bytes each time, and no more than was earned."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
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
from neverempty.report.markdown_fit import comment

ReportOf = Callable[..., Report]


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


def test_secrets_stay_out_of_every_file(report_of: ReportOf, tmp_path: Path) -> None:
    secret = "sk-" + "A1b2C3d4" * 6
    report = report_of([f"There are no jobs; the key is {secret}."] * 3)
    call = report.traces["calls"].iloc[0][0]
    report.traces["calls"].iloc[0][0] = type(call)(
        0, "search", {"api_key": "hunter22"}, "error", injected=True
    )
    written = export(report, tmp_path)
    for name, path in written.items():
        assert secret not in path.read_text(encoding="utf-8"), name
        assert "hunter22" not in path.read_text(encoding="utf-8"), name
