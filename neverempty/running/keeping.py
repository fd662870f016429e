"""Where the rows of a run go: into the frame in its order, and into the store as they finish."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from neverempty.running.units import Unit
from neverempty.traces.codec import default_redactor, trace_from_json, trace_to_json
from neverempty.traces.model import Trace
from neverempty.traces.redaction import Redactor
from neverempty.traces.store import TraceStore


class NoticingRedactor(Redactor):
    """A redactor that notes whether a trace had to be rewritten."""

    def __init__(self) -> None:
        vars(self).update(vars(default_redactor()))  # its patterns take longer to compile than a small run
        self.noticed = False

    def __call__(self, obj: Any) -> Any:
        self.noticed = True
        return super().__call__(obj)


# A trace that is not over: a resumed run does it again.
UNFINISHED: Final = ("budget_stopped",)


class Keeper:
    """Takes the traces of a run.

    Parameters
    ----------
    rows : list
        One place per row of the frame, None where nothing is known yet.
    redactor : NoticingRedactor
        Takes out secrets; the store must have the same.
    store : TraceStore, optional
        Gets each trace as it finishes.

    Attributes
    ----------
    done : int
        Rows that are there.
    """

    __slots__ = ("_redactor", "_store", "done", "rows")

    def __init__(
        self, rows: list[Trace | None], redactor: NoticingRedactor, store: TraceStore | None = None
    ) -> None:
        self.rows = rows
        self.done = len(rows) - rows.count(None)
        self._redactor = redactor
        self._store = store

    def keep(self, unit: Unit, trace: Trace) -> None:
        """Take a finished trace; the frame gets exactly what stands in the file.

        Parameters
        ----------
        unit : Unit
            Its place.
        trace : Trace
            The trace. One that cannot be written becomes a ``harness_error`` that says so.
        """
        try:
            self._write(trace)
        except ValueError as error:
            trace = dataclasses.replace(
                trace,
                status="harness_error",
                terminal_reason=str(error),
                answer=None,
                route=None,
                structured=None,
                messages=[],
                calls=[],
            )
            self._write(trace)
        if self._redactor.noticed:
            # a secret or a foreign object was rewritten; a resumed run must give the same frame as this one
            trace = trace_from_json(trace_to_json(trace, self._redactor))
            self._redactor.noticed = False
        self.rows[unit.row] = trace
        self.done += 1

    def keep_unstarted(self, unit: Unit, trace: Trace) -> None:
        """Take the row of a repeat that was never started; it is not stored, so that a resumed run does it.

        Parameters
        ----------
        unit : Unit
            Its place.
        trace : Trace
            The row.
        """
        self.rows[unit.row] = trace
        self.done += 1

    def _write(self, trace: Trace) -> None:
        if self._store is not None:
            self._store.append(trace)
        else:
            trace_to_json(trace, self._redactor)
