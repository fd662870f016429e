"""A tracer on demand, and an importable client library that tools are built on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from neverempty.faults import Arm, FaultPlan, FaultSpec
from neverempty.traces.tracer import Tracer

CLIENT = """
class Unavailable(Exception):
    def __init__(self, request, response):
        raise RuntimeError("needs a live exchange")

class Refused(Exception):
    pass

requests = []

def get(query):
    requests.append(query)
    return ["row for " + query]

async def aget(query):
    requests.append(query)
    return ["row for " + query]

class Client:
    def get(self, query):
        return get(query)

    @staticmethod
    def fixed(query):
        return get(query)

    @classmethod
    def made(cls, query):
        return [cls.__name__, *get(query)]

class Child(Client):
    pass

client = Client()
"""


@pytest.fixture
def tracer_of() -> Callable[..., Tracer]:
    """Make a tracer for a list of faults given as dicts."""

    def make(
        *faults: dict[str, Any],
        arm: str | Arm = "typed",
        repeat: int = 0,
        case_id: str = "c1",
        **options: Any,
    ) -> Tracer:
        chosen = Arm.of(arm)
        specs = tuple(FaultSpec.model_validate(fault) for fault in faults)
        wording = chosen.params.get("wording", "default")
        plan = FaultPlan(specs, chosen.presentation, (0, "s", case_id, chosen.name, repeat), wording)
        return Tracer(SimpleNamespace(suite="s", id=case_id), chosen, repeat, 0, plan, **options)

    return make


@pytest.fixture
def client() -> Iterator[ModuleType]:
    """Put a new module ``shop_client`` in place for one test."""
    module = ModuleType("shop_client")
    exec(CLIENT, vars(module))
    sys.modules["shop_client"] = module
    yield module
    del sys.modules["shop_client"]
