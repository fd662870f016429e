"""Reports: status, saving and loading, rendering, provenance."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pandas as pd
import pytest

from neverempty import InputError, UsageError
from neverempty.frames import read_frame
from neverempty.report import Report, compact, evaluate
from neverempty.report.provenance import git_state

ABSENCE, FAILURE = "There are no open jobs.", "The search failed."
FILES = ["metrics.jsonl", "outcomes.jsonl", "report.json", "scores.jsonl", "traces.jsonl"]


@pytest.mark.parametrize(
    ("answers", "settings", "status"),
    [
        ([], {}, "no_cases"),
        ([ABSENCE], {}, "ok"),
        ([ABSENCE, (None, "agent_timeout")], {}, "partial_errors"),
        ([ABSENCE, (None, "replay_miss")], {}, "partial_errors"),
        ([(None, "agent_error")] * 2, {}, "nothing_measured"),
        ([ABSENCE, (None, "budget_stopped")], {}, "budget_stopped"),
        ([ABSENCE], {"repeats": 2}, "incomplete"),
        ([ABSENCE], {"repeats": None}, "ok"),
        ([ABSENCE], {"interrupted": True, "repeats": 2}, "interrupted"),
    ],
)
def test_status(answers: Any, settings: Any, status: str, report_of: Any) -> None:
    report = report_of(answers, **settings)
    assert report.status == status
    assert bool(report.status_reason) == (status != "ok")


def test_a_report_is_equal_after_saving_and_loading(
    report_of: Any, hostile: str, hostile_tag: str, tmp_path: Any
) -> None:
    report = report_of(
        [ABSENCE, hostile, None, (None, "agent_timeout")], tag=hostile_tag, by=["language", "fault_kind"]
    )
    report.save(tmp_path / "r")
    loaded = Report.load(tmp_path / "r")
    assert loaded == report
    for name in ("traces", "calls", "scores", "outcomes", "metrics", "honesty"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(report, name))
    assert report_of([FAILURE]) != loaded


def test_saving_twice_writes_the_same_bytes_and_leaves_other_files_alone(
    report_of: Any, tmp_path: Any
) -> None:
    report = report_of([ABSENCE, FAILURE])
    (tmp_path / "notes.txt").write_text("mine")
    report.save(tmp_path)
    first = {name: (tmp_path / name).read_bytes() for name in FILES}
    Report.load(tmp_path).save(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == first
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "notes.txt"])


def test_every_frame_of_a_saved_report_can_be_read_alone(report_of: Any, tmp_path: Any) -> None:
    report_of([ABSENCE]).save(tmp_path)
    for name in ("traces", "scores", "outcomes", "metrics"):
        assert len(read_frame(tmp_path / f"{name}.jsonl", name))


def test_a_save_that_breaks_leaves_the_old_report_whole(
    report_of: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    old = report_of([ABSENCE])
    old.save(tmp_path)
    new = report_of([FAILURE, FAILURE])
    new.metrics.loc[0, "value"] = float("inf")
    with pytest.raises(InputError):
        new.save(tmp_path)
    assert Report.load(tmp_path) == old
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_files_that_do_not_belong_together_are_refused(report_of: Any, tmp_path: Any) -> None:
    report_of([ABSENCE]).save(tmp_path)
    path = tmp_path / "outcomes.jsonl"
    path.write_text(path.read_text().replace('"fail"', '"pass"'))
    with pytest.raises(InputError, match=r"outcomes\.jsonl: is not the file"):
        _ = Report.load(tmp_path).outcomes


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "report.json").unlink(), "there is no report here"),
        (lambda folder: (folder / "scores.jsonl").unlink(), "scores.jsonl: is missing"),
        (lambda folder: (folder / "report.json").write_text("{"), "report.json:1"),
        (lambda folder: (folder / "report.json").write_text("[]"), "is no report"),
        (lambda folder: edit(folder, schema_version=9), "schema version 9"),
        (lambda folder: edit(folder, status="great"), "status is missing or no value"),
        (lambda folder: edit(folder, provenance=None), "provenance is missing or no value"),
    ],
)
def test_a_damaged_report_is_refused_in_words(
    damage: Any, message: str, report_of: Any, tmp_path: Any
) -> None:
    report_of([ABSENCE]).save(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError, match=message):
        Report.load(tmp_path)


def edit(folder: Any, **fields: Any) -> None:
    path = folder / "report.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_a_loaded_report_reads_only_the_frames_that_are_asked_for(report_of: Any, tmp_path: Any) -> None:
    report_of([ABSENCE]).save(tmp_path)
    report = Report.load(tmp_path)
    (tmp_path / "traces.jsonl").write_text("torn")
    assert len(report.outcomes)


@pytest.mark.parametrize("to", ["markdown", "html"])
def test_rendering_shows_the_headlines_together_and_escapes_everything(
    to: str, report_of: Any, hostile: str, hostile_tag: str
) -> None:
    report = report_of([hostile, ABSENCE], tag=hostile_tag, by="tags")
    text = report.render(to)
    text.encode("utf-8")
    assert "<script>" not in text
    assert "@someone" not in text or to == "html"
    assert "\x1b" not in text
    plain = text.replace("\\", "")
    assert plain.index("misreport_as_empty") < plain.index("undisclosed")
    assert ("1 of 2" in plain) or ("2 of 2" in plain)


@pytest.mark.parametrize(
    ("n", "shown", "hidden"),
    [
        (0, "not measured", "0.0 %"),
        (9, "0 of 9", "0.0 %"),
        (49, "0.0 % (indicative)", "0 of 49"),
        (50, "0.0 % to", "indicative"),
    ],
)
def test_the_three_refusals(n: int, shown: str, hidden: str, report_of: Any) -> None:
    report = report_of([FAILURE] * n if n else [(None, "agent_error")])
    for to in ("markdown", "html"):
        line = next(
            line
            for line in report.render(to).replace("\\", "").replace("<tr>", "\n").splitlines()
            if "misreport_as_empty" in line
        )
        assert shown in line
        assert hidden not in line


def test_an_unknown_form_is_refused(report_of: Any) -> None:
    with pytest.raises(UsageError, match="neither"):
        report_of([ABSENCE]).render("pdf")


def test_the_same_inputs_render_to_the_same_text(report_of: Any) -> None:
    assert report_of([ABSENCE])._repr_html_() == report_of([ABSENCE])._repr_html_()
    assert report_of([ABSENCE]).to_markdown() == report_of([ABSENCE]).to_markdown()


def test_provenance_names_code_data_versions_and_times(report_of: Any) -> None:
    provenance = report_of([ABSENCE]).provenance
    assert provenance["started_at"] == "2026-03-04T05:06:07+00:00"
    assert provenance["finished_at"] == "2026-03-04T05:06:07.012500+00:00"
    assert (provenance["seed"], provenance["repeats"], provenance["n_expected"]) == (3, 1, 1)
    assert len(provenance["dataset_hash"]) == len(provenance["split_hash"]) == 64
    assert any(version.startswith("failure/") for version in provenance["scorer_versions"])
    assert provenance["libraries"]["pandas"] == pd.__version__
    json.dumps(provenance, allow_nan=False)


def test_git_state_tells_clean_from_dirty_and_no_repository(tmp_path: Any) -> None:
    assert git_state(tmp_path)["sha"] is None

    def git(*words: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True)

    git("init", "-q")
    assert git_state(tmp_path)["reason"] == "not a git repository with a commit"
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "m")
    assert git_state(tmp_path)["dirty"] is False
    (tmp_path / "a").write_text("2")
    assert git_state(tmp_path)["dirty"] is True


def test_the_repr_says_what_it_is(report_of: Any) -> None:
    assert repr(report_of([ABSENCE])) == "<Report: ok, 1 cases, 1 traces, arms: typed>"
    assert repr(report_of([])).startswith("<Report: no_cases, 0 cases")


def test_no_cases_evaluate_to_a_report_that_says_so() -> None:
    report = evaluate(lambda case, tracer: "Hello.", [])
    assert report.status == "no_cases"
    assert "no_cases" in report.to_markdown().replace("\\", "")


def test_a_large_report_is_packed_beside_its_rows_and_loads_the_same(
    report_of: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(compact, "ROWS", 2)
    report = report_of([ABSENCE, FAILURE, (None, "agent_timeout")])
    report.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "outcomes.npz"])
    quick = Report.load(tmp_path).outcomes
    monkeypatch.setattr(compact, "unpack", None)
    (tmp_path / "outcomes.npz").write_bytes(b"torn")
    pd.testing.assert_frame_equal(Report.load(tmp_path).outcomes, quick)
    pd.testing.assert_frame_equal(quick, report.outcomes)


def test_a_smaller_report_leaves_no_packed_frame_of_the_one_before(
    report_of: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(compact, "ROWS", 2)
    report_of([ABSENCE, FAILURE]).save(tmp_path)
    monkeypatch.undo()
    report_of([ABSENCE]).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_rows_that_were_edited_are_refused_however_the_packed_copy_looks(
    report_of: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(compact, "ROWS", 2)
    report_of([ABSENCE, FAILURE]).save(tmp_path)
    path = tmp_path / "outcomes.jsonl"
    path.write_text(path.read_text().replace('"fail"', '"pass"'))
    with pytest.raises(InputError, match="is not the file"):
        _ = Report.load(tmp_path).outcomes


def test_a_frame_with_columns_of_its_own_is_not_packed_and_noise_is_refused(report_of: Any) -> None:
    outcomes = report_of([ABSENCE]).outcomes
    assert compact.pack(outcomes.assign(mine=1), "outcomes") is None
    for noise in (b"", b"PK", compact.pack(outcomes, "outcomes")[:-40]):
        with pytest.raises(InputError, match="no packed frame"):
            compact.unpack(noise, "outcomes")
