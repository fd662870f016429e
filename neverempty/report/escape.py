"""Making any text safe to show: in HTML, in Markdown, in plain text. The only place where this is done."""

from __future__ import annotations

import html as _html
import re
import unicodedata
from typing import Any, Final

# Control characters (ANSI begins with one), bidi and zero-width marks, lone surrogates, line separators.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters and marks that show as nothing.
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
# Line feeds and tabs; joiners, which ordinary writing and emoji need.
_KEPT: Final = frozenset("\n\t\u200c\u200d")
_MARKDOWN: Final = re.compile(
    r"[\\`*_{}\[\]#!|<>~$&]|:(?=//)|(?<=www)\.|^[-+=]|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)"
)
_MENTION: Final = re.compile(r"(?<![\w`])([@#])(?=[\w])|\b(GH)(?=-\d)", re.I)


def plain(text: Any, limit: int | None = None) -> str:
    r"""Make the invisible visible: one text without control, bidi, zero-width and broken characters.

    Parameters
    ----------
    text : object
        Any text; None becomes the empty text.
    limit : int, optional
        Most characters; what is cut off shows as an ellipsis.

    Returns
    -------
    str
        Line feeds and tabs stay; other such characters become escapes like ``\x1b`` and ``\u202e``.

    Examples
    --------
    >>> plain("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    shown = "" if text is None else str(text)
    if limit is not None and len(shown) > limit:
        shown = shown[: max(limit - 1, 0)] + "\u2026"
    shown = shown.replace("\r\n", "\n")
    return shown if shown.isascii() and shown.isprintable() else shown.translate(_VISIBLE)


class _Visible(dict[int, str]):
    """The shown form of each character, by its code; worked out once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        unseen = unicodedata.category(char) in _UNSEEN or char in _FILLERS or _is_noncharacter(code)
        self[code] = char if char in _KEPT or not unseen else _code(code)
        return self[code]


def _is_noncharacter(code: int) -> bool:
    """Tell code points that no text may hold; XML knows two of them as errors."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _code(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_VISIBLE: Final = _Visible()


def html(text: Any, limit: int | None = None) -> str:
    """Make a text safe between HTML tags and inside quoted attributes.

    Parameters
    ----------
    text : object
        Any text.
    limit : int, optional
        As for `plain`.

    Returns
    -------
    str
        With ``& < > " '`` as entities, and nothing invisible.

    Examples
    --------
    >>> html('<b onclick="x">')
    '&lt;b onclick=&quot;x&quot;&gt;'
    """
    return _html.escape(plain(text, limit), quote=True)


def markdown(text: Any, limit: int | None = None) -> str:
    r"""Make a text safe in Markdown, table cells included: it stays on one line and is nothing but text.

    Parameters
    ----------
    text : object
        Any text.
    limit : int, optional
        As for `plain`.

    Returns
    -------
    str
        Punctuation that Markdown reads is escaped, ``<`` and ``&`` are entities, line ends become spaces, and
        a zero-width space keeps ``@someone`` and ``#1`` from becoming a mention.

    Examples
    --------
    >>> markdown("| <b> *x*\n@ann") == "\\| &lt;b&gt; \\*x\\* @\u200bann"
    True
    """
    one_line = " ".join(plain(text, limit).split())
    escaped = _MARKDOWN.sub(_escape_markdown, one_line)
    return _MENTION.sub(lambda match: f"{match.group()}\u200b", escaped)


def _escape_markdown(match: re.Match[str]) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(match.group(), f"\\{match.group()}")
