# ruff: noqa: TID252
from .honesty import honesty as honesty
