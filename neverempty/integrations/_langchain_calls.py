"""A LangChain callback that writes down calls of tools and models which nothing stands around."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from neverempty._errors import UsageError
from neverempty.integrations._envelope import read_envelope
from neverempty.integrations._langchain_messages import chat_messages
from neverempty.integrations._langchain_models import INSIDE, result_reply
from neverempty.integrations._langchain_tools import RUNNING
from neverempty.integrations._shared import as_envelope, library
from neverempty.results import kind_of
from neverempty.tools.options import is_bare_empty
from neverempty.tools.reading import safe_text, text_of
from neverempty.traces.active import owning_tracer
from neverempty.traces.model import ToolCall, Truth
from neverempty.traces.seam import text_of as content_text
from neverempty.traces.tracer import Tracer


@functools.cache
def call_tracer() -> Any:
    """Return the callback that writes down what a chain does which cannot be rewrapped.

    It hears the calls of tools, and what chat models read and used. It can hold nothing up: faults need
    `wrap` or `watching`, and so does a run that records, replays or has a budget.

    Returns
    -------
    BaseCallbackHandler
        For ``config={"callbacks": [...]}``. One serves all runs: each call goes to the tracer it belongs to.

    Examples
    --------
    >>> from neverempty.integrations import langchain
    >>> def agent(case, tracer):
    ...     return chain.invoke(case.prompt, {"callbacks": [langchain.call_tracer()]}).text
    """
    base = library("langchain_core.callbacks", "langchain").BaseCallbackHandler

    class CallTracer(base):  # type: ignore[misc, valid-type]  # known once the library is there
        run_inline = True
        raise_error = True

        def __init__(self) -> None:
            self._begun: dict[Any, _Begun] = {}
            self._asked: dict[Any, tuple[Tracer, list[dict[str, Any]]]] = {}

        def on_tool_start(
            self, serialized: Any, input_str: str, *, run_id: Any, inputs: Any = None, **told: Any
        ) -> None:
            name = (serialized or {}).get("name") or told.get("name") or "tool"
            tracer = None if RUNNING.get() is not None else owning_tracer(f"tool {name!r}")
            if tracer is not None and not tracer.closed:
                args = dict(inputs) if isinstance(inputs, Mapping) else {"input": input_str}
                self._begun[run_id] = _Begun(tracer, tracer.begin(name, args, told.get("tool_call_id")))

        def on_tool_end(self, output: Any, *, run_id: Any, **_: Any) -> None:
            begun = self._begun.pop(run_id, None)
            if begun is not None:
                begun.returned(output)

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            begun = self._begun.pop(run_id, None)
            if begun is not None:
                begun.raised(error)

        def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: Any, **_: Any) -> None:
            tracer = None if INSIDE.get() else owning_tracer("the chat model")
            if tracer is not None and tracer.seam is not None:
                reason = (
                    "a run that records, replays or has a budget needs `with langchain.watching():` around "
                    "the chain; a callback can hold no model call up"
                )
                tracer.poison(reason)
                raise UsageError(reason)
            if tracer is not None:
                self._asked[run_id] = (tracer, chat_messages(messages[0]))

        def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
            tracer, messages = self._asked.pop(run_id, (None, []))
            if tracer is not None and not tracer.closed:
                reply = result_reply(response)
                tracer.model_call_sync(messages, call=lambda *_: reply)

        def on_llm_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            self._asked.pop(run_id, None)

    return CallTracer()


class _Begun:
    """A call that has begun."""

    __slots__ = ("call", "started", "tracer")

    def __init__(self, tracer: Tracer, call: ToolCall) -> None:
        self.tracer = tracer
        self.call = call
        self.started = perf_counter()

    def returned(self, output: Any) -> None:
        found = read_envelope(as_envelope(output))
        value = getattr(output, "content", output)
        truth: Truth = "data"
        if found.outcome in ("error", "unknown"):
            truth = found.outcome
        elif is_bare_empty(value):
            truth = "unknown"  # nobody declared what an empty value of this tool means
        text = text_of(output) if value is output else content_text(value)
        self._finish(truth, text, "exception" if truth == "error" else None)

    def raised(self, error: BaseException) -> None:
        self._finish("error", None, kind_of(error), safe_text(error))

    def _finish(self, truth: Truth, text: str | None, kind: str | None, raised: str | None = None) -> None:
        spent = (perf_counter() - self.started) * 1000.0
        self.tracer.finish(self.call, truth, text, kind, spent, raised=raised)
