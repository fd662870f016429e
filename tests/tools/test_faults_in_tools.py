"""Faults put into a tool: what the agent gets, and what is written down as the truth."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from neverempty.faults import KINDS, PRESENTATIONS, Arm, FlaggedText, exception_of, present
from neverempty.results import Empty, Err, Ok
from neverempty.tools import AmbiguousEmptyError, SideEffectError, tool, wrap
from neverempty.traces.model import ToolCall
from neverempty.traces.tracer import Tracer, activate

TracerOf = Callable[..., Tracer]
FAILING = [kind for kind, info in KINDS.items() if info.fails]


def rows(query: str = "q") -> list[str]:
    return [f"row for {query}"]


async def arows(query: str = "q") -> list[str]:
    return rows(query)


def outcome(tracer: Tracer, made: Any, *args: Any, **kwargs: Any) -> tuple[Any, ToolCall]:
    """Call a tool once under a tracer; an exception is returned like a value."""
    with activate(tracer):
        try:
            value = asyncio.run(made(*args, **kwargs)) if made.is_async else made(*args, **kwargs)
        except Exception as error:
            value = error
    return value, tracer.calls[-1]


@pytest.mark.parametrize("fn", [rows, arows])
@pytest.mark.parametrize("presentation", PRESENTATIONS)
@pytest.mark.parametrize("kind", [*FAILING, "empty"])
def test_a_typed_tool_shows_every_pair_as_the_table_says(
    tracer_of: TracerOf, kind: str, presentation: str, fn: Any
) -> None:
    tracer = tracer_of({"tool": "search", "kind": kind}, arm=presentation)
    value, call = outcome(tracer, wrap(fn, "search"))
    text = present(kind, presentation, "search").text
    assert value.to_model() == text == call.returned
    assert (call.truth, call.kind) == ("empty" if kind == "empty" else "error", kind)
    assert (call.injected, call.state, call.layer, call.presentation) == (True, "fired", "tool", presentation)
    assert tracer.fault_columns() == (kind, presentation, "tool", "fired")


@pytest.mark.parametrize("fn", [rows, arows])
@pytest.mark.parametrize("presentation", PRESENTATIONS)
@pytest.mark.parametrize("kind", [*FAILING, "empty"])
def test_a_native_tool_returns_or_raises_as_such_a_tool_does(
    tracer_of: TracerOf, kind: str, presentation: str, fn: Any
) -> None:
    tracer = tracer_of({"tool": "search", "kind": kind}, arm=presentation)
    value, call = outcome(tracer, wrap(fn, "search", returns="native"))
    shown = present(kind, presentation, "search")
    if kind == "empty" or presentation == "swallowed":
        assert value == []
    elif presentation == "raised":
        assert type(value) is type(exception_of(kind))
        assert call.returned is None
        assert str(value) == KINDS[kind].message
    elif presentation == "declined":
        assert value == shown.value
    else:
        assert value == shown.text
        assert isinstance(value, FlaggedText) == (presentation == "flagged")
    assert call.truth == ("empty" if kind == "empty" else "error")


def test_a_swallowed_error_passes_strictness_as_the_bug_does(tracer_of: TracerOf) -> None:
    search = wrap(rows, "search", swallowed={"rows": []})
    value, call = outcome(tracer_of({"tool": "search", "kind": "timeout"}, arm="swallowed"), search)
    assert value.value == {"rows": []}
    assert (call.truth, call.returned) == ("error", '{"rows": []}')
    never = wrap(rows, "search", never_empty=True)
    value, call = outcome(tracer_of({"tool": "search", "kind": "timeout"}, arm="swallowed"), never)
    assert (value.value, call.truth) == ([], "error")


def test_the_arms_wording_reaches_injected_and_real_errors(tracer_of: TracerOf) -> None:
    def broken() -> int:
        raise TimeoutError

    arm = Arm(name="short", params={"wording": "short"})
    expected = Err("timeout").to_model("short")
    assert outcome(tracer_of({"tool": "search", "kind": "timeout"}, arm=arm), wrap(rows, "search"))[
        0
    ].to_model() == (expected)
    value, call = outcome(tracer_of(arm=arm), wrap(broken, "search"))
    assert value.to_model() == call.returned == expected


def test_only_the_planned_calls_of_the_planned_tool_meet_the_fault(tracer_of: TracerOf) -> None:
    search, mail = wrap(rows, "search"), wrap(rows, "mail")
    tracer = tracer_of({"tool": "search", "kind": "timeout", "after_calls": 1, "for_calls": 1})
    with activate(tracer):
        results = [search(), mail(), search(), search()]
    assert [result.status for result in results] == ["ok", "ok", "error", "ok"]
    assert [call.state for call in tracer.calls] == ["none", "none", "fired", "none"]
    assert [call.call for call in tracer.calls] == [0, 1, 2, 3]


def test_a_fault_whose_tool_is_never_called_stays_armed(tracer_of: TracerOf) -> None:
    tracer = tracer_of({"tool": "search", "kind": "timeout"})
    with activate(tracer):
        wrap(rows, "mail")()
    assert tracer.fault_columns() == ("timeout", "typed", "tool", "armed")
    assert tracer_of({"tool": "search", "kind": "none"}).fault_columns() == ("none", None, None, "none")


def test_a_fault_before_the_operation_prevents_it_and_one_after_does_not(tracer_of: TracerOf) -> None:
    done: list[str] = []

    def book(room: str) -> str:
        done.append(room)
        return "booked"

    for when, effects in (("before", []), ("after", ["blue"])):
        done.clear()
        tracer = tracer_of({"tool": "book", "kind": "timeout", "when": when})
        value, call = outcome(tracer, wrap(book), "blue")
        assert (value.status, call.truth, call.state) == ("error", "error", "fired")
        assert done == effects


def test_a_fault_after_an_operation_that_failed_by_itself_has_not_fired(tracer_of: TracerOf) -> None:
    def broken() -> int:
        raise PermissionError

    tracer = tracer_of({"tool": "search", "kind": "timeout", "when": "after"})
    value, call = outcome(tracer, wrap(broken, "search"))
    assert (value.kind, call.kind, call.truth) == ("permission", "permission", "error")
    assert (call.injected, call.state) == (False, "armed")


# ------------------------------------------------------------------------------------------------- retries


def test_a_fault_that_the_tools_own_retry_outlives_is_recovered(tracer_of: TracerOf) -> None:
    search = wrap(rows, "search", retries=1, sleep=lambda _: None)
    tracer = tracer_of({"tool": "search", "kind": "timeout", "for_calls": 1})
    value, call = outcome(tracer, search)
    assert value == Ok(["row for q"])
    assert (call.truth, call.kind, call.attempts) == ("data", "timeout", 2)
    assert (call.injected, call.state) == (True, "fired")


def test_a_lasting_fault_meets_every_attempt(tracer_of: TracerOf) -> None:
    search = wrap(rows, "search", retries=2, sleep=lambda _: None)
    value, call = outcome(tracer_of({"tool": "search", "kind": "timeout"}), search)
    assert (value.kind, call.attempts, call.truth) == ("timeout", 3, "error")


@pytest.mark.parametrize(
    ("kind", "arm"), [("auth", "typed"), ("timeout", "swallowed"), ("timeout", "declined")]
)
def test_what_no_code_could_see_or_mend_is_not_retried(tracer_of: TracerOf, kind: str, arm: str) -> None:
    search = wrap(rows, "search", retries=2, sleep=lambda _: None)
    call = outcome(tracer_of({"tool": "search", "kind": kind, "for_calls": 1}, arm=arm), search)[1]
    assert (call.attempts, call.truth) == (1, "error")


# ------------------------------------------------------------------------------------------------ degraded


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        ({"kind": "truncated"}, {"data": [1, 2], "truncated": True}),
        ({"kind": "partial", "page": 1, "page_size": 3}, {"data": [4], "truncated": False}),
        ({"kind": "stale", "data": [0]}, {"data": [0], "truncated": False}),
    ],
)
def test_a_degraded_payload_is_data_with_a_part_taken_away(
    tracer_of: TracerOf, fault: dict[str, Any], shown: dict[str, Any]
) -> None:
    tracer = tracer_of({"tool": "search", **fault}, arm="swallowed")
    value, call = outcome(tracer, wrap(lambda: [1, 2, 3, 4], "search"))
    assert json.loads(value.to_model()) == {"status": "ok", **shown}
    assert (call.truth, call.kind, call.state, call.presentation) == ("data", fault["kind"], "fired", None)
    assert tracer.fault_columns() == (fault["kind"], None, "tool", "fired")


def test_a_native_payload_is_degraded_too(tracer_of: TracerOf) -> None:
    search = wrap(lambda: {"jobs": [{"id": 1}]}, "search", returns="native")
    value, call = outcome(tracer_of({"tool": "search", "kind": "schema_drift"}), search)
    assert value == {"jobs_v2": [{"id_v2": 1}]}
    assert call.truth == "data"


def test_data_taken_away_to_the_last_item_is_shown_as_the_tool_would_show_it(tracer_of: TracerOf) -> None:
    fault = {"tool": "search", "kind": "partial", "page": 1, "page_size": 9}
    value, call = outcome(tracer_of(fault), wrap(lambda: [1], "search", empty_when=lambda value: value == []))
    assert (value, call.truth, call.state) == (Empty(), "data", "fired")
    value, call = outcome(tracer_of(fault), wrap(lambda: [1], "search"))
    assert (value, call.truth) == (Ok([]), "data")


def test_where_nothing_can_be_taken_away_the_fault_has_not_fired(tracer_of: TracerOf) -> None:
    value, call = outcome(tracer_of({"tool": "search", "kind": "partial"}), wrap(lambda: 7, "search"))
    assert (value, call.state, call.injected, call.kind) == (Ok(7), "armed", False, None)
    tracer = tracer_of({"tool": "search", "kind": "truncated"})
    value, call = outcome(tracer, wrap(lambda: Empty(), "search"))
    assert (value, call.truth, call.state) == (Empty(), "empty", "armed")


# ------------------------------------------------------------------------------------------------- records


def test_a_record_holds_arguments_by_name_as_they_were(tracer_of: TracerOf) -> None:
    def search(query: str, filters: list[str], *more: int, limit: int = 3) -> int:
        filters.append("changed by the tool")
        return limit

    tracer = tracer_of()
    filters = ["new"]
    with activate(tracer):
        wrap(search)("a", filters, 1, 2, limit=5)
        wrap(max, "max")(1, 2)
        wrap(search).invoke({"query": "b", "filters": []}, call_id="id-1")
    assert tracer.calls[0].args == {"query": "a", "filters": ["new"], "more": [1, 2], "limit": 5}
    assert tracer.calls[1].args == {"args": [1, 2]}
    assert (tracer.calls[2].call_id, tracer.calls[2].args) == ("id-1", {"query": "b", "filters": []})
    assert tracer.calls[0].duration_ms >= 0


def test_a_real_empty_a_real_error_and_data_are_told_apart(tracer_of: TracerOf) -> None:
    def search(query: str) -> list[str]:
        if query == "broken":
            raise ConnectionError("reset")
        return [] if query == "rare" else [query]

    made = wrap(search, empty_when=lambda value: value == [])
    tracer = tracer_of()
    with activate(tracer):
        for query in ("plenty", "rare", "broken"):
            made(query)
    assert [(call.truth, call.kind) for call in tracer.calls] == [
        ("data", None),
        ("empty", None),
        ("error", "connection"),
    ]
    assert not any(call.injected for call in tracer.calls)


def test_an_ambiguous_value_is_of_unknown_truth(tracer_of: TracerOf) -> None:
    value, call = outcome(tracer_of(), wrap(lambda: None, "search"))
    assert isinstance(value, AmbiguousEmptyError)
    assert (call.truth, call.returned) == ("unknown", None)


def test_a_cancelled_call_is_of_unknown_truth(tracer_of: TracerOf) -> None:
    tracer = tracer_of()

    async def main() -> None:
        with activate(tracer):
            task = asyncio.create_task(wrap(asyncio.sleep, "pause")(20))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert (tracer.calls[0].truth, tracer.calls[0].returned) == ("unknown", None)


def test_parallel_calls_are_numbered_as_they_began(tracer_of: TracerOf) -> None:
    async def search(query: str, wait: float) -> str:
        await asyncio.sleep(wait)
        return query

    made = wrap(search)
    tracer = tracer_of({"tool": "search", "kind": "timeout", "after_calls": 1, "for_calls": 1})

    async def main() -> list[Any]:
        with activate(tracer):
            return await asyncio.gather(made("a", 0.03), made("b", 0), made("c", 0.01))

    results = asyncio.run(main())
    assert [result.status for result in results] == ["ok", "error", "ok"]
    assert [(call.call, call.args["query"]) for call in tracer.calls] == [(0, "a"), (1, "b"), (2, "c")]


def test_the_same_key_gives_the_same_calls(tracer_of: TracerOf) -> None:
    def once() -> list[tuple[Any, ...]]:
        tracer = tracer_of({"tool": "search", "kind": "rate_limit", "for_calls": 1}, arm="flagged")
        with activate(tracer):
            for query in ("a", "b"):
                wrap(rows, "search")(query)
        return [(call.args, call.truth, call.returned, call.state) for call in tracer.calls]

    assert once() == once()


# -------------------------------------------------------------------------------------------- side effects


def test_outside_of_a_run_a_tool_with_side_effects_runs() -> None:
    assert wrap(lambda: "sent", "send_mail", side_effect=True)() == Ok("sent")


@pytest.mark.parametrize("fault", [[], [{"tool": "send_mail", "kind": "timeout"}]])
def test_inside_a_run_it_is_refused_loudly_unless_it_is_stubbed(
    tracer_of: TracerOf, fault: list[dict[str, Any]]
) -> None:
    sent: list[str] = []
    send_mail = wrap(sent.append, "send_mail", side_effect=True)
    tracer = tracer_of(*fault)
    with activate(tracer), pytest.raises(SideEffectError, match=r"stubs=\{'send_mail': function\}"):
        send_mail("hello")
    assert sent == []
    assert "send_mail" in str(tracer.poisoned)


def test_a_stub_runs_in_the_functions_place_and_is_read_alike(tracer_of: TracerOf) -> None:
    sent: list[str] = []
    send_mail = wrap(sent.append, "send_mail", side_effect=True)
    stub = SimpleNamespace(texts=[])
    tracer = tracer_of(stubs={"send_mail": lambda text: stub.texts.append(text) or "queued"})
    with activate(tracer):
        assert send_mail("hello") == Ok("queued")
    assert (sent, stub.texts) == ([], ["hello"])
    assert tracer.calls[0].args == {"args": ["hello"]} or tracer.calls[0].args == {"object": "hello"}


def test_an_asynchronous_tool_accepts_either_kind_of_stub(tracer_of: TracerOf) -> None:
    @tool(side_effect=True)
    async def send_mail(text: str) -> str:
        return "really sent"

    async def queued(text: str) -> str:
        return "queued"

    for stub in (queued, lambda text: "queued"):
        with activate(tracer_of(stubs={"send_mail": stub})):
            assert asyncio.run(send_mail("hello")) == Ok("queued")
