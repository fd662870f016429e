"""The agent that a configuration names."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from neverempty._errors import InputError
from neverempty._suggest import did_you_mean
from neverempty.cli.config import Config


def load_target(config: Config) -> tuple[Callable[..., Any], Mapping[str, Callable[..., Any]]]:
    """Import the agent that a configuration names, and the stubs of its tools.

    Parameters
    ----------
    config : Config
        The configuration; its folder is looked in first.

    Returns
    -------
    tuple of (callable, mapping)
        The agent, and by name of a tool what runs in its place.

    Raises
    ------
    InputError
        Where a name leads nowhere, or importing it fails; names line and reason.
    """
    folder = str(config.path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    agent = _named(config, config.target.agent, "agent")
    stubs = {tool: _named(config, name, "stubs", tool) for tool, name in config.target.stubs.items()}
    return agent, stubs


def _named(config: Config, target: str, *key: str) -> Callable[..., Any]:
    place = f"{config.place('target', *key)}: target.{'.'.join(key)}"
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise InputError(f"{place}: {target!r} is no name like 'module:function'")
    found: Any = _module(module_name, place, config.path.parent)
    for part in name.split("."):
        if not hasattr(found, part):
            hint = did_you_mean(part, [known for known in vars(found) if not known.startswith("_")])
            raise InputError(f"{place}: {module_name!r} has no {part!r}{hint}")
        found = getattr(found, part)
    if isinstance(found, type) or not callable(found):
        raise InputError(
            f"{place}: {target!r} is a {type(found).__name__}, not a function (case, tracer), nor an object "
            "that can be called like one"
        )
    return found  # type: ignore[no-any-return]


def _module(name: str, place: str, folder: Path) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise InputError(
                f"{place}: there is no module {name!r} in {folder.resolve()} nor among the installed ones"
            ) from error
        raise InputError(
            f"{place}: importing {name!r} needs {error.name!r}, which is not installed"
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(f"{place}: importing {name!r} raised {_where(error)}") from error


def _where(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}".splitlines()[0]
    if isinstance(error, SyntaxError):
        return f"{text}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{text} ({Path(last.filename).name}:{last.lineno})"
