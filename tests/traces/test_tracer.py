"""The tracer: whose call it is, what is written down, and what comes too late."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from neverempty._errors import UsageError
from neverempty.faults import Arm, FaultPlan, FaultSpec
from neverempty.traces.tracer import (
    NoActivePlanError,
    TraceClosedError,
    Tracer,
    activate,
    current_tracer,
    owning_tracer,
)


def make(*faults: FaultSpec, case_id: str = "c1", repeat: int = 0, seed: int = 0) -> Tracer:
    case = SimpleNamespace(suite="s", id=case_id)
    return Tracer(case, Arm.of("typed"), repeat, seed, FaultPlan(faults))


def test_a_call_is_of_unknown_truth_until_it_ends() -> None:
    tracer = make()
    call = tracer.begin("search", {"query": "a"}, "id-1")
    assert (call.call, call.truth, call.call_id, call.state) == (0, "unknown", "id-1", "none")
    tracer.finish(call, "data", "[1]", None, 2.5)
    assert (call.truth, call.returned, call.duration_ms, call.attempts) == ("data", "[1]", 2.5, 1)
    assert tracer.begin("search", {}).call == 1


def test_after_the_end_nothing_is_written_any_more() -> None:
    tracer = make()
    call = tracer.begin("search", {})
    tracer.close()
    tracer.finish(call, "data", "[1]", None, 2.5, 1, "fired", "tool", "typed")
    tracer.mark(call, "fired", "tool")
    tracer.usage("m", 1, 1)
    tracer.set_route("late")
    tracer.poison("late")
    assert (call.truth, call.state, call.injected) == ("unknown", "none", False)
    assert (tracer.usages, tracer.route, tracer.poisoned) == ([], None, None)
    with pytest.raises(TraceClosedError, match=r"case 'c1' \(arm 'typed', repeat 0\)"):
        tracer.begin("search", {})


def test_the_first_reason_for_mistrust_stays() -> None:
    tracer = make()
    tracer.poison("first")
    tracer.poison("second")
    assert tracer.poisoned == "first"


def test_the_generator_depends_on_nothing_but_the_key() -> None:
    code = (
        "from types import SimpleNamespace as N; from neverempty.faults import Arm;"
        "from neverempty.traces.tracer import Tracer;"
        "print(Tracer(N(suite='s', id='c1'), Arm.of('typed'), 2, 5).rng.integers(10**12))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other.stdout) == make(repeat=2, seed=5).rng.integers(10**12)
    draws = {int(make(repeat=repeat, seed=seed).rng.integers(10**12)) for repeat in (0, 1) for seed in (0, 1)}
    assert len(draws) == 4
    tracer = make()
    assert tracer.rng is tracer.rng


def test_importing_the_tracer_does_not_load_numpy() -> None:
    code = "import sys, neverempty.traces.tracer, neverempty.tools; print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


# ----------------------------------------------------------------------------------------- whose call it is


def test_inside_a_block_the_tracer_is_the_contexts_and_afterwards_it_is_closed() -> None:
    outer, inner = make(), make(case_id="c2")
    assert current_tracer() is None
    with activate(outer) as found:
        assert found is outer is current_tracer() is owning_tracer("x")
        with activate(inner):
            assert current_tracer() is inner
        assert current_tracer() is outer
        with activate(outer):
            assert current_tracer() is outer
        assert not outer.closed
    assert current_tracer() is None
    assert outer.closed
    assert inner.closed
    with pytest.raises(UsageError, match="new Tracer"):
        activate(outer).__enter__()


def test_a_block_left_by_an_exception_leaves_nothing_behind() -> None:
    with pytest.raises(KeyboardInterrupt), activate(make()):
        raise KeyboardInterrupt
    assert current_tracer() is None
    assert owning_tracer("x") is None


def bare(what: str) -> Any:
    box: list[Any] = []

    def work() -> None:
        try:
            box.append(owning_tracer(what))
        except Exception as error:
            box.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return box[0]


def test_a_thread_without_a_context_belongs_to_the_only_trace_or_to_none() -> None:
    first, second = make(), make(case_id="c2")
    assert bare("tool 'a'") is None
    with activate(first):
        assert bare("tool 'a'") is first
        with activate(second):
            error = bare("tool 'a'")
        assert bare("tool 'a'") is first
    assert isinstance(error, NoActivePlanError)
    assert str(error).startswith("tool 'a' was called from a thread without a context while 2 traces")
    assert first.poisoned == second.poisoned == str(error)


def test_an_abandoned_trace_stays_in_the_way_until_it_is_released() -> None:
    hung = make()
    with activate(hung):
        hung.close(abandoned=True)
    assert isinstance(bare("tool 'a'"), TraceClosedError)
    hung.release()
    assert bare("tool 'a'") is None
    hung.release()


# -------------------------------------------------------------------------------------------------- faults


def test_the_furthest_state_of_all_calls_is_the_traces() -> None:
    tracer = make(
        FaultSpec(tool="search", kind="timeout"), FaultSpec(tool="mail", kind="auth", presentation="raised")
    )
    assert tracer.fault_columns() == ("timeout+auth", "typed+raised", "tool", "armed")
    call = tracer.begin("search", {})
    tracer.mark(call, "armed", "tool")
    assert tracer.fault_columns()[3] == "armed"
    tracer.finish(call, "error", "x", "timeout", 0.0, 1, "fired", "tool", "typed")
    tracer.begin("other", {})
    assert tracer.fault_columns()[3] == "fired"
    call.state = "seen"
    assert tracer.fault_columns()[3] == "seen"


def test_layers_are_named() -> None:
    tracer = make(
        FaultSpec(tool="search", kind="timeout", below="shop:get"), FaultSpec(tool="mail", kind="partial")
    )
    assert tracer.fault_columns() == ("timeout+partial", None, "shop:get+tool", "armed")


def test_without_a_plan_there_is_no_fault() -> None:
    tracer = Tracer(SimpleNamespace(suite="s", id="c1"), Arm.of("typed"))
    assert tracer.fault_columns() == ("none", None, None, "none")
