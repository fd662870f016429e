# ruff: noqa: TID252
from .floor_planner import FloorPlanner as FloorPlanner
