"""A trace survives one line of strict JSON; one from elsewhere is read or refused in words."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty._errors import InputError
from neverempty.traces import Redactor, Trace, trace_from_json, trace_to_json

Make = Callable[..., Trace]
TEXT = st.text(st.characters(), max_size=12).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def test_a_trace_comes_back_equal(make_trace: Make) -> None:
    trace = make_trace()
    assert trace_from_json(trace_to_json(trace)) == trace


@given(answer=TEXT | st.none(), structured=VALUES, args=st.dictionaries(TEXT, VALUES, max_size=3))
def test_any_text_and_any_json_value_comes_back_equal(
    make_trace: Make, answer: str | None, structured: Any, args: dict[str, Any]
) -> None:
    trace = make_trace(answer=answer, structured=structured)
    trace.calls[0].args = args
    line = trace_to_json(trace)
    line.encode("utf-8")
    assert len(line.splitlines()) == 1
    assert trace_from_json(line) == trace
    assert trace_from_json(line.encode()) == trace


@pytest.mark.parametrize("answer", ["ok \ud835", "\U0001f378", "a\u2028b\u0085c\u2029d", "\x00\x1f\x7f", ""])
def test_awkward_answers_survive(make_trace: Make, answer: str) -> None:
    line = trace_to_json(make_trace(answer=answer))
    assert len(line.splitlines()) == 1
    assert trace_from_json(line.encode("utf-8")).answer == answer


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (math.nan, None),
        ([math.inf, 1.5], [None, 1.5]),
        ({1: "a", "b": {2, 1}}, {"1": "a", "b": [1, 2]}),
        (10**5000, "<int of 16610 bits>"),
        (b"\xff", "\ufffd"),
        (object(), "<object>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_json_does_not_have_are_written_readably(
    make_trace: Make, value: Any, written: Any
) -> None:
    assert trace_from_json(trace_to_json(make_trace(structured=value))).structured == written


def test_cycles_and_deep_nesting_are_cut(make_trace: Make) -> None:
    deep: Any = []
    deep.append(deep)
    for value in (deep, _nested(150), _nested(240), _nested(3000)):
        line = trace_to_json(make_trace(structured=value))
        assert trace_from_json(line).structured is not None


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_redacted_line_has_its_fields_in_the_same_order(make_trace: Make) -> None:
    plain, secret = trace_to_json(make_trace()), trace_to_json(make_trace(answer="api_key=abc"))
    assert list(json.loads(plain)) == list(json.loads(secret))
    assert json.loads(secret)["answer"] == "api_key=[redacted]"


def test_rules_of_ones_own_are_applied(make_trace: Make) -> None:
    trace = make_trace(answer="asked by EMP-1204 of Jane")
    assert trace_from_json(trace_to_json(trace, Redactor(patterns=["EMP-[0-9]+"]))).answer == (
        "asked by [redacted] of Jane"
    )
    hook = Redactor(redact=lambda text: text.replace("Jane", "[name]"))
    assert trace_from_json(trace_to_json(trace, hook)).answer == "asked by EMP-1204 of [name]"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"answer": 5}, "answer: input should be a valid string, got 5"),
        ({"repeat": "0"}, "repeat: input should be a valid integer"),
        ({"messages": "hello"}, "messages: input should be a valid list"),
    ],
)
def test_a_trace_that_could_not_be_read_back_is_not_written(
    make_trace: Make, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(
        ValueError, match=r"trace of case 'a', arm 'typed', repeat .* cannot be written"
    ) as caught:
        trace_to_json(make_trace(**changes))
    assert words in str(caught.value)


def test_the_least_that_another_program_must_write() -> None:
    answered = trace_from_json('{"case_id": "a", "answer": ""}')
    assert (answered.status, answered.answer, answered.terminal_reason) == ("ok", "", "completed")
    assert (answered.suite, answered.arm, answered.repeat) == ("default", "imported", 0)
    silent = trace_from_json('{"case_id": "a", "status": "ok"}')
    assert (silent.status, silent.answer) == ("ok", None)
    crashed = trace_from_json('{"case_id": "a", "status": "agent_error", "terminal_reason": "exit 1"}')
    assert (crashed.status, crashed.terminal_reason) == ("agent_error", "exit 1")


def test_calls_of_another_program_are_numbered_and_of_unknown_truth() -> None:
    line = '{"case_id": "a", "answer": "x", "calls": [{"tool": "s"}, {"tool": "t", "truth": "error"}]}'
    calls = trace_from_json(line).calls
    assert [(one.call, one.tool, one.truth) for one in calls] == [(0, "s", "unknown"), (1, "t", "error")]


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("[]", ["a trace is a JSON object, got list"]),
        ('{"case_id": "a",}', ["column 16: not JSON: a comma before the closing bracket"]),
        ('{"case_id": "a", "answer": "x", "answer": "y"}', ["column 33: the key 'answer' stands twice"]),
        ('{"case_id": "a"}', ["give 'answer', or 'status' to say that there is none"]),
        ('{"case_id": "a", "answer": null}', ["give 'answer', or 'status' to say that there is none"]),
        ('{"answer": "x"}', ["case_id: is missing"]),
        ('{"case_id": "", "answer": "x"}', ["case_id: is missing", "case_id: string should have at least 1"]),
        (
            '{"case_id": "a", "status": "agent_timeout"}',
            ["terminal_reason: is missing; a trace that did not end"],
        ),
        (
            '{"case_id": "a", "status": "fine"}',
            ["terminal_reason: is missing", "status: input should be 'ok'"],
        ),
        ('{"case_id": "a", "answer": "x", "anwser": 1}', ["anwser: unknown field; did you mean 'answer'?"]),
        (
            '{"case_id": "a", "answer": "x", "calls": [{"tool": "s", "truht": "data"}]}',
            ["calls.0.truht: unknown field; did you mean 'truth'?"],
        ),
        ('{"case_id": "a", "answer": "x", "calls": [{}]}', ["calls.0.tool: is missing"]),
        ('{"case_id": "a", "answer": "x", "calls": [7]}', ["calls.0: "]),
        (
            '{"case_id": "a", "answer": "x", "repeat": -1}',
            ["repeat: input should be greater than or equal to 0"],
        ),
        ('{"case_id": "a", "answer": "x", "repeat": true}', ["repeat: input should be a valid integer"]),
        (
            '{"case_id": "a", "answer": "x", "confidence": 7}',
            ["confidence: input should be less than or equal to 1"],
        ),
        (
            '{"case_id": "a", "answer": "x", "cost_usd": -1}',
            ["cost_usd: input should be greater than or equal"],
        ),
        (
            '{"case_id": "a", "answer": "x", "cost_usd": NaN}',
            ["column 45: NaN is not a JSON number; use null"],
        ),
        ('{"case_id": "a", "answer": "x", "cost_usd": 1e999}', ["column 45: 1e999 is not a JSON number"]),
    ],
)
def test_what_is_wrong_with_a_trace_is_named_with_its_place(line: str, problems: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        trace_from_json(line, "t.jsonl:3")
    assert len(caught.value.problems) == len(problems)
    for problem, start in zip(caught.value.problems, problems, strict=True):
        assert problem.startswith(f"t.jsonl:3: {start}")


@pytest.mark.parametrize("status", ["ok", "agent_error"])
def test_a_complete_trace_must_still_say_how_it_ended(make_trace: Make, status: str) -> None:
    data = json.loads(trace_to_json(make_trace(answer=None, status=status, terminal_reason="exit 1")))
    del data["status" if status == "ok" else "terminal_reason"]
    with pytest.raises(InputError):
        trace_from_json(json.dumps(data))
