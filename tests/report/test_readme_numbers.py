"""A README's numbers are those of its reports, or the check says that they are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from neverempty import InputError
from neverempty.cli.app import main
from neverempty.report import Report
from neverempty.report.readme_numbers import Source, region, replaced, source_of

ReportOf = Callable[..., Report]
_PAGE = "# Title\n\n<!-- numbers:start -->\nold\n<!-- numbers:end -->\n\nAfter.\n"


@pytest.fixture
def saved(report_of: ReportOf, tmp_path: Path) -> Path:
    report = report_of(["There are no jobs."] * 24 + ["The search failed."] * 36)
    return report.save(tmp_path / "saved")


def test_a_stale_readme_fails_and_a_written_one_passes(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "README.md"
    page.write_text(_PAGE, encoding="utf-8", newline="")
    assert main(["readme", str(saved), "--check", str(page)]) == 4
    assert "its numbers are not those of the reports" in capsys.readouterr().err
    assert main(["readme", str(saved), "--write", str(page)]) == 0
    text = page.read_bytes().decode("utf-8")
    assert "| `typed` | 40.0 % (28.6 % to 52.6 %), n = 60 | 40.0 % (28.6 % to 52.6 %), n = 60 |" in text
    assert text.startswith("# Title\n\n<!-- numbers:start -->\n")
    assert text.endswith("<!-- numbers:end -->\n\nAfter.\n")
    assert main(["readme", str(saved), "--check", str(page)]) == 0
    page.write_text(text.replace("40.0 %", "4.0 %"), encoding="utf-8", newline="")
    assert main(["readme", str(saved), "--check", str(page)]) == 4


@pytest.mark.parametrize(
    "text",
    ["", "<!-- numbers:start -->", "<!-- numbers:end --> <!-- numbers:start -->", _PAGE * 2],
)
def test_a_readme_without_one_region_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="once each, in this order"):
        replaced(text, "new\n")


def test_small_reports_keep_the_refusals(report_of: ReportOf) -> None:
    few = source_of(report_of(["There are no jobs."] * 2 + ["The search failed."] * 3), "few")
    some = source_of(report_of(["There are no jobs."] * 8 + ["The search failed."] * 12), "some")
    broken = source_of(report_of(["There are no jobs."] * 50 + [("", "budget_stopped")]), "broken")
    texts = [region([one]) for one in (few, some, broken)]
    assert "2 of 5, n = 5" in texts[0]
    assert "40.0 % (indicative)" in texts[1]
    assert "withheld, n = 50" in texts[2]
    assert " %" not in texts[2].replace("95 %", "")


def test_prompts_and_presentations_make_a_grid(report_of: ReportOf) -> None:
    import pandas as pd

    metrics = report_of(["There are no jobs."] * 24 + ["The search failed."] * 36).metrics
    arms = [
        {"name": f"{shown}/{prompt}", "presentation": shown, "prompt": prompt}
        for prompt in ("one", "two")
        for shown in ("typed", "raised")
    ]
    frame = pd.concat([metrics.assign(arm=arm["name"]) for arm in arms], ignore_index=True)
    source = Source("datasets/x", frame, tuple(arms), 60, 1, ("m",), "1")
    lines = region([source]).splitlines()
    assert lines.count("| prompt | typed | raised |") == 2
    assert sum(line.startswith(("| `one` | 40.0 %", "| `two` | 40.0 %")) for line in lines) == 4
    without_one = source._replace(arms=tuple(arms[:3]))
    assert "| arm | misreport_as_empty | undisclosed |" in region([without_one])


def test_names_from_outside_cannot_break_the_page(report_of: ReportOf) -> None:
    report = report_of(["There are no jobs."] * 60)
    source = source_of(report, "a b")._replace(models=("<script>|@x",), arms=({"name": "`|<b>"},))
    text = region([source])
    assert "<script>" not in text
    assert "<b>" not in text
    assert "](a%20b)" in text
