"""Measure how often a tool-calling agent reports a failed tool as an empty result."""

__version__ = "0.1.0"
