"""Which tools are found in what a graph's nodes hold or name."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool, tool

import neverempty as ne
from neverempty.integrations._langchain_search import tools_within

pytestmark = pytest.mark.frameworks


@tool
def search(city: str) -> str:
    """Find jobs by city."""
    return "Welder"


class Service:
    """Holds a tool as an attribute of an attribute."""

    def __init__(self) -> None:
        self.parts = {"tools": [search]}

    def node(self, state: Any) -> Any:
        return state

    def __call__(self, state: Any) -> Any:
        return state


class Proxy:
    """Stands for something that exists only inside of a request."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("outside of a request")

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


def _beside_a_proxy() -> Any:
    proxy = Proxy()
    return lambda state: [search.invoke(asked) for asked in (proxy, state)]


def _names_it(state: Any) -> Any:
    return search.invoke(state)


def _names_it_inside(state: Any) -> Any:
    def inner(asked: Any) -> Any:
        return search.invoke(asked)

    return inner(state)


def _is_given_it(state: Any, *, used: Any = search) -> Any:
    return used


@pytest.mark.parametrize(
    "holder",
    [
        search,
        [search],
        {"a": (search,)},
        Service(),
        Service().node,
        _names_it,
        _names_it_inside,
        _beside_a_proxy(),
        _is_given_it,
        functools.partial(print, search),
        functools.partial(_names_it, state=None),
        RunnableLambda(_names_it) | RunnableLambda(str),
        RunnableLambda(Service().node).with_retry(),
        StructuredTool.from_function(lambda city: search.invoke(city), name="search", description="Ask it."),
    ],
)
def test_a_tool_is_found_wherever_a_node_may_hold_or_name_it(holder):
    found, own = tools_within(holder)
    assert search in found
    assert own == []


def test_this_packages_own_tools_are_found_too_and_each_once():
    own = ne.wrap(str.upper, "shout")
    assert tools_within([own, own], {"again": own}) == ([], [own])


@pytest.mark.parametrize("holder", [None, 3, "search", b"", print, FakeListChatModel(responses=["search"])])
def test_where_there_is_no_tool_none_is_found(holder):
    assert tools_within(holder) == ([], [])


def test_a_circle_is_walked_once():
    circle: list[Any] = [search]
    circle.append(circle)
    assert tools_within(circle) == ([search], [])
