"""Making a reviewed report the baseline, in one step, with who and when."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import secrets
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from neverempty._errors import InputError, UsageError
from neverempty._io import JsonError, dumps, loads_strict, write_atomic
from neverempty.report import Report
from neverempty.report.files import INDEX
from neverempty.report.status import allows_numbers

PROMOTION: Final = "promoted.json"
_SCHEMA: Final = "neverempty.promotion"


@dataclasses.dataclass(frozen=True, slots=True)
class Promotion:
    """Who made a report the baseline, and when.

    Parameters
    ----------
    by : str
        Who reviewed it.
    at : str
        When, ISO 8601 in UTC.
    report_sha256 : str
        Digest of the promoted report's index, which holds the digests of its other files.
    previous_sha256 : str or None
        Likewise of the baseline before it.
    """

    by: str
    at: str
    report_sha256: str
    previous_sha256: str | None = None


def promote(
    report: str | os.PathLike[str], baseline: str | os.PathLike[str], *, by: str, at: datetime | None = None
) -> Promotion:
    """Put a reviewed report in the place of the baseline.

    The report is copied in full beside the baseline, its files are checked against their digests, and then
    the folders change places: a reader sees the old baseline or the new one.

    Parameters
    ----------
    report : path-like
        Folder of a saved report with the status ``ok``.
    baseline : path-like
        Folder of the baseline; need not exist.
    by : str
        Who reviewed it.
    at : datetime, optional
        When, with a time zone; now by default.

    Returns
    -------
    Promotion
        What was noted in ``promoted.json``.

    Raises
    ------
    InputError
        Where the report is not whole, or the baseline's folder is no baseline.
    UsageError
        Where nobody is named, or both folders are one.
    """
    source, target = Path(report), Path(baseline)
    if not by.strip():
        raise UsageError("promote: say who reviewed the report")
    if source.resolve() == target.resolve():
        raise UsageError(f"{source}: the report is the baseline already; name another folder")
    _check(source)
    noted = Promotion(
        by=by,
        at=(at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
        report_sha256=_digest(source),
        previous_sha256=_digest(target) if _is_baseline(target) else None,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    stage = target.parent / f".{target.name}.{secrets.token_hex(4)}.new"
    try:
        shutil.copytree(source, stage, ignore=shutil.ignore_patterns(".*", "unfinished.jsonl", PROMOTION))
        _check(stage)
        write_atomic(
            stage / PROMOTION, dumps({"schema": _SCHEMA, **dataclasses.asdict(noted)}, indent=2) + "\n"
        )
        _swap(stage, target)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return noted


def promotion_of(baseline: str | os.PathLike[str]) -> Promotion | None:
    """Read who made a report the baseline.

    Parameters
    ----------
    baseline : path-like
        Its folder.

    Returns
    -------
    Promotion or None
        None where the report was never promoted.

    Raises
    ------
    InputError
        Where the note is broken, or the report is not the one that was promoted.
    """
    path = Path(baseline) / PROMOTION
    if not path.is_file():
        return None
    try:
        found = loads_strict(path.read_bytes())
        if found.pop("schema") != _SCHEMA:
            raise ValueError("another schema")
        noted = Promotion(**found)
    except (JsonError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path}: is no note of a promotion; promote the baseline anew") from error
    if noted.report_sha256 != _digest(Path(baseline)):
        raise InputError(
            f"{Path(baseline) / INDEX}: is not the report that {noted.by} promoted at {noted.at}; review it "
            "and promote it anew"
        )
    return noted


def _check(folder: Path) -> None:
    """Read every frame, which compares its file with its digest."""
    loaded = Report.load(folder)
    if not allows_numbers(loaded.status):
        raise InputError(
            f"{folder}: is {loaded.status} ({loaded.status_reason}); only a whole report can be a baseline"
        )
    for name in ("traces", "scores", "outcomes", "metrics"):
        getattr(loaded, name)


def _is_baseline(folder: Path) -> bool:
    if not folder.exists():
        return False
    if (folder / INDEX).is_file():
        return True
    if folder.is_dir() and not any(folder.iterdir()):
        return False
    raise InputError(f"{folder}: holds something that is no report; name another folder for the baseline")


def _swap(stage: Path, target: Path) -> None:
    """Let two folders change places; the old one comes back where the new one cannot take its place."""
    if not target.exists():
        os.replace(stage, target)
        return
    old = target.with_name(f".{target.name}.{secrets.token_hex(4)}.old")
    os.replace(target, old)
    try:
        os.replace(stage, target)
    except BaseException:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _digest(folder: Path) -> str:
    return hashlib.sha256((folder / INDEX).read_bytes()).hexdigest()
