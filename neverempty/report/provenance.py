"""Where a report's numbers come from."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from typing import Any, Final

import pandas as pd

from neverempty.cases import Case, Cases
from neverempty.claims.rulebook import patterns_version
from neverempty.traces.pricing import PRICES

_LIBRARIES: Final = ("numpy", "pandas", "scipy", "pydantic", "google-re2")
_GIT_SECONDS: Final = 10


def provenance_of(
    traces: pd.DataFrame, scores: pd.DataFrame, cases: Iterable[Case], **settings: Any
) -> dict[str, Any]:
    """Collect where numbers come from: code, data, versions, models, times.

    Parameters
    ----------
    traces, scores : DataFrame
        What the run and the scorers left.
    cases : iterable of Case
        The suite.
    **settings
        Settings of the run, e.g. seed and repeats.

    Returns
    -------
    dict
        Strict JSON. What is not known is None.

    Examples
    --------
    >>> from neverempty.frames import build_frame, traces_frame
    >>> from neverempty.frames.schema import SCHEMAS
    >>> scores = build_frame("scores", {c.name: [] for c in SCHEMAS["scores"].columns})
    >>> provenance_of(traces_frame([]), scores, [], seed=7)["seed"]
    7
    """
    from neverempty import __version__

    suite = cases if isinstance(cases, Cases) else Cases(cases)
    started, finished = _times(traces)
    return {
        "package_version": __version__,
        "git": git_state(),
        "dataset_hash": suite.split_hash(None),
        "split_hash": suite.split_hash("test"),
        "pattern_version": patterns_version(),
        "scorer_versions": _distinct(scores, "scorer_version"),
        "price_version": PRICES.version,
        "resolved_models": _distinct(traces, "resolved_model"),
        "run_ids": _distinct(traces, "run_id"),
        "n_cases": len(suite),
        "n_traces": len(traces),
        "started_at": started,
        "finished_at": finished,
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "libraries": {name: _version(name) for name in _LIBRARIES},
        **settings,
    }


def git_state(folder: str | os.PathLike[str] = ".") -> dict[str, Any]:
    """Ask git for the commit of a folder and whether anything tracked was changed since.

    Parameters
    ----------
    folder : path-like, default "."
        A folder of the repository.

    Returns
    -------
    dict
        ``sha`` and ``dirty``, both None outside a repository or without git, with the ``reason``.

    Examples
    --------
    >>> git_state("/")["sha"] is None
    True
    """
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}

    def ask(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", os.fspath(folder), *words],
            capture_output=True,
            check=True,
            timeout=_GIT_SECONDS,
            env=environment,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    try:
        sha = ask("rev-parse", "HEAD")
        dirty = bool(ask("status", "--porcelain", "--untracked-files=no"))
    except subprocess.CalledProcessError:
        return {"sha": None, "dirty": None, "reason": "not a git repository with a commit"}
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"sha": None, "dirty": None, "reason": f"git could not be asked: {type(error).__name__}"}
    return {"sha": sha, "dirty": dirty, "reason": None}


def _distinct(frame: pd.DataFrame, column: str) -> list[str]:
    if column not in frame.columns:
        return []
    return sorted(set(frame[column].dropna().tolist()) - {""})


def _times(traces: pd.DataFrame) -> tuple[str | None, str | None]:
    """Give the start of the first repeat and the end of the last."""
    started = traces["started_at"].dropna()
    if started.empty:
        return None, None
    ends = started + pd.to_timedelta(traces.loc[started.index, "duration_ms"].fillna(0), unit="ms")
    return started.min().isoformat(), ends.max().isoformat(timespec="microseconds")


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None
