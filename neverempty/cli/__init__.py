"""The command line: the same functions from a shell, one file per command."""

from neverempty.cli.app import main

__all__ = ["main"]
