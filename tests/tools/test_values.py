"""What a tool's value means: emptiness is declared, never inferred."""

from __future__ import annotations

import asyncio
import collections
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty._errors import UsageError
from neverempty.results import Empty, Err, Ok
from neverempty.tools import AmbiguousEmptyError, UnexpectedEmptyError, tool, wrap

EMPTIES = [None, [], {}, (), set(), frozenset(), collections.deque(), range(0)]
VALUES = [0, False, "", 0.0, b"", "[]", [0], {"rows": []}, [None], float("nan")]


def returning(value: Any, **options: Any) -> Any:
    return wrap(lambda: value, "search", **options)


@pytest.mark.parametrize("value", EMPTIES, ids=repr)
@pytest.mark.parametrize("returns", ["result", "native"])
def test_an_undeclared_empty_value_is_refused_with_every_way_out(value: object, returns: str) -> None:
    with pytest.raises(AmbiguousEmptyError) as caught:
        returning(value, returns=returns)()
    for words in ("'search'", "empty_when=lambda value:", "never_empty=True", "strict=False"):
        assert words in str(caught.value)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_zero_false_and_the_empty_text_are_values(value: object) -> None:
    assert returning(value)() == Ok(value) or value != value  # NaN
    assert returning(value, returns="native")() is value


@given(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.lists(st.integers())
    | st.dictionaries(st.text(), st.integers())
)
def test_strictness_refuses_exactly_none_and_empty_containers(value: Any) -> None:
    ambiguous = value is None or (isinstance(value, (list, dict)) and not value)
    if ambiguous:
        with pytest.raises(AmbiguousEmptyError):
            returning(value)()
    else:
        assert returning(value)() == Ok(value)
    assert returning(value, strict=False)() == Ok(value)


def test_only_a_declaration_makes_a_value_empty() -> None:
    search = wrap(lambda rows: {"rows": rows}, "search", empty_when=lambda value: value["rows"] == [])
    assert search([]) == Empty()
    assert search([1]) == Ok({"rows": [1]})
    native = wrap(lambda: [], "search", empty_when=lambda value: value == [], returns="native")
    assert native() == []


@pytest.mark.parametrize("value", EMPTIES, ids=repr)
def test_an_empty_value_of_a_tool_that_is_never_empty_is_a_failure(value: object) -> None:
    result = returning(value, never_empty=True)()
    assert isinstance(result, Err)
    assert (result.kind, result.status) == ("malformed", "error")
    with pytest.raises(UnexpectedEmptyError, match="never_empty"):
        returning(value, never_empty=True, returns="native")()


def test_a_tool_may_say_itself_what_it_found() -> None:
    for result in (Ok([]), Empty("closed on Sundays"), Err("auth", "expired")):
        assert returning(result)() == result
    assert isinstance(returning(Empty(), never_empty=True)(), Err)


def test_a_truncated_value_is_marked() -> None:
    search = wrap(lambda: {"rows": [1], "more": True}, "search", truncated_when=lambda value: value["more"])
    assert search().truncated is True


def test_a_payload_over_the_cap_is_cut_and_marked() -> None:
    result = returning(list(range(1000)), max_chars=40)()
    assert result.truncated is True
    assert result.value == list(range(12))
    assert len(json.dumps(json.loads(result.to_model())["data"])) <= 40
    assert returning([1], max_chars=40)() == Ok([1])
    assert returning(Ok("x" * 100), max_chars=20)().truncated is True


@pytest.mark.parametrize("name", ["empty_when", "truncated_when"])
def test_a_declaration_that_cannot_deal_with_the_value_is_an_error_of_the_set_up(name: str) -> None:
    def by_key(value: Any) -> object:
        return value["rows"]

    options: dict[str, Any] = {name: by_key}
    with pytest.raises(UsageError, match=f"'search': {name} raised KeyError"):
        returning({"items": []}, **options)()


def test_an_ordinary_function_that_returns_a_coroutine_is_refused() -> None:
    async def later() -> int:
        return 1

    with pytest.raises(UsageError, match="async def"):
        wrap(lambda: later(), "search")()


def test_asynchronous_tools_read_their_values_alike() -> None:
    @tool(empty_when=lambda value: value == [])
    async def search(rows: list[int]) -> list[int]:
        return rows

    assert search.is_async
    assert asyncio.run(search([])) == Empty()
    assert asyncio.run(search([1])) == Ok([1])
