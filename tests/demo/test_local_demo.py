"""The local model's demonstration on a pretended model: live, kept, gone on with, and replayed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neverempty._errors import InputError, UsageError
from neverempty.demo import local
from neverempty.demo.local import LocalResult, replay_local, run_local
from neverempty.demo.local_plan import Part, parts
from neverempty.demo.local_report import Wording, wordings_ranked


class Model:
    """Discloses a failure only where the note holds the words of an answer."""

    asked = 0
    model = "pretender"

    def __init__(self, *args: Any) -> None:
        self.closed = False

    def complete(self, prefix: str, rest: str, params: Any) -> dict[str, Any]:
        type(self).asked += 1
        disclosed = "Answer along these lines" in rest or "isError" in rest
        text = " The search failed." if disclosed else " There are no results."
        return {"content": text, "tokens_evaluated": 1, "tokens_predicted": 1, "stop_type": "word"}

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def small(monkeypatch, tmp_path) -> None:
    """Put the pretender in the place of the model, and a few cases in the place of all."""
    shorter = tuple(Part(part.name, part.cases[:16], part.arms, part.repeats) for part in parts())
    monkeypatch.setattr(local, "parts", lambda: shorter)
    monkeypatch.setattr(local, "LocalServer", Model)
    monkeypatch.setattr(local, "find_weights", lambda weights: tmp_path / "tiny.gguf")
    Model.asked = 0


def _value(result: LocalResult, metric: str, arm: str) -> float:
    metrics = result.metrics
    return float(metrics[(metrics["metric"] == metric) & (metrics["arm"] == arm)]["value"].iloc[0])


def test_what_the_model_does_shows_in_rates_pairs_and_ranking(small):
    result = run_local(progress=False)
    assert result.model == "pretender"
    assert _value(result, "misreport_as_empty", "typed/both_data") == 1
    assert _value(result, "misreport_as_empty", "flagged/both_data") == 0
    assert _value(result, "undisclosed", "typed:answer/zero_shot") == 0
    ranked = wordings_ranked(result.metrics)
    assert ranked[0] == Wording("answer", 0, 48)
    assert len(ranked) == 4
    pair = result.pairs[(result.pairs["first"] == "swallowed/both_data")].set_index("second")
    assert pair.loc["flagged/both_data", ["first_only", "second_only"]].tolist() == [16, 0]
    assert pair.loc["flagged/both_data", "p_holm"] < 0.01
    assert pair.loc["raised/both_data", "p_holm"] == 1


def test_the_report_names_the_model_its_scope_and_every_table(small):
    text = str(run_local(progress=False))
    for words in ("# What pretender says when a tool fails", "this one model", "`one_disclosed`", "n = 16",
                  "## Controls", "which wording makes the model disclose?", "## Repeats at temperature 0.7",
                  "## Arms compared in pairs", "Holm"):  # fmt: skip
        assert words in text


def test_a_kept_run_is_recorded_goes_on_where_it_stopped_and_replays_to_the_same_report(small, tmp_path):
    live = run_local(folder=tmp_path, progress=False)
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == str(live)
    metrics = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert len(metrics) == len(live.metrics)
    asked = Model.asked
    assert str(run_local(folder=tmp_path, progress=False)) == str(live)
    assert Model.asked == asked
    assert str(replay_local(tmp_path / "recording.jsonl")) == str(live)


def test_a_part_of_a_recording_is_reported_without_the_rest(small, tmp_path):
    run_local(folder=tmp_path, progress=False)
    part = replay_local(tmp_path / "recording.jsonl", names=["errors"])
    assert set(part.pairs["metric"]) == {"misreport_as_empty"}
    assert "not measured" in str(part)
    with pytest.raises(UsageError, match="no part 'error'; use one of errors, controls"):
        replay_local(tmp_path / "recording.jsonl", names=["error"])
    with pytest.raises(UsageError, match="name at least one part"):
        replay_local(tmp_path / "recording.jsonl", names=[])


def test_a_missing_recording_is_named(tmp_path):
    with pytest.raises((UsageError, InputError), match="nothing"):
        replay_local(tmp_path / "nothing.jsonl")
