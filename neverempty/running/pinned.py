"""A run's tools against their pinned contract, before the first call."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.running.reach import tools_of
from neverempty.tools.contract import drift, pin_contract

_SHOWN: Final = 5


def check_contract(
    agent: Callable[..., Any], contract: str | os.PathLike[str] | None, *, repin: bool = False
) -> None:
    """Refuse to start where the agent's tools have drifted from their contract.

    Parameters
    ----------
    agent : callable
        The agent; its tools are those that can be found on it.
    contract : path-like or None
        The file that pins them; None where nothing is pinned.
    repin : bool, default False
        Write the file anew instead.

    Raises
    ------
    UsageError
        Names what has drifted, or says that no tool was found.
    InputError
        Where the contract cannot be read.
    """
    if contract is None:
        if repin:
            raise UsageError("repin needs a contract, the file to pin the tools in")
        return
    tools = tools_of(agent)
    if not tools:
        raise UsageError(f"{contract}: no tool is found on the agent that could be held against it")
    if repin:
        pin_contract(tools, contract)
        return
    changes = drift(tools, contract)
    if changes:
        more = f" (and {len(changes) - _SHOWN} more)" if len(changes) > _SHOWN else ""
        raise UsageError(
            f"the tools have drifted from {contract}: {'; '.join(changes[:_SHOWN])}{more}; run again with "
            "repin=True if that is meant"
        )
