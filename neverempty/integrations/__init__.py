"""Agents and tools of other frameworks under faults; each framework's library loads on first use."""

from __future__ import annotations

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submodules=["anthropic", "bedrock", "langchain", "langgraph", "mcp", "openai", "pydantic_ai"],
)
