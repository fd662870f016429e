"""The committed recording: replayed without a model, it gives the committed metrics and report."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from neverempty.demo.data import dataset
from neverempty.demo.local import LocalResult, replay_local
from neverempty.demo.local_plan import parts
from neverempty.demo.local_report import wordings_ranked
from neverempty.results import ERROR_NOTE, ERROR_WORDINGS

AGAIN = (
    "the reader or the scorers have changed; write the report anew: "
    "python -c \"from neverempty.demo.local import replay_local; replay_local().save('datasets/local')\""
)


@pytest.fixture(scope="module")
def result() -> LocalResult:
    return replay_local()


def test_every_answer_is_in_the_recording(result):
    assert len(result.traces) == sum(len(part.cases) * len(part.arms) * part.repeats for part in parts())
    assert set(result.traces["status"]) == {"ok"}
    assert result.model == "SmolLM2-135M-Instruct.Q4_1"


def test_every_fault_was_seen_by_the_model(result):
    planned = result.traces[result.traces["fault_kind"] != "none"]
    assert set(planned["fault_state"]) == {"seen"}


def test_the_replay_gives_the_committed_report_and_metrics(result, tmp_path):
    result.save(tmp_path)
    for name in ("report.md", "metrics.jsonl"):
        committed = dataset(f"local/{name}").read_text(encoding="utf-8")
        assert _unversioned((tmp_path / name).read_text(encoding="utf-8")) == _unversioned(committed), AGAIN


def _unversioned(text: str) -> str:
    """Leave the patterns' version out: rules for other languages change it, but no figure here."""
    return re.sub(r"patterns 1-[0-9a-f]{12}", "patterns", text)


def test_the_default_note_is_the_wording_that_was_disclosed_under_most(result):
    assert ERROR_WORDINGS[wordings_ranked(result.metrics)[0].name] == ERROR_NOTE


def test_at_least_60_failing_cases_are_measured_under_every_arm(result):
    undisclosed = result.metrics[result.metrics["metric"] == "undisclosed"]
    assert (undisclosed["n_measured"] >= 60).all()


def test_the_files_stay_small():
    sizes = pd.Series({p.name: p.stat().st_size for p in dataset("local/recording.jsonl").parent.iterdir()})
    assert sizes.sum() < 3_000_000
