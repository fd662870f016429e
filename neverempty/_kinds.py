"""Reading the kind of a failure off an exception, without importing the library that raised it."""

from __future__ import annotations

import errno
import http.client
import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, cast, get_args

from pydantic import ValidationError

ErrorKind = Literal[
    "timeout",
    "connection",
    "rate_limit",
    "auth",
    "permission",
    "not_found",
    "validation",
    "upstream",
    "malformed",
    "exception",
]
ERROR_KINDS: Final[tuple[ErrorKind, ...]] = get_args(ErrorKind)

# Order matters: TimeoutError, ConnectionError and PermissionError are all OSErrors.
_BY_TYPE: Final[tuple[tuple[type[BaseException], ErrorKind], ...]] = (
    (TimeoutError, "timeout"),
    (ConnectionError, "connection"),
    (socket.gaierror, "connection"),
    (ssl.SSLError, "connection"),
    (PermissionError, "permission"),
    (FileNotFoundError, "not_found"),
    (json.JSONDecodeError, "malformed"),
    (UnicodeDecodeError, "malformed"),
    (http.client.IncompleteRead, "connection"),
    (http.client.BadStatusLine, "malformed"),
    (ValidationError, "validation"),
)
_NETWORK_ERRNOS: Final = frozenset(
    getattr(errno, name)
    for name in ("EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EHOSTDOWN", "ENETRESET", "ENOTCONN")
    if hasattr(errno, name)
)
_BY_STATUS: Final[Mapping[int, ErrorKind]] = {
    401: "auth",
    402: "permission",
    403: "permission",
    404: "not_found",
    407: "auth",
    408: "timeout",
    410: "not_found",
    429: "rate_limit",
}
# Well-known client libraries name their errors alike; the first pattern that fits a class's name counts.
_BY_NAME: Final[tuple[tuple[re.Pattern[str], ErrorKind], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), cast(ErrorKind, kind))
    for pattern, kind in (
        (r"time_?d?_?out|deadlineexceeded", "timeout"),
        (r"ratelimit|toomanyrequests|throttl|quotaexceeded|resourceexhausted|slowdown", "rate_limit"),
        (r"authentication|unauthenticated|unauthori[sz]ed|invalid(api|access)?(key|credential)"
         r"|nocredentials|expiredtoken|tokenexpired|loginfailed", "auth"),
        (r"permission|forbidden|accessdenied", "permission"),
        (r"jsondecode|decodingerror|contentdecoding|malformed", "malformed"),
        (r"connection|connecterror|networkerror|transporterror|proxyerror|sslerror|disconnected|unreachable"
         r"|nameresolution|maxretry|readerror|writeerror|protocolerror|hostkey|brokenpipe", "connection"),
        (r"serviceunavailable|badgateway|internalserver|servererror|overloaded|serverfailure", "upstream"),
        (r"validationerror|badrequest|invalidargument|unprocessable|invalidrequest"
         r"|invalidparam", "validation"),
        (r"^(?!module).*(notfound|nosuch|doesnotexist)", "not_found"),
    )
)  # fmt: skip


def kind_of(exc: BaseException) -> ErrorKind:
    """Map an exception to the kind of failure that it stands for.

    Tried in this order, first on the exception itself, then on what caused it (``__cause__``,
    ``__context__``, the members of a group, a ``reason`` that is an exception): its type, the HTTP status
    that it carries (``status_code``, ``status``, ``response.status_code``), the names of its classes as
    client libraries choose them. No client library is imported.

    Parameters
    ----------
    exc : BaseException
        What was raised.

    Returns
    -------
    str
        An error kind; ``"exception"`` where nothing tells.

    Examples
    --------
    >>> kind_of(TimeoutError()), kind_of(KeyError("x"))
    ('timeout', 'exception')
    """
    for link, implicit in _chain(exc):
        kind = _own_kind(link)
        # A handler that met a missing cache file and then failed otherwise did not "not find" anything.
        if kind != "exception" and not (implicit and kind == "not_found"):
            return kind
    return "exception"


def _chain(exc: BaseException) -> Iterator[tuple[BaseException, bool]]:
    """Walk an exception and its causes, nearest first, each once; True marks an implicit context."""
    queue: list[tuple[BaseException, bool]] = [(exc, False)]
    met: set[int] = set()
    while queue:
        link, implicit = queue.pop(0)
        if id(link) in met:
            continue
        met.add(id(link))
        yield link, implicit
        if isinstance(link, BaseExceptionGroup):
            queue.extend((member, implicit) for member in link.exceptions)
        reason = _attribute(link, "reason")
        if isinstance(reason, BaseException):
            queue.append((reason, implicit))
        if link.__cause__ is not None:
            queue.append((link.__cause__, implicit))
        elif link.__context__ is not None and not link.__suppress_context__:
            queue.append((link.__context__, True))


def _own_kind(exc: BaseException) -> ErrorKind:
    for cls, kind in _BY_TYPE:
        if isinstance(exc, cls):
            return kind
    if isinstance(exc, OSError) and exc.errno in _NETWORK_ERRNOS:
        return "connection"
    status = _http_status(exc)
    if status is not None:
        return _BY_STATUS.get(status) or ("upstream" if status >= 500 else "validation")
    return _kind_by_name(exc)


def _http_status(exc: BaseException) -> int | None:
    """Find the status of a failed HTTP exchange, 400 to 599, wherever client libraries keep it."""
    response = _attribute(exc, "response")
    for holder, name in (
        (exc, "status_code"),
        (exc, "status"),
        (response, "status_code"),
        (response, "status"),
    ):
        status = _attribute(holder, name)
        if isinstance(status, str) and status.isascii() and status.isdigit() and len(status) == 3:
            status = int(status)
        if isinstance(status, int) and not isinstance(status, bool) and 400 <= status <= 599:
            return int(status)
    return None


def _kind_by_name(exc: BaseException) -> ErrorKind:
    for cls in type(exc).__mro__:
        # OSError and its relatives say nothing by their names that their types have not said.
        if cls.__module__ == "builtins":
            continue
        for pattern, kind in _BY_NAME:
            if pattern.search(cls.__name__):
                return kind
    return "exception"


def _attribute(holder: Any, name: str) -> Any:
    """Read an attribute of a foreign object; a property that raises counts as absent."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None
