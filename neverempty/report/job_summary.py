"""The summary of a CI job: Markdown under the limit above which the whole of it would be dropped."""

from __future__ import annotations

from typing import Final

from neverempty.report.export_content import Content
from neverempty.report.markdown_fit import fitted

MOST_BYTES: Final = 1_000_000
"""Most bytes of a summary; GitHub drops one above 1024k."""

_CAPS: Final = (1_000, 200, 50, 10)


def job_summary(content: Content) -> str:
    """Write the summary of a CI job.

    Parameters
    ----------
    content : Content
        What to write.

    Returns
    -------
    str
        Markdown of at most `MOST_BYTES`; what is trimmed is said.
    """
    return fitted(content, lambda text: len(text.encode("utf-8", "replace")) <= MOST_BYTES, _CAPS)
