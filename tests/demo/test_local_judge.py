"""Recording what the local model says of labelled claims: without the model, with a server that stands in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neverempty.demo import local_judge
from neverempty.demo.local_judge import JUDGED, LABELS, LocalJudge, record
from neverempty.judge import messages_for, read_judged

REPLY = {"verdict": "supported", "confidence": 0.9, "quotes": ["Two trams."], "reason": "so"}


class StandIn:
    """Answers as the server does, and keeps what it was asked."""

    model = "tiny"

    def __init__(self, weights: Any = None) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.closed = False

    def complete(self, prefix: str, rest: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((prefix, rest, params))
        return {"content": json.dumps(REPLY)}

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    found = StandIn()
    monkeypatch.setattr(local_judge, "find_weights", lambda: "weights")
    monkeypatch.setattr(local_judge, "LocalServer", lambda weights: found)
    return found


def _labels(folder: Path, *claims: str) -> None:
    rows = [
        {"id": f"c{at}", "claim": claim, "evidence": ["Two trams."], "label": "supported"}
        for at, claim in enumerate(claims)
    ]
    (folder / LABELS).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_recording_goes_on_where_it_stopped_and_asks_anew_what_has_changed(
    tmp_path: Path, server: StandIn
) -> None:
    _labels(tmp_path, "One.", "Two.")
    assert (record(tmp_path), len(server.asked), server.closed) == (2, 2, True)
    _labels(tmp_path, "One.", "Two, changed.", "Three.")
    assert (record(tmp_path), len(server.asked)) == (2, 4)
    assert record(tmp_path) == 0
    judged = read_judged(tmp_path / JUDGED)
    assert [*judged] == ["c0", "c1", "c2"]
    assert {outcome for outcome, _ in judged.values()} == {"supported"}
    assert len({judge for _, judge in judged.values()}) == 1


def test_what_was_judged_before_a_stop_is_on_disk(tmp_path: Path, server: StandIn) -> None:
    _labels(tmp_path, "One.", "Two.")
    answer = server.complete

    def stop(prefix: str, rest: str, params: dict[str, Any]) -> dict[str, Any]:
        if "Two." in rest:
            raise KeyboardInterrupt
        return answer(prefix, rest, params)

    server.complete = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path)
    assert [*read_judged(tmp_path / JUDGED)] == ["c0"]
    assert server.closed


def test_the_model_may_quote_the_evidence_alone_and_nothing_where_there_is_none(server: StandIn) -> None:
    judge: Any = LocalJudge(server)  # type: ignore[arg-type]
    judge.reply(messages_for("Late?", ["The bus is late. Wait."]), {"temperature": 0})
    judge.reply(messages_for("Late?", []), {"temperature": 0})
    (_, rest, full), (_, _, bare) = server.asked
    quoting, silent = full["json_schema"]["anyOf"]
    assert quoting["properties"]["quotes"]["items"] == {"enum": ["The bus is late.", "Wait."]}
    assert quoting["properties"]["verdict"] == {"enum": ["supported", "contradicted"]}
    assert silent["properties"]["verdict"] == {"enum": ["not_in_evidence"]}
    assert bare["json_schema"]["anyOf"] == [silent]
    assert rest.endswith("<|im_start|>assistant\n")
    assert full["temperature"] == 0
