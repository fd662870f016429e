"""Name the nearest known word to an unknown one, for error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that helps out of a misspelt name.

    Parameters
    ----------
    word : str
        The unknown word.
    known : iterable of str
        The words that would have been accepted.

    Returns
    -------
    str
        ``"; did you mean 'x'?"``, or the list of accepted words where none is near.

    Examples
    --------
    >>> did_you_mean("tolls", ["tools", "tags"])
    "; did you mean 'tools'?"
    >>> did_you_mean("zzz", ["tools", "tags"])
    "; allowed: 'tags', 'tools'"
    """
    options = sorted(known)
    near = difflib.get_close_matches(word, options, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return "; allowed: " + ", ".join(repr(option) for option in options)
