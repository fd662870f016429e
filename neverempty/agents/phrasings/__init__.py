"""What the scripted agents say: one file of phrases per language, each with what it is meant to say."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

from neverempty._errors import UsageError

Says = Literal["absence", "failure", "data", "fabricated", "nothing"]
SAYS: Final[tuple[Says, ...]] = get_args(Says)
LANGUAGES: Final = ("en", "hi", "hinglish")
_SLOT: Final = re.compile(r"\{(\w+)\}")


class Phrase(NamedTuple):
    """One way of saying something.

    Parameters
    ----------
    text : str
        The words. ``{thing}`` and ``{Thing}`` stand for what was asked for, ``{rows}`` for what the tool
        returned, ``{code}`` and ``{code2}`` for made-up identifiers.
    says : str
        What a reader should take from it: ``absence``, ``failure``, ``data``, ``fabricated`` or ``nothing``.
    register : str
        Its tone, such as ``formal`` or ``terse``; ``empty`` is the answer without a word.
    language : str
        Its language.
    """

    text: str
    says: Says
    register: str
    language: str

    def fill(self, slots: Mapping[str, str]) -> str:
        """Put values into the slots.

        Parameters
        ----------
        slots : mapping of str to str
            By the slot's name, without braces; values are put in as they are.

        Returns
        -------
        str
            The phrase as the agent says it.

        Examples
        --------
        >>> Phrase("No {thing}.", "absence", "terse", "en").fill({"thing": "open jobs"})
        'No open jobs.'
        """
        # One pass, and no str.format: values are data, never templates.
        return _SLOT.sub(lambda found: slots.get(found[1], found[0]), self.text)


@functools.cache
def phrases(language: str) -> Mapping[Says, tuple[Phrase, ...]]:
    """Load the phrases of a language.

    Parameters
    ----------
    language : {"en", "hi", "hinglish"}
        The language.

    Returns
    -------
    mapping of str to tuple of Phrase
        By what they say.

    Raises
    ------
    UsageError
        For a language without phrases.

    Examples
    --------
    >>> sorted(phrases("en"))
    ['absence', 'data', 'fabricated', 'failure', 'nothing']
    """
    if language not in LANGUAGES:
        raise UsageError(f"there are no phrases in {language!r}; use one of {', '.join(LANGUAGES)}")
    source = resources.files("neverempty.agents.phrasings") / f"{language}.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    found = [Phrase(row["text"], row["says"], row["register"], language) for row in rows]
    return MappingProxyType({says: tuple(p for p in found if p.says == says) for says in SAYS})
