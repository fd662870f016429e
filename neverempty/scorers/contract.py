"""Whether the tools that a repeat called are still the ones that were pinned."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from neverempty._io import dumps
from neverempty.cases import Case
from neverempty.scorers.base import MetricSpec, Score, check, no_signal, not_applicable
from neverempty.scorers.observed import unobserved
from neverempty.tools import Tool
from neverempty.tools.contract import exported, read_contract
from neverempty.traces.model import Trace

_METRIC: Final = "contract_pinned"


class ContractPinnedScorer:
    """Passes a repeat whose called tools have the schemas that a contract pins.

    Parameters
    ----------
    tools : iterable of Tool
        The tools as they are.
    contract : path-like
        The file of `neverempty.tools.contract.pin_contract`.

    Raises
    ------
    InputError
        Where the contract cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from neverempty import tool
    >>> from neverempty.tools.contract import pin_contract
    >>> from neverempty.traces.model import ToolCall
    >>> @tool(never_empty=True)
    ... def stock(item: str) -> int:
    ...     "Count."
    ...     return 3
    >>> file = tempfile.mkdtemp() + "/tools.json"
    >>> _ = pin_contract([stock], file)
    >>> trace = Trace("default", "a", "typed", 0, answer="3.", calls=[ToolCall(0, "stock", {}, "data")])
    >>> ContractPinnedScorer([stock], file).score(trace, Case(id="a", input={"payload": 1}))[0].verdict
    'pass'
    """

    name = "contract_pinned"
    version = "1"
    metrics = (MetricSpec(_METRIC, "higher", "majority", "tools"),)

    def __init__(self, tools: Iterable[Tool], contract: str | os.PathLike[str]) -> None:
        pinned, now = read_contract(contract), exported(tools)
        self._same = {name for name in now if name in pinned and dumps(now[name]) == dumps(pinned[name])}

    def score(self, trace: Trace, case: Case) -> tuple[Score, ...]:
        """Score one repeat.

        Parameters
        ----------
        trace : Trace
            The repeat.
        case : Case
            Its case.

        Returns
        -------
        tuple of Score
            One score; a repeat without a call is not applicable.
        """
        reason = unobserved(trace)
        if reason is not None:
            return (no_signal(_METRIC, reason),)
        called = list(dict.fromkeys(call.tool for call in trace.calls))
        if not called:
            return (not_applicable(_METRIC, "no_call"),)
        drifted = [name for name in called if name not in self._same]
        if drifted:
            return (check(_METRIC, False, "drifted", evidence={"drifted": drifted}),)
        return (check(_METRIC, True, "pinned"),)
