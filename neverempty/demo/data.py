"""Where the demonstration's cases and its small world are found, installed or in a checkout."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from neverempty._errors import InputError
from neverempty.cases import Cases, load_cases

_INSTALLED: Final = Path(__file__).parent / "datasets"
_CHECKOUT: Final = Path(__file__).parents[2] / "datasets"


def dataset(name: str) -> Path:
    """Find a file of the package's datasets.

    Parameters
    ----------
    name : str
        Its path inside ``datasets/``, such as ``"demo/failure.jsonl"``.

    Returns
    -------
    pathlib.Path
        The file: of the checkout where there is one, else the one installed with the package.

    Raises
    ------
    InputError
        Where neither is there.

    Examples
    --------
    >>> dataset("demo/world.json").name
    'world.json'
    """
    for root in (_CHECKOUT, _INSTALLED):
        if (root / name).exists():
            return root / name
    raise InputError(f"datasets/{name} is missing from this installation; install the package again")


def demo_cases(*, language: str | None = None, controls: bool = True) -> Cases:
    """Load the demonstration's cases.

    Parameters
    ----------
    language : str, optional
        ``"en"``, ``"hi"`` or ``"hinglish"``; all three by default.
    controls : bool, default True
        Whether to load the controls too: the same questions over a genuine empty and over data.

    Returns
    -------
    Cases
        The cases.

    Examples
    --------
    >>> len(demo_cases(language="en", controls=False))
    64
    """
    names = ["failure", "failure_hi"] + (["controls", "controls_hi"] if controls else [])
    cases = load_cases(*(dataset(f"demo/{name}.jsonl") for name in names))
    if language is None:
        return cases
    return Cases([case for case in cases if case.language == language])


@functools.cache
def world() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Load what the demonstration's tools look things up in.

    Returns
    -------
    mapping of str to list of dict
        By tool name, rows of the arguments that find them and, under ``row``, what is found.
    """
    loaded: dict[str, list[dict[str, Any]]] = json.loads(
        dataset("demo/world.json").read_text(encoding="utf-8")
    )
    return loaded
