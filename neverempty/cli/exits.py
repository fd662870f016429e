"""Exit codes of the command line; a gate's own codes are listed with it."""

from __future__ import annotations

from typing import Final

OK: Final = 0
NOTHING_MEASURED: Final = 3
INVALID: Final = 4
USAGE: Final = 64
INTERNAL: Final = 70
INTERRUPTED: Final = 130
