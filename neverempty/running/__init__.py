"""Running agents over cases: repeats, limits, budgets, record and replay, resume."""

from neverempty.running.api import RunInterrupted, RunOptions, arun, run

__all__ = ["RunInterrupted", "RunOptions", "arun", "run"]
