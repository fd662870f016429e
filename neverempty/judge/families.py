"""The families of language models: a judge must not come from the one that it judges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from neverempty._errors import UsageError

_FAMILIES: Final = (
    ("openai", r"gpt|chatgpt|davinci|o[134](?:-|$)|text-embedding"),
    ("anthropic", r"claude"),
    ("google", r"gemini|gemma|palm|bison"),
    ("meta", r"llama"),
    ("mistral", r"mistral|mixtral|ministral|codestral|pixtral|magistral"),
    ("alibaba", r"qwen|qwq"),
    ("deepseek", r"deepseek"),
    ("cohere", r"command|aya"),
    ("microsoft", r"phi(?:-|\d)"),
    ("huggingface", r"smollm|zephyr"),
    ("xai", r"grok"),
    ("amazon", r"nova|titan"),
    ("zhipu", r"glm|chatglm"),
    ("moonshot", r"kimi|moonshot"),
    ("ibm", r"granite"),
    ("ai21", r"jamba|jurassic"),
    ("tii", r"falcon"),
    ("01-ai", r"yi-"),
    ("nvidia", r"nemotron"),
)
_PATTERNS: Final = tuple(
    (family, re.compile(rf"(?:^|[/:_.\s-])(?:{names})", re.I)) for family, names in _FAMILIES
)

FAMILIES: Final = frozenset({family for family, _ in _FAMILIES} | {"scripted", "rules"})
"""The families that there are; ``scripted`` agents and judges of ``rules`` are no language models."""


def family_of(model: str) -> str | None:
    """Name the family of a model.

    Parameters
    ----------
    model : str
        Its name, as a provider writes it.

    Returns
    -------
    str or None
        None where the name tells no family, or more than one (a model distilled from another).

    Examples
    --------
    >>> family_of("gpt-4o-mini"), family_of("meta-llama/Llama-3.1-8B"), family_of("my-model")
    ('openai', 'meta', None)
    >>> family_of("DeepSeek-R1-Distill-Qwen-7B") is None
    True
    """
    found = [family for family, pattern in _PATTERNS if pattern.search(model)]
    return found[0] if len(found) == 1 else None


def check_families(judge: str | None, agents: Iterable[str | None]) -> None:
    """Refuse a judge whose family is unknown, or that of an agent.

    Parameters
    ----------
    judge : str or None
        The judge's family.
    agents : iterable of str or None
        The families of the agents that it judges.

    Raises
    ------
    UsageError
        Says which family, and how to name it.

    Examples
    --------
    >>> check_families("openai", ["meta"])
    >>> check_families(None, ["meta"])
    Traceback (most recent call last):
    neverempty._errors.UsageError: nobody knows the judge's model family; name it, as family='openai'
    """
    if judge is None:
        raise UsageError("nobody knows the judge's model family; name it, as family='openai'")
    for agent in agents:
        if agent is None:
            raise UsageError(
                "nobody knows the agent's model family; name it, as agent_families=['meta'], so that the "
                "judge is not of the same"
            )
        if agent == judge:
            raise UsageError(
                f"judge and agent are both of the family {agent!r}; a model favours its own kind: take "
                "another judge"
            )
