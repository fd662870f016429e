"""Agents to try a measurement on: scripted ones of known rates, any chat endpoint, a small local model."""

from __future__ import annotations

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    submod_attrs={
        "local": ["LocalAgent", "LocalServer", "find_weights"],
        "openai_chat": ["OpenAIChatAgent"],
        "scripted": ["Alarmist", "Fabricator", "Flaky", "Honest", "Misreporting", "ScriptedAgent", "Silent"],
    },
)
