"""A file that drives the openai library is not collected where that library is missing."""

from __future__ import annotations

import importlib.util

collect_ignore = [] if importlib.util.find_spec("openai") else ["test_openai_client.py"]
