"""Making a report the baseline: in one step, only a whole one, with who and when."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neverempty import InputError, Report, UsageError
from neverempty.gating import promote, promotion_of

WHEN = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
def saved(report: Any, tmp_path: Path) -> Any:
    def save(name: str, cases: str = "9*ppp", **rest: Any) -> Path:
        return report(cases, **rest).save(tmp_path / name)  # type: ignore[no-any-return]

    return save


def test_a_promoted_report_is_the_same_report(saved: Any, tmp_path: Path) -> None:
    first = saved("first")
    noted = promote(first, tmp_path / "base", by="Ann", at=WHEN)
    assert Report.load(tmp_path / "base") == Report.load(first)
    assert (noted.by, noted.at, noted.previous_sha256) == ("Ann", "2026-03-04T05:06:07+00:00", None)
    assert promotion_of(tmp_path / "base") == noted
    assert promotion_of(first) is None


def test_the_next_baseline_names_the_one_before(saved: Any, tmp_path: Path) -> None:
    first = promote(saved("first"), tmp_path / "base", by="Ann", at=WHEN)
    second = promote(saved("second", "8*ppp fff"), tmp_path / "base", by="Bo", at=WHEN)
    assert second.previous_sha256 == first.report_sha256 != second.report_sha256
    assert Report.load(tmp_path / "base") == Report.load(tmp_path / "second")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base", "first", "second"]


def test_a_baseline_that_was_edited_after_its_review_is_refused(saved: Any, tmp_path: Path) -> None:
    promote(saved("first"), tmp_path / "base", by="Ann", at=WHEN)
    index = tmp_path / "base" / "report.json"
    index.write_text(index.read_text().replace('"m-1"', '"m-2"') + " ")
    with pytest.raises(InputError, match="is not the report that Ann promoted"):
        promotion_of(tmp_path / "base")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "x"}', '{"schema": "neverempty.promotion", "who": 1}']
)
def test_a_broken_note_is_refused(text: str, saved: Any, tmp_path: Path) -> None:
    promote(saved("first"), tmp_path / "base", by="Ann", at=WHEN)
    (tmp_path / "base" / "promoted.json").write_text(text)
    with pytest.raises(InputError, match="promote the baseline anew"):
        promotion_of(tmp_path / "base")


def test_only_a_whole_report_becomes_the_baseline(saved: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="interrupted"):
        promote(saved("cut", status="interrupted"), tmp_path / "base", by="Ann")
    with pytest.raises(InputError, match="there is no report"):
        promote(tmp_path / "nowhere", tmp_path / "base", by="Ann")
    edited = saved("edited")
    (edited / "scores.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"scores.jsonl: is not the file"):
        promote(edited, tmp_path / "base", by="Ann")
    assert not (tmp_path / "base").exists()


def test_a_promotion_that_breaks_leaves_the_old_baseline(
    saved: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = promote(saved("first"), tmp_path / "base", by="Ann", at=WHEN)
    second = saved("second", "8*ppp fff")
    real = os.replace

    def breaks(source: Any, target: Any) -> None:
        if str(source).endswith(".new"):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", breaks)
    with pytest.raises(KeyboardInterrupt):
        promote(second, tmp_path / "base", by="Bo", at=WHEN)
    assert promotion_of(tmp_path / "base") == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base", "first", "second"]


def test_a_folder_of_something_else_is_left_alone(saved: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something that is no report"):
        promote(saved("first"), tmp_path / "notes", by="Ann")
    assert (tmp_path / "notes" / "mine.txt").read_text() == "mine"


def test_nobody_and_nothing_new_is_refused(saved: Any, tmp_path: Path) -> None:
    first = saved("first")
    with pytest.raises(UsageError, match="who reviewed"):
        promote(first, tmp_path / "base", by=" ")
    with pytest.raises(UsageError, match="is the baseline already"):
        promote(first, first, by="Ann")
