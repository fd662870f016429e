"""The configuration file: ``neverempty.toml`` as checked objects."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from neverempty._errors import InputError
from neverempty.cases.explain import explain
from neverempty.cli.parser import DEFAULT_CONFIG
from neverempty.cli.places import Places
from neverempty.faults import Arm

_Text = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=1, strict=True)]
_Above0 = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Table(BaseModel):
    """Base of every table: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ProjectTable(_Table):
    """``[project]``: what is measured, and where results go.

    Parameters
    ----------
    name : str
        Name of the project.
    results : str, default "results"
        Folder for reports, relative to the configuration's own.
    """

    name: _Text
    results: _Text = "results"


class TargetTable(_Table):
    """``[target]``: the agent.

    Parameters
    ----------
    agent : str
        ``"module:name"`` of a callable ``(case, tracer)``; the module is looked for beside the configuration
        first.
    stubs : dict of str to str
        By name of a tool with side effects, the ``"module:name"`` that runs in its place.
    """

    agent: _Text
    stubs: dict[_Text, _Text] = Field(default_factory=dict)


class SuiteTable(_Table):
    """``[[suite]]``: one set of cases.

    Parameters
    ----------
    name : str
        The ``suite`` that its cases carry.
    cases : tuple of str
        JSONL files, relative to the configuration's folder.
    split : {"dev", "test"}, optional
        Run only this split.
    split_hash : str, optional
        The hash that the test split must have.
    """

    name: _Text
    cases: Annotated[tuple[_Text, ...], Field(min_length=1)]
    split: Literal["dev", "test"] | None = None
    split_hash: _Text | None = None


def _arm(value: Any) -> Any:
    return Arm.of(value) if isinstance(value, str) else value


class RunTable(_Table):
    """``[run]``: how cases are run; every key is an argument of `neverempty.run`.

    Parameters
    ----------
    arms : tuple of Arm
        Names of presentations, or tables with a ``name`` and what is different under it.
    repeats, concurrency, seed : int
        As in `neverempty.run`.
    timeout, budget_usd : float, optional
        As in `neverempty.run`.
    budget_tokens : int, optional
        As in `neverempty.run`.
    """

    arms: Annotated[tuple[Annotated[Arm, BeforeValidator(_arm)], ...], Field(min_length=1)] = (
        Arm(name="typed"),
    )
    repeats: _Count = 1
    concurrency: _Count = 8
    timeout: _Above0 | None = None
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    budget_usd: _Above0 | None = None
    budget_tokens: _Count | None = None

    @model_validator(mode="after")
    def _arms_are_unique(self) -> Self:
        names = [arm.name for arm in self.arms]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"arms: {twice[0]!r} stands twice")
        return self


class Config(_Table):
    """The whole file.

    Parameters
    ----------
    project : ProjectTable
        ``[project]``.
    target : TargetTable
        ``[target]``.
    suites : tuple of SuiteTable
        ``[[suite]]``, at least one.
    run : RunTable
        ``[run]``.
    gate : dict
        ``[gate]``, read by the gate.
    """

    project: ProjectTable
    target: TargetTable
    suites: Annotated[tuple[SuiteTable, ...], Field(min_length=1, alias="suite")]
    run: RunTable = RunTable()
    gate: dict[str, Any] = Field(default_factory=dict)
    _places: Places = Places(Path(DEFAULT_CONFIG), "")

    @property
    def path(self) -> Path:
        """The file that it was read from."""
        return self._places.path

    def beside(self, name: str) -> Path:
        """Find a file that the configuration names.

        Parameters
        ----------
        name : str
            A path, relative to the configuration's folder.

        Returns
        -------
        pathlib.Path
            The path from here.
        """
        return self.path.parent / name

    def place(self, *key: str | int) -> str:
        """Say where a key stands, for messages.

        Parameters
        ----------
        *key : str or int
            As ``"target", "agent"``.

        Returns
        -------
        str
            As ``"neverempty.toml:5"``.
        """
        return self._places.of(key)


def load_config(path: str | os.PathLike[str] = DEFAULT_CONFIG) -> Config:
    """Read and check a configuration file.

    Parameters
    ----------
    path : path-like, default "neverempty.toml"
        The TOML file.

    Returns
    -------
    Config
        The checked configuration.

    Raises
    ------
    InputError
        Lists everything that is wrong with it, as ``"path:line: what is wrong"``.
    """
    file = Path(path)
    text = _read(file)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {_plain(error)}") from None
    places = Places(file, text)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise InputError(places.sentence(problem) for problem in explain(error, Config)) from None
    config._places = places
    return config


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not UTF-8; save it as UTF-8") from None
    except FileNotFoundError:
        raise InputError(
            f"{file}: there is no such file; `neverempty init` writes one, or name yours with --config"
        ) from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


def _plain(error: tomllib.TOMLDecodeError) -> str:
    text = str(error)
    return f"is not TOML: {text[:1].lower()}{text[1:]}"
