"""Take secrets out of everything before it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

REDACTED: Final = "[redacted]"

# Names whose value is a secret, compared after camelCase and dashes became underscores.
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:proxy_)?(?:authorization|api_?key|access_?key(?:_?id)?|secret_?key|private_?key|signing_?key|"
    r"encryption_?key|pass_?(?:word|wd|phrase|code)|pwd|secret|(?:client|app|webhook)_?secret|"
    r"(?:access|auth|refresh|id|session|bearer|api|csrf|xsrf|security)_?token|(?:set_)?cookies?|"
    r"credentials?|session_?id|bearer)$"
    r"|^(?:x_)?token$"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KEYWORD = (
    r"(?:(?:[a-z0-9]+[-_])*(?:authorization|api[-_]?key|access[-_]?key(?:[-_]?id)?|secret[-_]?key|"
    r"private[-_]?key|passw(?:or)?d|passphrase|pwd|secret|session[-_]?id|"
    r"(?:access|auth|refresh|id|session|bearer|api)[-_]?token)|token)"
)
_DELIMITER = r"\s\"'&,;\[\]{}"

# Each pattern with what it becomes; RE2 syntax, so every one is linear in the text.
_VALUES: Final[tuple[tuple[str, str], ...]] = (
    (
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?s:.*?)"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)",
        REDACTED,
    ),
    (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*", REDACTED),
    (r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}", REDACTED),
    (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", REDACTED),
    (r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})", REDACTED),
    (r"\b(?:xox[abeprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|AIza[0-9A-Za-z_-]{30,})", REDACTED),
    (r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9+/._~-]{12,}=*", rf"\1\2{REDACTED}"),
    (r"([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@\"'<>]*):[^\s/@\"'<>]+@", rf"\1:{REDACTED}@"),
    (r"(?i)\b((?:set-)?cookie\s*:\s*)[^\s=;,\"'\[\]]+=[^\r\n\"']*", rf"\1{REDACTED}"),
    # "key": "value", then the same in JSON that stands quoted inside JSON, then 'key': 'value'.
    (rf"(?i)\b({_KEYWORD}\"?\s*[=:]\s*\")(?:[^\"\\]|\\.)+\"", rf'\1{REDACTED}"'),
    (rf"(?i)\b({_KEYWORD}\\+\"\s*[=:]\s*(\\+\"))(?:[^\"\\]|\\+[^\"\\])+\\+\"", rf"\1{REDACTED}\2"),
    (rf"(?i)\b({_KEYWORD}'?\s*[=:]\s*')[^'\\]+'", rf"\1{REDACTED}'"),
    (rf"(?i)\b({_KEYWORD}\s*=\s*)[^{_DELIMITER}]+", rf"\1{REDACTED}"),
    (rf"(?i)\b({_KEYWORD}\"\s*:\s*)-?[0-9][0-9.eE+-]*", rf'\1"{REDACTED}"'),
    # After a colon stands prose as often as a secret: only what holds a digit.
    (
        rf"(?i)\b({_KEYWORD}\s*:\s*)(?:[^{_DELIMITER}0-9]{{3,}}[0-9]|"
        rf"[^{_DELIMITER}0-9]*[0-9][^{_DELIMITER}]{{3}})[^{_DELIMITER}]*",
        rf"\1{REDACTED}",
    ),
)
# Whatever is a secret by name or by value holds one of these in its JSON form, also where JSON quotes JSON.
# An escape such as \\n may stand right before it, so no word boundary. The trace's own fields hold none.
_HINTS: Final = (
    r"(?i)authorization|(?:api|access|private|signing|encryption)[-_ ]?key|secret|pwd|cookie|credential|"
    r"bearer|pass[-_ ]?(?:wo?r?d|phrase|code)|session[-_ ]?id|basic[\s\\]|"
    r"token(?:\\*[\"'])?(?:\s|\\[nrtf])*[=:]|"
    r"(?:sk|pk|rk)[-_][a-z0-9_-]{16}|(?:akia|asia)[0-9a-z]{16}|gh[pousr]_[a-z0-9]{20}|github_pat_|glpat-|"
    r"xox[abeprs]-|hf_[a-z0-9]{20}|aiza[0-9a-z_-]{30}|eyj[a-z0-9_-]{8,}\.|"
    r"://[^\s/:@\"'<>]*:[^\s/@\"'<>]+@"
)


class Redactor:
    r"""Replaces secrets in nested objects and texts.

    Parameters
    ----------
    patterns : iterable of str
        Further patterns (RE2 syntax) whose matches are replaced.
    redact : callable, optional
        A function of your own that gets every text, after the patterns, and returns what may be written.

    Examples
    --------
    >>> Redactor()({"city": "Pune", "api_key": "abc"})
    {'city': 'Pune', 'api_key': '[redacted]'}
    >>> Redactor(patterns=[r"\bEMP-[0-9]+"])("asked by EMP-1204")
    'asked by [redacted]'
    """

    def __init__(self, patterns: Iterable[str] = (), redact: Callable[[str], str] | None = None) -> None:
        import re2  # here, so that reading a trace does not load it

        own = tuple(patterns)
        self._hook = redact
        try:
            self._rules = [
                (re2.compile(pattern.encode("utf-8", "surrogatepass")), into.encode())
                for pattern, into in (*_VALUES, *((pattern, REDACTED) for pattern in own))
            ]
            hints = "|".join((_HINTS, *(f"(?-i:{pattern})" for pattern in own)))
            self._hints = re2.compile(hints.encode("utf-8", "surrogatepass"))
        except re2.error as error:
            raise ValueError(f"a redaction pattern does not compile (RE2 syntax): {error}") from None

    def suspects(self, text: bytes) -> bool:
        """Tell quickly whether a written object may hold a secret.

        Parameters
        ----------
        text : bytes
            The object as JSON.

        Returns
        -------
        bool
            False only where nothing would be replaced.
        """
        return self._hook is not None or self._hints.search(text) is not None

    def __call__(self, obj: Any) -> Any:
        """Return the object without its secrets.

        Parameters
        ----------
        obj : object
            Text, or mappings and sequences of it; anything else is returned as it is.

        Returns
        -------
        object
            A new object where something was replaced; the values of secret names become ``"[redacted]"``.
        """
        if isinstance(obj, str):
            return self._text(obj)
        if isinstance(obj, Mapping):
            return {
                self(key): REDACTED if _is_secret(key) and _is_filled(value) else self(value)
                for key, value in obj.items()
            }
        if isinstance(obj, list):
            return [self(value) for value in obj]
        return tuple(self(value) for value in obj) if isinstance(obj, tuple) else obj

    def _text(self, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        if self._hints.search(raw) is not None:
            for pattern, into in self._rules:
                raw = pattern.sub(into, raw)
            text = raw.decode("utf-8", "surrogatepass")
        return text if self._hook is None else self._hook(text)


def _is_secret(key: Any) -> bool:
    if not isinstance(key, str):
        return False
    name = _CAMEL.sub("_", key[-200:]).lower().replace("-", "_").replace(" ", "_")
    return _SECRET_NAME.search(name) is not None


def _is_filled(value: Any) -> bool:
    """Keep the values that say that there is no secret: None, False, True and empty things."""
    return value is not None and not isinstance(value, bool) and value not in ("", [], {}, ())


def redact(obj: Any) -> Any:
    """Return an object without the secrets that the package knows.

    Parameters
    ----------
    obj : object
        Text, or mappings and sequences of it.

    Returns
    -------
    object
        The object with secrets replaced by ``"[redacted]"``; use `Redactor` for rules of your own.

    Examples
    --------
    >>> redact("Authorization: Bearer 0123456789abcdef")
    'Authorization: Bearer [redacted]'
    """
    return Redactor()(obj)
