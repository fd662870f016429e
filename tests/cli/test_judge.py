"""`neverempty judge calibrate`: what is printed, and with which exit code."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from neverempty.cli.app import main
from neverempty.judge import VERDICTS
from neverempty.stats import DegenerateTableWarning


def _write(file: Path, rows: list[dict[str, Any]]) -> str:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def _rows(right: int, wrong: int, language: str = "en") -> list[dict[str, Any]]:
    """Make labels with verdicts: of each label, so many right, and so many taken for the next one."""
    return [
        {
            "id": f"{language}-{label}-{at}",
            "label": label,
            "judge_label": label if at < right else VERDICTS[(place + 1) % 3],
            "language": language,
            "judge_id": "j1",
        }
        for place, label in enumerate(VERDICTS)
        for at in range(right + wrong)
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "level", "code"),
    [(60, 4, "trusted", 0), (14, 5, "provisional", 0), (10, 16, "cut", 3), (3, 0, "not_measured", 3)],
)
def test_the_exit_code_follows_from_the_trust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: int, wrong: int, level: str, code: int
) -> None:
    labels = _write(tmp_path / "labels.jsonl", _rows(right, wrong))
    assert main(["judge", "calibrate", labels]) == code
    out = capsys.readouterr().out
    total = 3 * (right + wrong)
    assert out.startswith(f"{level}: ")
    assert f"{total} of {total} claims judged" in out
    assert main(["judge", "calibrate", labels, "--json"]) == code
    said = json.loads(capsys.readouterr().out)
    assert (said["trust"], said["judge_id"], said["n"]) == (level, "j1", total)
    assert sum(map(sum, said["matrix"])) == total


def test_a_provisional_judge_is_told_how_many_labels_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["judge", "calibrate", _write(tmp_path / "labels.jsonl", _rows(14, 5))])
    assert "trusted after about " in capsys.readouterr().out


@pytest.mark.parametrize("outcome", ["judge_error", "abstained", None])
def test_a_judge_that_was_silent_on_the_hard_half_is_cut_and_its_silence_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], outcome: str | None
) -> None:
    rows = _rows(20, 20)
    judged = [
        {"id": row["id"], "judge_id": "j1", "outcome": row["judge_label"]}
        for row in rows
        if row["label"] == row["judge_label"]
    ]
    told = {row["id"] for row in judged}
    if outcome is not None:
        silent = [row["id"] for row in rows if row["id"] not in told]
        judged += [{"id": name, "judge_id": "j1", "outcome": outcome} for name in silent]
    labels = _write(tmp_path / "labels.jsonl", rows)
    replay = _write(tmp_path / "judged.jsonl", judged)
    assert main(["judge", "calibrate", labels, "--replay", replay]) == 3
    out = capsys.readouterr().out
    assert out.startswith("cut: only 60 of 120 labelled claims were judged")
    assert "(60): en-supported-20" in out
    assert "and 50 more" in out


def test_one_category_alone_is_agreement_without_a_kappa_and_json_null(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": str(at), "label": "supported", "judge_label": "supported"} for at in range(5)]
    labels = _write(tmp_path / "labels.jsonl", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateTableWarning)
        assert main(["judge", "calibrate", labels, "--json"]) == 3
        raw = capsys.readouterr().out
        assert main(["judge", "calibrate", labels]) == 3
    said = json.loads(raw)
    assert "NaN" not in raw
    assert (said["agreement"], said["kappa"], said["lo"], said["matrix"][0][0]) == (1.0, None, None, 5)
    assert "kappa not measured" in capsys.readouterr().out


def test_languages_with_few_labels_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = _write(tmp_path / "labels.jsonl", _rows(40, 0) + _rows(2, 0, "hi"))
    assert main(["judge", "calibrate", labels]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("hi ")]
    assert "6 of 6" in line
    assert "too few to say" in line


@pytest.mark.parametrize(
    ("labels", "judged", "code", "words"),
    [
        ("{", None, 4, "labels.jsonl:1"),
        ('{"id": "a", "label": "supported"}', '{"id": "a"}', 4, "judged.jsonl:1: 'outcome' is None"),
        ('{"id": "a", "label": "supported"}', None, 64, "nothing says what the judge said"),
        ('{"id": "a", "label": "x\\ud800\\u0000<b>"}', None, 4, "none of supported"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    labels: str,
    judged: str | None,
    code: int,
    words: str,
) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(labels + "\n", encoding="utf-8")
    args = ["judge", "calibrate", str(file)]
    if judged is not None:
        other = tmp_path / "judged.jsonl"
        other.write_text(judged + "\n", encoding="utf-8")
        args += ["--replay", str(other)]
    assert main(args) == code
    assert words in capsys.readouterr().err


def test_an_empty_file_of_labels_measures_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "calibrate", _write(tmp_path / "labels.jsonl", [])]) == 3
    assert "0 of 0 claims judged" in capsys.readouterr().out
