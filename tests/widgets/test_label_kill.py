"""Killed at any moment: no label that was committed is lost, and none is there twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from neverempty.widgets import LabelStore

_LABELS = ("supported", "contradicted", "not_in_evidence")
# Imports once, then forks a child that labels on and kills it after a random while, until so many children
# were killed. Each line names a label whose call has returned; after one that finished, a new file begins.
_DRIVER = """
import os, random, signal, sys, time
from neverempty.widgets.label_session import LabelSession
folder, kills, draw = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
def label_on(file):
    session = LabelSession([dict(id=f"c{at}", claim="C.") for at in range(300)], file, "ida")
    while session.current is not None:
        name = session.current.key.item
        session.label(session.labels[int(name[1:]) % 3])
        os.write(1, f"{file} {name}\\n".encode())
number = 0
while kills:
    file = f"{folder}/{number}.jsonl"
    child = os.fork()
    if not child:
        label_on(file)
        os._exit(0)
    time.sleep(draw.uniform(0.0, 0.15))
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    kills -= os.WIFSIGNALED(status)
    number += not os.WIFSIGNALED(status)
    os.write(1, f"{file} {'killed' if os.WIFSIGNALED(status) else 'finished'}\\n".encode())
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_a_hundred_times_a_session_has_every_committed_label_once(tmp_path: Path, seed: int) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _DRIVER, str(tmp_path), "25", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    said = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    assert [word for _, word in said].count("killed") == 25
    assert len(said) > 100
    for file in sorted({file for file, _ in said}):
        words = [word for one, word in said if one == file]
        committed = [word for word in words if word not in ("killed", "finished")]
        frame = LabelStore(file).labels()
        assert not frame["item"].duplicated().any()
        assert set(committed) <= set(frame["item"])
        # What was written and not told of any more is one at most for each kill.
        assert len(frame) - len(set(committed)) <= words.count("killed")
        assert len(committed) == len(set(committed))
        assert frame["label"].tolist() == [_LABELS[int(name[1:]) % 3] for name in frame["item"]]
        labelled = [one.key for one in LabelStore(file).events() if one.action == "label"]
        assert len(labelled) == len(set(labelled)) == len(frame)
