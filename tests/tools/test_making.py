"""Making tools of functions, and what a model is told about them."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import pytest

from neverempty._errors import UsageError
from neverempty.results import Err, Ok
from neverempty.tools import Tool, tool, wrap


def test_a_bare_decorator_says_that_it_needs_parentheses() -> None:
    def search() -> int:
        return 1

    with pytest.raises(UsageError, match=r"@tool\(\)"):
        tool(search)  # type: ignore[arg-type]


def test_a_tool_looks_like_its_function() -> None:
    @tool()
    def search(query: str, limit: int = 10) -> list[str]:
        """Find offers."""
        return [query] * limit

    assert isinstance(search, Tool)
    assert (search.name, search.description, search.is_async) == ("search", "Find offers.", False)
    assert list(inspect.signature(search).parameters) == ["query", "limit"]
    assert search("a", limit=2) == Ok(["a", "a"])
    assert repr(search) == "<tool 'search'>"


def test_methods_partials_and_callable_objects_can_be_tools() -> None:
    class Shop:
        def __init__(self) -> None:
            self.rows = ["a"]

        @tool()
        def search(self, query: str) -> list[str]:
            return [*self.rows, query]

        @tool()
        async def asearch(self, query: str) -> list[str]:
            return [*self.rows, query]

        async def __call__(self, query: str) -> list[str]:
            return [query]

    shop = Shop()
    assert shop.search("b") == Ok(["a", "b"])
    assert asyncio.run(shop.asearch("b")) == Ok(["a", "b"])
    assert list(shop.search.schema["properties"]) == ["query"]
    assert asyncio.run(wrap(shop, "shop")("c")) == Ok(["c"])
    assert wrap(functools.partial(pow, 2), "power")(3) == Ok(8)
    assert wrap(Shop, "make_shop").is_async is False


def test_what_cannot_be_a_tool_is_refused() -> None:
    def rows() -> Iterator[int]:
        yield 1

    async def arows() -> AsyncIterator[int]:
        yield 1

    for generator in (rows, arows):
        with pytest.raises(UsageError, match="return a list"):
            wrap(generator)
    with pytest.raises(UsageError, match="cannot be called"):
        wrap(3, "three")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="give name="):
        wrap(lambda: 1)
    with pytest.raises(UsageError, match=r"search\.fn"):
        wrap(wrap(len, "search"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"never_empty": True, "empty_when": len}, "contradict"),
        ({"returns": "text"}, "'result' or 'native'"),
        ({"empty_when": []}, "empty_when"),
        ({"truncated_when": True}, "truncated_when"),
        ({"classify_error": "auth"}, "classify_error"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"retries": -1}, "retries"),
        ({"retries": 1.5}, "retries"),
        ({"backoff": -1.0}, "backoff"),
        ({"backoff": float("inf")}, "backoff"),
        ({"max_chars": 3}, "max_chars"),
        ({"max_chars": 100, "returns": "native"}, "returns='result'"),
        ({"empty_wen": len}, "did you mean 'empty_when'"),
    ],
)
def test_declarations_that_cannot_work_are_refused_by_tool_and_name(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        wrap(len, "search", **options)
    assert "'search'" in str(caught.value)


def test_asynchronous_tools_are_recognised_as_coroutine_functions() -> None:
    @tool()
    async def search() -> int:
        return 1

    assert inspect.iscoroutinefunction(type(search).__call__)
    if hasattr(inspect, "markcoroutinefunction"):
        assert inspect.iscoroutinefunction(search)


def test_the_schema_describes_the_arguments() -> None:
    @tool()
    def search(query: str, /, place: Literal["pune", "goa"], *, limit: int = 5, _raw: bool = False) -> str:
        return f"{query} {place} {limit}"

    schema = search.schema
    assert search.invoke({"query": "cook", "place": "goa"}) == Ok("cook goa 5")
    assert schema["type"] == "object"
    assert schema["required"] == ["query", "place"]
    assert schema["properties"]["place"]["enum"] == ["pune", "goa"]
    assert schema["properties"]["limit"]["default"] == 5
    assert schema["properties"]["_raw"]["type"] == "boolean"
    assert schema["additionalProperties"] is False


def test_parameters_that_json_cannot_describe_accept_anything() -> None:
    class Session:
        pass

    def search(query, session: Session, missing: Nowhere = None, *more: int, **rest: str) -> None:  # type: ignore[no-untyped-def,name-defined]  # noqa: F821
        """Take whatever comes."""

    schema = wrap(search).schema
    assert set(schema["properties"]) == {"query", "session", "missing"}
    assert schema["required"] == ["query", "session"]
    assert schema["additionalProperties"] is True
    assert wrap(dict, "make").schema["type"] == "object"


def test_a_models_arguments_come_as_json_text_or_as_an_object() -> None:
    @tool()
    def search(query: str) -> list[str]:
        return [query]

    @tool()
    async def asearch(query: str) -> list[str]:
        return [query]

    assert search.invoke('{"query": "a"}') == search.invoke({"query": "a"}) == Ok(["a"])
    assert asyncio.run(asearch.invoke('{"query": "a"}')) == Ok(["a"])


@pytest.mark.parametrize("arguments", ['{"query": ', "[1]", "null", '{"place": "pune"}', "{}", {"q": 1}])
def test_wrong_arguments_of_a_model_are_an_error_it_can_mend(arguments: Any) -> None:
    @tool()
    def search(query: str) -> list[str]:
        return [query]

    @tool()
    async def asearch(query: str) -> list[str]:
        return [query]

    for result in (search.invoke(arguments), asyncio.run(asearch.invoke(arguments))):
        assert isinstance(result, Err)
        assert result.kind == "validation"
        assert "Details: " in result.to_model()


def test_a_type_error_inside_the_function_is_not_blamed_on_the_arguments() -> None:
    @tool()
    def search(query: str) -> int:
        return len(3)  # type: ignore[arg-type]

    assert search("a").kind == "exception"


def test_an_argument_may_have_any_name() -> None:
    @tool()
    def echo(**fields: Any) -> Any:
        return fields

    named = {"self": 1, "args": 2, "kwargs": 3, "tool": 4}
    assert echo(**named).value == named
