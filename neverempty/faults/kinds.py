"""The vocabulary of faults: what can go wrong, and how it can reach the model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, get_args

FaultKind = Literal[
    "timeout",
    "connection",
    "rate_limit",
    "auth",
    "permission",
    "upstream",
    "validation",
    "malformed",
    "exception",
    "truncated",
    "partial",
    "schema_drift",
    "stale",
    "not_found",
    "empty",
    "none",
]
Presentation = Literal["typed", "raised", "flagged", "declined", "swallowed"]
PRESENTATIONS: Final[tuple[Presentation, ...]] = get_args(Presentation)

FaultTruth = Literal["error", "degraded", "unclear", "empty", "data"]


class KindInfo(NamedTuple):
    """What the package knows about one kind of fault.

    Parameters
    ----------
    name : str
        The kind.
    truth : {"error", "degraded", "unclear", "empty", "data"}
        What it makes true: a failure, data with a part taken away, a failure that may itself mean absence,
        a genuine empty result, or plain data.
    message : str
        What the failing service says; ``""`` where nothing fails.
    exception : str
        Name of the exception that such a failure raises in Python; ``""`` where nothing fails.
    http_status : int or None
        The HTTP status that goes with it.
    """

    name: str
    truth: FaultTruth
    message: str = ""
    exception: str = ""
    http_status: int | None = None

    @property
    def presented(self) -> bool:
        """Whether the kind is shown through a presentation at all.

        Returns
        -------
        bool
            False for degraded kinds and ``none``: the tool's own payload is what the model sees.
        """
        return self.truth in ("error", "unclear", "empty")

    @property
    def fails(self) -> bool:
        """Whether the call fails.

        Returns
        -------
        bool
            True for errors and for the unclear kinds.
        """
        return self.truth in ("error", "unclear")


KINDS: Final[Mapping[str, KindInfo]] = MappingProxyType(
    {
        info.name: info
        for info in (
            KindInfo("timeout", "error", "the request timed out after 30 seconds", "TimeoutError"),
            KindInfo("connection", "error", "the connection was reset by the remote host", "ConnectionError"),
            KindInfo("rate_limit", "error", "HTTP 429 Too Many Requests", "HTTPStatusError", 429),
            KindInfo("auth", "error", "HTTP 401 Unauthorized", "HTTPStatusError", 401),
            KindInfo("permission", "error", "HTTP 403 Forbidden", "HTTPStatusError", 403),
            KindInfo("upstream", "error", "HTTP 503 Service Unavailable", "HTTPStatusError", 503),
            KindInfo("validation", "error", "HTTP 422 Unprocessable Entity", "HTTPStatusError", 422),
            KindInfo(
                "malformed",
                "error",
                "Expecting ',' delimiter: line 1 column 59 (char 58)",
                "JSONDecodeError",
            ),
            KindInfo("exception", "error", "unexpected state in the request handler", "RuntimeError"),
            KindInfo("truncated", "degraded"),
            KindInfo("partial", "degraded"),
            KindInfo("schema_drift", "degraded"),
            KindInfo("stale", "degraded"),
            KindInfo("not_found", "unclear", "HTTP 404 Not Found", "HTTPStatusError", 404),
            KindInfo("empty", "empty"),
            KindInfo("none", "data"),
        )
    }
)
