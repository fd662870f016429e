"""What a run does around each model call: keep the budget, record, replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from neverempty._errors import NeverEmptyError
from neverempty.running.budget import Budget, Usage
from neverempty.running.recording import Recorder, Recording, RequestKey, request_key
from neverempty.running.units import Unit
from neverempty.traces.seam import ModelReply, ModelRequest

StopStatus = Literal["budget_stopped", "replay_miss"]


class ModelCallRefusedError(NeverEmptyError):
    """A model call was refused: the budget is spent, or the recording does not hold it."""


class ModelSeam:
    """The seam of one trace.

    Parameters
    ----------
    unit : Unit
        Which repeat of which case.
    budget : Budget
        Of the whole run.
    recorder : Recorder, optional
        Where live replies are written.
    recording : Recording, optional
        Where replies come from; no live call is then made.

    Attributes
    ----------
    stopped : tuple of (str, str) or None
        Status and reason of a trace that was stopped here. It stands whatever the agent makes of the error.
    """

    __slots__ = (
        "_asked",
        "_heard",
        "_model_calls",
        "_pending",
        "_recorder",
        "_recording",
        "_sources",
        "_unit",
        "budget",
        "stopped",
    )

    def __init__(
        self, unit: Unit, budget: Budget, recorder: Recorder | None = None, recording: Recording | None = None
    ) -> None:
        self._unit = unit
        self.budget = budget
        self._recorder = recorder
        self._recording = recording
        self._asked: Counter[str] = Counter()
        self._pending: dict[int, tuple[RequestKey, int]] = {}
        self._heard: list[Usage] = []
        self._model_calls = 0
        self._sources: set[int] = set()
        self.stopped: tuple[StopStatus, str] | None = None

    def before(self, request: ModelRequest) -> ModelReply | None:
        """Answer from the recording, or let the live call happen, or refuse it."""
        if self.stopped is not None:
            raise ModelCallRefusedError(self.stopped[1])
        self._model_calls += 1
        if self._recording is not None:
            return self._replayed(request, self._recording)
        reason = self.budget.over()
        if reason is not None:
            raise self._stop("budget_stopped", reason)
        if self._recorder is not None:
            # now, because the agent may extend the same list of messages while it waits
            self._pending[request.index] = self._key(request)
        return None

    def after(self, request: ModelRequest, reply: ModelReply) -> None:
        """Count and record a live reply."""
        usage = _usage(reply)
        self._heard.append(usage)
        self.budget.add((usage,))
        if self._recorder is not None:
            key, occurrence = self._pending.pop(request.index)
            self._recorder.reply(self._unit.key, occurrence, key, request.params, reply)

    def end(self, usages: Iterable[Usage]) -> None:
        """Take note of the end of the trace.

        Parameters
        ----------
        usages : iterable of tuple
            All that the trace used; what did not come through the seam is counted now.
        """
        self.budget.add((Counter(usages) - Counter(self._heard)).elements())
        if self._recorder is not None:
            self._recorder.end(self._unit.key, self._model_calls)

    def bypassed(self) -> bool:
        """Tell whether a replay had no say: the agent made no model call here, but the recorded one did."""
        return (
            self._recording is not None
            and self._model_calls == 0
            and not self._recording.without_calls(self._unit.key)
        )

    @property
    def repeat_of(self) -> int | None:
        """The other repeat that every reply of this trace was recorded in, if there is one."""
        if len(self._sources) != 1:
            return None
        (source,) = self._sources
        return None if source == self._unit.repeat else source

    def _replayed(self, request: ModelRequest, recording: Recording) -> ModelReply:
        key, occurrence = self._key(request)
        hit = recording.find(self._unit.key, occurrence, key, request.params)
        if hit is None:
            raise self._stop("replay_miss", recording.why_missed(self._unit.key, request.index, key))
        self._sources.add(hit.repeat)
        self._heard.append(_usage(hit.reply))
        return hit.reply

    def _key(self, request: ModelRequest) -> tuple[RequestKey, int]:
        key = request_key(request, self._unit.condition.hash)
        occurrence = self._asked[key.request]
        self._asked[key.request] += 1
        return key, occurrence

    def _stop(self, status: StopStatus, reason: str) -> ModelCallRefusedError:
        self.stopped = (status, reason)
        return ModelCallRefusedError(reason)


def _usage(reply: ModelReply) -> Usage:
    return (reply.get("model"), reply.get("input_tokens"), reply.get("output_tokens"))
