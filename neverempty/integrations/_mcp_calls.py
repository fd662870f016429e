"""One tool call of an MCP session: what its result holds, and results made of what a fault gives."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from neverempty._io import jsonable
from neverempty.faults.present import FlaggedText
from neverempty.integrations._envelope import read_envelope
from neverempty.integrations._shared import ForeignAsyncTool, flagged_text, library
from neverempty.results import Err, to_json
from neverempty.tools.calling import Invocation
from neverempty.tools.options import Options
from neverempty.tools.reading import LOUD, Outcome, safe_text
from neverempty.traces.seam import text_of
from neverempty.traces.tracer import Tracer


class SessionTool(ForeignAsyncTool):
    """A tool of a server, for one call.

    Parameters
    ----------
    fn : callable
        The session's own method.
    name : str
        Name of the tool.
    options : Options
        Its declarations.
    """

    def __init__(self, fn: Callable[..., Any], name: str, options: Options) -> None:
        super().__init__(fn, name, options, "")
        self._result: Any = None
        self._payload: Any = None
        self._raised: Exception | None = None

    async def made(
        self, send: Callable[[], Awaitable[Any]], arguments: dict[str, Any], call_id: str | None
    ) -> Any:
        """Make the call.

        Parameters
        ----------
        send : callable
            Sends it to the server.
        arguments : dict
            What the model asked for.
        call_id : str or None
            The model's id of the call.

        Returns
        -------
        CallToolResult
            The server's own, or one that a fault makes of it; whatever else the session returned.
        """

        async def operate(**_: Any) -> Any:
            try:
                self._result = await send()
            except Exception as error:
                self._raised = error
                raise
            self._payload = _payload(self._result)
            return self._payload

        try:
            value = await self.carry(operate, (), arguments, call_id)
        except Exception as error:
            if error is self._raised or isinstance(error, LOUD):
                raise
            text = f"Error executing tool {self.name}: {type(error).__name__}: {safe_text(error)}"
            return _result_of(text, failed=True)
        if self._result is not None and value is self._payload:
            return self._result
        if isinstance(value, FlaggedText):
            return _result_of(flagged_text(value), failed=True)
        return _result_of(value, failed=isinstance(value, Err))

    def reread(self, invocation: Invocation, outcome: Outcome) -> Outcome:
        """Look for a failure that a result of success carries in its text, and note what the model reads.

        Parameters
        ----------
        invocation : Invocation
            The call.
        outcome : Outcome
            How the attempt ended, by the tool's declarations.

        Returns
        -------
        Outcome
            The same; of truth ``unknown`` where the result tells of a failure that it does not flag.
        """
        if self._result is None or outcome.value is not self._payload or outcome.error is not None:
            return outcome
        result = _dump(self._result)
        if outcome.truth == "data" and read_envelope(result).outcome in ("error", "unknown"):
            outcome.truth = "unknown"
        if result.get("content"):
            outcome.text = text_of(result["content"]) or None
        return outcome


def _dump(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.model_dump(by_alias=True, mode="json")
    return found


def _payload(result: Any) -> Any:
    """Read what a tool returned from its result; an `Err` where that has the flag."""
    if not hasattr(result, "content"):
        return result
    dumped = _dump(result)
    blocks = dumped["content"]
    if dumped.get("isError"):
        return Err("exception", text_of(blocks) or "the server says that the call failed")
    found = dumped.get("structuredContent")
    if found is not None:
        # servers wrap what is no object, since older protocols allow nothing else
        return found["result"] if isinstance(found, dict) and found.keys() == {"result"} else found
    values = [_parsed(block["text"]) if block["type"] == "text" else block for block in blocks]
    return values[0] if len(values) == 1 else values


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _result_of(value: Any, *, failed: bool) -> Any:
    """Make a result as a server would that returned the value, with the text that the faults' table names."""
    kind = library("mcp.types", "mcp").CallToolResult
    if isinstance(value, kind):
        return value
    if isinstance(value, Err):
        value = value.to_model()
    body: dict[str, Any] = {"isError": failed}
    if isinstance(value, str):
        # the protocol's texts are UTF-8
        text = value.encode("utf-8", "backslashreplace").decode()
    else:
        text, plain = to_json(value), jsonable(value)
        body["structuredContent"] = plain if isinstance(plain, dict) else {"result": plain}
    body["content"] = [{"type": "text", "text": text}]
    return kind.model_validate(body)


def call_id_of(tracer: Tracer, name: str, arguments: Mapping[str, Any]) -> str | None:
    """Find the model's id of a call in its last reply: the protocol has no place for it.

    Parameters
    ----------
    tracer : Tracer
        Of the run.
    name : str
        Name of the tool; clients may have put the server's name before it.
    arguments : mapping
        What the tool is called with.

    Returns
    -------
    str or None
        None where the model did not ask for such a call, or not through the seam.
    """
    taken = {call.call_id for call in tracer.calls}
    asked = tracer.messages[-1].get("tool_calls") if tracer.messages else None
    for call in asked or ():
        if not isinstance(call, Mapping) or call.get("id") in taken:
            continue
        function = call.get("function", call)
        given = function.get("arguments", function.get("input", function.get("args")))
        given = _parsed(given) if isinstance(given, str) else given
        named = re.fullmatch(rf"(.*[^0-9A-Za-z])?{re.escape(name)}", str(function.get("name")), re.DOTALL)
        if named and (given or {}) == arguments:
            found = call.get("id")
            return found if isinstance(found, str) else None
    return None
