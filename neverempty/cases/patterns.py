"""Regular expressions of cases: one engine for all of them, linear in the text whatever the pattern."""

from __future__ import annotations

import functools
import re
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")


@functools.cache
def compile_pattern(pattern: str) -> Any:
    """Compile a pattern that came from a file.

    Parameters
    ----------
    pattern : str
        RE2 syntax: the usual one without look-around and back-references, so that no pattern can take more
        than linear time.

    Returns
    -------
    re2._Regexp
        The compiled pattern; search it through `find_pattern`.

    Raises
    ------
    ValueError
        Where the pattern does not compile, with RE2's reason.
    """
    import re2  # only cases with a pattern pay for it

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_LONE.sub("\ufffd", pattern), options)
    except re2.error as error:
        reason = error.args[0]
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"the pattern {pattern!r} does not compile (RE2 syntax): {reason}") from None


def find_pattern(pattern: str, text: str) -> tuple[int, int] | None:
    r"""Find a case's pattern in a text.

    Parameters
    ----------
    pattern : str
        RE2 syntax.
    text : str
        Any text; a lone surrogate counts as U+FFFD.

    Returns
    -------
    tuple of (int, int) or None
        Start and end of the first match, in characters; None without one.

    Examples
    --------
    >>> find_pattern(r"(?i)\bpune\b", "Jobs in Pune")
    (8, 12)
    """
    match = compile_pattern(pattern).search(_LONE.sub("\ufffd", text))
    return None if match is None else (int(match.start()), int(match.end()))
