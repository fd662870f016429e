"""Who judges: a deterministic stand-in for tests and demonstrations, and any chat-completions endpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from neverempty._errors import NeverEmptyError
from neverempty._io import digest, dumps
from neverempty.judge.families import family_of

_WORD: Final = re.compile(r"\w+")
_NOT: Final = frozenset(
    [
        "not",
        "no",
        "none",
        "never",
        "nothing",
        "neither",
        "nor",
        "cannot",
        "kein",
        "keine",
        "nicht",
        "nie",
        "nunca",
        "ninguno",
        "ninguna",
        "ne",
        "pas",
        "aucun",
        "aucune",
        "jamais",
        "nahi",
        "nahin",
        "नहीं",
        "なし",
        "ない",
        "ありません",
        "没有",
        "沒有",
        "不",
    ]
)
_CLAIM: Final = re.compile(r"<claim>(.*?)</claim>", re.S)
_EVIDENCE: Final = re.compile(r"<evidence>(.*?)</evidence>", re.S)
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？।])\s*")
_ENOUGH: Final = 0.75


class JudgeEndpointError(NeverEmptyError, RuntimeError):
    """The judge's endpoint gave no reply that holds a text."""


class FakeJudge:
    """Judges by counting words, without a network: for tests and demonstrations, not for verdicts.

    A claim is supported where most of its words stand in one sentence of the evidence, contradicted where
    they do but only one of the two says "not" or names other numbers, else not in evidence.

    Parameters
    ----------
    replies : mapping of str to (str or sequence of str), optional
        Replies to give instead, by claim: one for every ask, or one after the other.
    name : str
        Name of the model.

    Examples
    --------
    >>> from neverempty.judge import messages_for
    >>> FakeJudge().reply(messages_for("There are two trams.", ["There are no trams."]), {})
    '{"confidence":0.9,"quotes":["There are no trams."],"reason":"counted words","verdict":"contradicted"}'
    """

    def __init__(
        self, replies: Mapping[str, str | Sequence[str]] | None = None, name: str = "fake-judge"
    ) -> None:
        self.name = name
        self.family = "rules"
        self.asked = 0
        self._replies = dict(replies or {})

    def reply(self, messages: Sequence[dict[str, Any]], params: dict[str, Any]) -> str:
        """Answer by counting words.

        Parameters
        ----------
        messages : sequence of dict
            From `messages_for`.
        params : dict
            Its ``attempt`` picks among several replies.

        Returns
        -------
        str
            JSON.
        """
        self.asked += 1
        found = _CLAIM.search(_asked(messages))
        claim = found[1] if found else ""
        if claim in self._replies:
            given = self._replies[claim]
            listed = [given] if isinstance(given, str) else list(given)
            return listed[min(int(params.get("attempt", 0)), len(listed) - 1)]
        verdict, quotes = _counted(claim, shown_sentences(messages))
        return dumps({"verdict": verdict, "confidence": 0.9, "quotes": quotes, "reason": "counted words"})


def shown_sentences(messages: Sequence[dict[str, Any]]) -> list[str]:
    """List what a judge may quote: the sentences of the evidence as the messages show it.

    Parameters
    ----------
    messages : sequence of dict
        From `messages_for`.

    Returns
    -------
    list of str
        Each sentence once, in order.

    Examples
    --------
    >>> from neverempty.judge import messages_for
    >>> shown_sentences(messages_for("Late?", ["The bus is late. Wait.", "Wait."]))
    ['The bus is late.', 'Wait.']
    """
    pieces = _EVIDENCE.findall(_asked(messages))
    sentences = (one.strip() for piece in pieces for one in _SENTENCE.split(piece))
    return list(dict.fromkeys(one for one in sentences if one))


def _asked(messages: Sequence[dict[str, Any]]) -> str:
    return str(next(message["content"] for message in messages if message["role"] == "user"))


def _counted(claim: str, sentences: list[str]) -> tuple[str, list[str]]:
    words = _words(claim) - _NOT
    best, share = "", 0.0
    for sentence in sentences:
        there = _words(sentence)
        met = len(words & there) / len(words) if words else 0.0
        if met > share:
            best, share = sentence, met
    numbers = {word for word in words if word.isdigit()}
    others = {word for word in _words(best) if word.isdigit()}
    denied = bool(_words(claim) & _NOT) != bool(_words(best) & _NOT)
    if share >= _ENOUGH and not denied and numbers <= others:
        return "supported", [best]
    if share >= 0.5 and (denied or (numbers and others and not numbers <= others)):
        return "contradicted", [best]
    return "not_in_evidence", []


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


class OpenAIJudge:
    """Judges through any endpoint that speaks chat completions.

    Parameters
    ----------
    client : object
        Synchronous, with ``client.chat.completions.create(...)`` as in the package ``openai``. No package is
        imported.
    model : str
        Name of the model.
    family : str, optional
        Its family, where the name does not tell it.
    params : mapping, optional
        More arguments of each request. Each set of them is another judge, with its own agreement and cache: a
        digest of them stands in `name`.

    Examples
    --------
    >>> OpenAIJudge(None, "gpt-4o").name, OpenAIJudge(None, "gpt-4o", params={"max_tokens": 200}).name
    ('gpt-4o', 'gpt-4o+af19d240')
    >>> from types import SimpleNamespace as Namespace
    >>> message = Namespace(message=Namespace(content='{"verdict": "not_in_evidence"}'))
    >>> create = lambda **request: Namespace(choices=[message])
    >>> client = Namespace(chat=Namespace(completions=Namespace(create=create)))
    >>> OpenAIJudge(client, "gpt-4o").reply([{"role": "user", "content": "?"}], {"temperature": 0})
    '{"verdict": "not_in_evidence"}'
    """

    def __init__(
        self, client: Any, model: str, *, family: str | None = None, params: Mapping[str, Any] | None = None
    ) -> None:
        self._model = model
        self._client = client
        self._params = dict(params or {})
        self.name = f"{model}+{digest(self._params)[:8]}" if self._params else model
        self.family = family if family is not None else family_of(model)

    def reply(self, messages: Sequence[dict[str, Any]], params: dict[str, Any]) -> str:
        """Ask the endpoint.

        Parameters
        ----------
        messages : sequence of dict
            From `messages_for`.
        params : dict
            ``temperature`` goes on; the rest tells asks apart for the cache alone.

        Returns
        -------
        str
            The reply's text.

        Raises
        ------
        JudgeEndpointError
            Where the reply holds no text.
        """
        temperature = params.get("temperature", 0)
        reply = self._client.chat.completions.create(
            model=self._model, messages=list(messages), temperature=temperature, **self._params
        )
        try:
            content = reply.choices[0].message.content
        except (AttributeError, IndexError, TypeError):
            content = None
        if not isinstance(content, str):
            raise JudgeEndpointError(f"the judge {self.name!r} gave a reply without a text")
        return content


class CallableJudge:
    """Judges by a function: a model server of your own, or a recorded one.

    Parameters
    ----------
    function : callable
        ``messages -> text``.
    name : str
        Name of the model.
    family : str, optional
        Its family, where the name does not tell it.

    Examples
    --------
    >>> CallableJudge(lambda messages: "{}", "claude-x").family
    'anthropic'
    """

    def __init__(
        self, function: Callable[[Sequence[dict[str, Any]]], str], name: str, family: str | None = None
    ) -> None:
        self.name = name
        self.family = family if family is not None else family_of(name)
        self._function = function

    def reply(self, messages: Sequence[dict[str, Any]], params: dict[str, Any]) -> str:
        """Call the function.

        Parameters
        ----------
        messages : sequence of dict
            From `messages_for`.
        params : dict
            Not used.

        Returns
        -------
        str
            What it returned.
        """
        return self._function(messages)
