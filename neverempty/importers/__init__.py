"""Traces that others wrote: checked, completed from their cases, and scored, or refused."""

from neverempty.importers.own import import_traces

__all__ = ["import_traces"]
