"""A report in a folder: saved so that no half of one is ever taken for a whole."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from neverempty._errors import InputError
from neverempty._io import JsonError, dumps, loads_strict, write_atomic
from neverempty.report.status import ReportStatus, Status

if TYPE_CHECKING:
    import pandas as pd

SCHEMA: Final = "neverempty.report"
SCHEMA_VERSION: Final = 1
INDEX: Final = "report.json"
# The frames that a gate reads; a packed copy beside a large one is only ever a faster way to the same rows.
_PACKED: Final = ("outcomes",)


def save_report(
    folder: str | os.PathLike[str],
    frames: Mapping[str, pd.DataFrame],
    provenance: Mapping[str, Any],
    status: Status,
) -> Path:
    """Write a report's files; see `Report.save`.

    Parameters
    ----------
    folder : path-like
        Where to.
    frames : mapping of str to DataFrame
        The frames by name.
    provenance : mapping
        As it stands in the report.
    status : Status
        Likewise.

    Returns
    -------
    pathlib.Path
        The folder.
    """
    from neverempty.frames import write_frame
    from neverempty.report.compact import ROWS, pack

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    stage = target / f".saving-{secrets.token_hex(4)}"
    stage.mkdir()
    try:
        files: dict[str, Any] = {}
        for name, frame in frames.items():
            path = stage / f"{name}.jsonl"
            write_frame(frame, path, name)  # type: ignore[arg-type]
            columns = list(map(str, frame.columns))
            files[name] = {"file": path.name, "rows": len(frame), "columns": columns, "sha256": _digest(path)}
            packed = pack(frame, name) if name in _PACKED and len(frame) >= ROWS else None  # type: ignore[arg-type]
            if packed is not None:
                write_atomic(path.with_suffix(".npz"), packed)
                files[name]["packed"] = _digest(path.with_suffix(".npz"))
        index = {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "status": status.status,
            "status_reason": status.reason,
            "provenance": provenance,
            "frames": files,
        }
        write_atomic(stage / INDEX, dumps(index, indent=2) + "\n")
        for name in _PACKED:
            (target / f"{name}.npz").unlink(missing_ok=True)
        for path in sorted(stage.iterdir(), key=lambda path: path.name == INDEX):
            os.replace(path, target / path.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return target


def load_report(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], Status]:
    """Read a report's index and check that its files are there.

    Parameters
    ----------
    folder : path-like
        A folder that `save_report` wrote.

    Returns
    -------
    tuple of (dict, Status)
        Provenance and status.

    Raises
    ------
    InputError
        Where there is no report, or a file of it is missing.
    """
    index = _index(Path(folder))
    missing = [
        entry["file"] for entry in index["frames"].values() if not (Path(folder) / entry["file"]).is_file()
    ]
    if missing:
        raise InputError(f"{Path(folder) / name}: is missing; the report is not whole" for name in missing)
    return index["provenance"], Status(index["status"], index["status_reason"])


def load_frame(folder: Path | None, name: str) -> pd.DataFrame:
    """Read one frame of a report.

    Parameters
    ----------
    folder : Path or None
        The report's folder.
    name : str
        The frame.

    Returns
    -------
    DataFrame
        The frame.

    Raises
    ------
    InputError
        Where the file is not the one that the report was saved with.
    """
    from neverempty.frames import read_frame
    from neverempty.report.compact import unpack

    if folder is None:
        raise InputError(f"the report has no frame {name!r}")
    entry = _index(folder)["frames"].get(name)
    if entry is None:
        raise InputError(f"{folder / INDEX}: lists no frame {name!r}")
    path = folder / entry["file"]
    if _digest(path) != entry["sha256"]:
        raise InputError(
            f"{path}: is not the file that {INDEX} was saved with; the report was edited, or its saving "
            "was cut off; save it again"
        )
    packed = path.with_suffix(".npz")
    if "packed" in entry and packed.is_file() and _digest(packed) == entry["packed"]:
        return unpack(packed.read_bytes(), name)  # type: ignore[arg-type]
    frame = read_frame(path, name)  # type: ignore[arg-type]
    return frame.reindex(columns=entry["columns"])


def _index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    try:
        index = loads_strict(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: there is no report here; save one with Report.save") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except JsonError as error:
        raise InputError(f"{path}:{error.line}: {error.reason}") from None
    if not isinstance(index, dict) or index.get("schema") != SCHEMA:
        raise InputError(f"{path}: is no report of neverempty")
    if index.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"{path}: has schema version {index.get('schema_version')!r}; this package reads {SCHEMA_VERSION}"
        )
    needed = {"status": str, "status_reason": str, "provenance": dict, "frames": dict}
    wrong = [name for name, kind in needed.items() if not isinstance(index.get(name), kind)]
    if wrong or index["status"] not in get_args(ReportStatus):
        raise InputError(f"{path}: {wrong[0] if wrong else 'status'} is missing or no value of a report")
    return index


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
