"""Faults below the tool's own except: where the bug that turns failures into empty results lives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from neverempty._errors import UsageError
from neverempty.faults import FaultSpec, HTTPStatusError
from neverempty.results import Empty, Err, Ok
from neverempty.tools import below, tool, wrap
from neverempty.traces.tracer import NoActivePlanError, Tracer, activate

TracerOf = Callable[..., Tracer]
TIMEOUT = {"tool": "search", "kind": "timeout", "below": "shop_client:get"}


def fault(**fields: Any) -> dict[str, Any]:
    return TIMEOUT | fields


def swallowing(client: ModuleType, error: type[Exception] = TimeoutError) -> Callable[[str], Any]:
    """Write a search as people write it: the failure is logged and turned into a list."""

    def search(query: str) -> Any:
        try:
            return client.get(query)
        except error:
            return []

    return search


@pytest.fixture(params=["result", "native"])
def returns(request: pytest.FixtureRequest) -> Any:
    return request.param


def run(tracer: Tracer, made: Any, *args: Any) -> Any:
    plan = tracer.plan
    with below(plan.faults if plan else ()), activate(tracer):
        return made(*args)


def test_a_swallowed_failure_is_an_error_whatever_the_tools_own_code_made_of_it(
    client: ModuleType, tracer_of: TracerOf, returns: Any
) -> None:
    tracer = tracer_of(TIMEOUT)
    value = run(tracer, wrap(swallowing(client), "search", returns=returns), "cook")
    call = tracer.calls[0]
    assert (value if returns == "native" else value.value) == []
    assert (call.truth, call.kind, call.injected, call.state) == ("error", "timeout", True, "fired")
    assert call.layer == "shop_client:get"
    assert call.presentation is None
    assert "[]" in str(call.returned)
    assert tracer.fault_columns() == ("timeout", None, "shop_client:get", "fired")
    assert client.requests == []


def test_put_outside_the_tool_the_same_fault_is_another_experiment(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of({"tool": "search", "kind": "timeout"})
    value = run(tracer, wrap(swallowing(client), "search"), "cook")
    assert value.status == "error"
    assert tracer.calls[0].layer == "tool"


def test_a_declared_empty_value_reaches_the_model_as_empty_which_is_the_bug(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of(TIMEOUT)
    search = wrap(swallowing(client), "search", empty_when=lambda value: value == [])
    assert run(tracer, search, "cook") == Empty()
    assert tracer.calls[0].truth == "error"


def test_a_tool_declared_never_empty_turns_the_swallowed_failure_back_into_one(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of(TIMEOUT)
    result = run(tracer, wrap(swallowing(client), "search", never_empty=True), "cook")
    assert isinstance(result, Err)
    assert (tracer.calls[0].truth, tracer.calls[0].kind) == ("error", "timeout")


def test_a_failure_that_the_tool_lets_through_is_shown_as_the_tool_layer_shows_it(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    def wrapped(query: str) -> Any:
        try:
            return client.get(query)
        except TimeoutError as error:
            raise RuntimeError("search is down") from error

    tracer = tracer_of(TIMEOUT)
    assert run(tracer, wrap(wrapped, "search"), "cook").kind == "timeout"
    assert (tracer.calls[0].presentation, tracer.calls[0].kind) == ("typed", "timeout")
    tracer = tracer_of(fault(kind="upstream"))
    with pytest.raises(HTTPStatusError):
        run(tracer, wrap(lambda query: client.get(query), "search", returns="native"), "cook")
    assert (tracer.calls[0].presentation, tracer.calls[0].kind) == ("raised", "upstream")


@pytest.mark.parametrize(
    ("target", "call"),
    [
        ("shop_client:Client.get", lambda client, query: client.Client().get(query)),
        ("shop_client:Child.get", lambda client, query: client.Child().get(query)),
        ("shop_client:Client.get", lambda client, query: client.Child().get(query)),
        ("shop_client:Client.fixed", lambda client, query: client.Client.fixed(query)),
        ("shop_client:Client.made", lambda client, query: client.Client.made(query)),
        ("shop_client:client.get", lambda client, query: client.client.get(query)),
    ],
)
def test_methods_of_every_sort_can_fail_and_are_put_back(
    client: ModuleType, tracer_of: TracerOf, target: str, call: Any
) -> None:
    before = {name: dict(vars(getattr(client, name))) for name in ("Client", "Child")}
    genuine = call(client, "cook")
    search = wrap(lambda query: call(client, query), "search")
    tracer = tracer_of(fault(below=target, for_calls=1))
    with below(tracer.plan.faults), activate(tracer):  # type: ignore[union-attr]
        assert search("cook").kind == "timeout"
        assert search("cook") == Ok(genuine)
    assert {name: dict(vars(getattr(client, name))) for name in before} == before
    assert vars(client.client) == {}


def test_a_sibling_class_that_inherits_the_same_method_is_left_alone(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of(fault(below="shop_client:Child.get"))
    assert run(tracer, wrap(lambda query: client.Client().get(query), "search"), "cook").status == "ok"
    assert tracer.fault_columns()[3] == "armed"


def test_an_asynchronous_callable_fails_below_an_asynchronous_tool(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    @tool()
    async def search(query: str) -> Any:
        try:
            return await client.aget(query)
        except TimeoutError:
            return []

    tracer = tracer_of(fault(below="shop_client:aget"))
    with below(tracer.plan.faults), activate(tracer):  # type: ignore[union-attr]
        assert asyncio.run(search("cook")) == Ok([])
    assert (tracer.calls[0].truth, tracer.calls[0].layer) == ("error", "shop_client:aget")
    assert asyncio.run(client.aget("cook")) == ["row for cook"]


def test_after_a_coroutine_that_does_not_look_like_one_the_operation_was_made(
    client: ModuleType, tracer_of: TracerOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    async def operation(query: str) -> list[str]:
        made.append(query)
        return ["row"]

    monkeypatch.setattr(client, "aget", lambda query: operation(query))

    @tool()
    async def search(query: str) -> Any:
        return await client.aget(query)

    tracer = tracer_of(fault(below="shop_client:aget", when="after"))
    with below(tracer.plan.faults), activate(tracer):  # type: ignore[union-attr]
        assert asyncio.run(search("cook")).kind == "timeout"
    assert (made, tracer.calls[0].state) == (["cook"], "fired")


def test_a_callable_that_the_tool_never_reached_leaves_the_fault_armed(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of(TIMEOUT)
    assert run(tracer, wrap(lambda query: ["cached"], "search"), "cook") == Ok(["cached"])
    call = tracer.calls[0]
    assert (call.truth, call.kind, call.injected, call.state) == ("data", None, False, "armed")
    assert call.layer == "shop_client:get"
    assert tracer.fault_columns() == ("timeout", None, "shop_client:get", "armed")


def test_after_the_operation_the_request_was_made_all_the_same(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    run(tracer_of(fault(when="after")), wrap(swallowing(client), "search"), "cook")
    assert client.requests == ["cook"]


@pytest.mark.parametrize("name", ["Refused", "Unavailable"])
def test_the_clients_own_exception_can_be_raised(client: ModuleType, tracer_of: TracerOf, name: str) -> None:
    tracer = tracer_of(fault(raises=f"shop_client:{name}"))
    made = wrap(swallowing(client, getattr(client, name)), "search")
    assert run(tracer, made, "cook").value == []
    assert (tracer.calls[0].truth, tracer.calls[0].kind) == ("error", "timeout")


def test_the_tools_own_retry_meets_a_lower_layer_that_works_again(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of(fault(for_calls=1))
    made = wrap(lambda query: client.get(query), "search", retries=1, sleep=lambda _: None)
    assert run(tracer, made, "cook") == Ok(["row for cook"])
    call = tracer.calls[0]
    assert (call.truth, call.kind, call.attempts, call.state) == ("data", "timeout", 2, "fired")


def test_a_second_attempt_that_takes_another_way_is_not_called_broken(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    attempts: list[int] = []

    def search(query: str) -> Any:
        attempts.append(1)
        return client.get(query) if len(attempts) == 1 else ["from the cache"]

    tracer = tracer_of(fault())
    made = wrap(search, retries=1, sleep=lambda _: None)
    assert run(tracer, made, "cook") == Ok(["from the cache"])
    assert tracer.calls[0].truth == "data"


def test_other_callers_of_the_same_callable_are_left_alone(client: ModuleType, tracer_of: TracerOf) -> None:
    tracer = tracer_of(TIMEOUT)
    other = wrap(lambda query: client.get(query), "other")
    with below(tracer.plan.faults):  # type: ignore[union-attr]
        assert client.get("outside") == ["row for outside"]
        with activate(tracer):
            assert other("cook") == Ok(["row for cook"])
            assert client.get("agent") == ["row for agent"]


def test_overlapping_runs_share_one_patch_and_the_last_puts_the_original_back(
    client: ModuleType,
) -> None:
    original = client.get
    spec = FaultSpec.model_validate(TIMEOUT)
    first, second = below([spec, spec]), below([spec])
    first.__enter__()
    second.__enter__()
    patched = client.get
    first.__exit__(None, None, None)
    assert client.get is patched
    assert patched is not original
    second.__exit__(None, None, None)
    assert client.get is original


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"below": "no_such_module_here:get"}, "no_such_module_here"),
        ({"below": "shop_client:gett"}, "gett"),
        ({"below": "shop_client:Client"}, "Class.method"),
        ({"below": "shop_client:requests"}, "no function"),
        ({"below": "shop_client:made_tool"}, "leave 'below' out"),
        ({"below": "builtins:dict.get"}, "your own code"),
        ({"raises": "shop_client:get"}, "no exception class"),
        ({"raises": "shop_client:Nothing"}, "Nothing"),
        ({"raises": "builtins:KeyboardInterrupt"}, "no exception class"),
    ],
)
def test_what_cannot_fail_is_refused_before_anything_runs_and_leaves_no_trace(
    client: ModuleType, fields: dict[str, Any], words: str
) -> None:
    vars(client)["made_tool"] = wrap(len, "made_tool")
    original = client.get
    specs = [FaultSpec.model_validate(TIMEOUT), FaultSpec.model_validate(fault(**fields))]
    with pytest.raises(UsageError, match=words), below(specs):
        raise AssertionError("entered")
    assert client.get is original


# ------------------------------------------------------------------------------------------------- threads


def in_bare_thread(call: Callable[[], Any]) -> Any:
    box: list[Any] = []

    def work() -> None:
        try:
            box.append(call())
        except Exception as error:
            box.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return box[0]


def test_the_fault_fires_in_a_thread_that_the_tool_starts_without_a_context(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    tracer = tracer_of(TIMEOUT)
    search = wrap(lambda query: str(in_bare_thread(lambda: client.get(query))), "search")
    assert "timed out" in run(tracer, search, "cook").value
    assert tracer.calls[0].state == "fired"


def test_in_such_a_thread_it_fails_loudly_where_two_calls_wait_for_it(
    client: ModuleType, tracer_of: TracerOf
) -> None:
    met: list[Any] = []
    tracers = [tracer_of(TIMEOUT, case_id=name) for name in ("a", "b")]
    both_inside = threading.Barrier(2)

    def search(query: str) -> str:
        both_inside.wait(10)
        if query == "a":
            met.append(in_bare_thread(lambda: client.get(query)))
        both_inside.wait(10)
        return "done"

    made = wrap(search)

    def one(tracer: Tracer) -> None:
        with activate(tracer):
            made(tracer.case.id)

    with below(tracers[0].plan.faults):  # type: ignore[union-attr]
        threads = [threading.Thread(target=one, args=(tracer,)) for tracer in tracers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert isinstance(met[0], NoActivePlanError)
    assert all("'shop_client:get'" in str(tracer.poisoned) for tracer in tracers)


def test_the_time_limits_thread_carries_the_fault(client: ModuleType, tracer_of: TracerOf) -> None:
    tracer = tracer_of(TIMEOUT)
    assert run(tracer, wrap(swallowing(client), "search", timeout=10), "cook").value == []
    assert tracer.calls[0].truth == "error"
