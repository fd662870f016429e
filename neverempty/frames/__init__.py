"""The frames: the contract of their columns, building and checking them, files in and out."""

from neverempty.frames.build import build_frame, calls_frame, trace_rows, traces_frame
from neverempty.frames.check import check_frame, frame_problems
from neverempty.frames.files import frame_name, read_frame, write_frame
from neverempty.frames.schema import SCHEMAS, Column, Schema

calls = calls_frame
"""The name under which the package exports `calls_frame`."""

__all__ = [
    "SCHEMAS",
    "Column",
    "Schema",
    "build_frame",
    "calls",
    "calls_frame",
    "check_frame",
    "frame_name",
    "frame_problems",
    "read_frame",
    "trace_rows",
    "traces_frame",
    "write_frame",
]
