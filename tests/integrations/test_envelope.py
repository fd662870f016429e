"""Outcomes read from tool results: every spelling of a flag, and text that beats it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neverempty.integrations._envelope import read_envelope


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


_BODIES = [
    {"success": False, "error_code": "LOCKED", "error": "the table is locked"},
    {"error": "the upload failed with exit code 1"},
    {"error": {"code": 5, "message": "gone"}},
    {"errors": [{"message": "gone"}], "data": None},
    {"status": "error", "reason": "one field is missing"},
    {"status": "ERROR"},
    {"ok": False},
]


@pytest.mark.parametrize(
    "result",
    [
        _text("permission denied", isError=True),
        _text("permission denied", is_error=True),
        {"output": None, "error": "boom", "error_code": 0, "success": True},
        {"role": "tool", "content": "", "error": "it took too long", "toolCallId": "c1"},
        {"type": "tool", "content": "no", "status": "error"},
        {"toolUseId": "t1", "content": [{"text": "no"}], "status": "error"},
        {"result": _text("permission denied", isError=True)},
        {"type": "tool", "data": {"content": "no", "status": "error", "tool_call_id": "c1"}},
        {"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "unknown tool"}},
        {"content": "", "success": False},
    ],
)
def test_a_flag_in_any_spelling_is_an_error(result):
    assert read_envelope(result).outcome == "error"


@pytest.mark.parametrize("body", _BODIES)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text,
        json.loads,
        lambda text: _text(text),
        lambda text: _text(text, isError=False),
        lambda text: {"result": _text(text), "isError": False},
        lambda text: {"text": text, "data": json.loads(text), "is_error": False},
        lambda text: {"type": "tool", "content": text, "status": "success"},
        lambda text: json.dumps(_text(text)),
        lambda text: {"functionResponse": {"name": "search", "response": json.loads(text)}},
        lambda text: {"type": "function_call_output", "call_id": "c1", "output": text},
    ],
)
def test_a_failure_in_the_body_alone_is_unknown_unless_the_text_is_trusted(wrap, body):
    result = wrap(json.dumps(body))
    found = read_envelope(result)
    assert (found.outcome, found.unflagged, len(found.warnings)) == ("unknown", True, 1)
    assert read_envelope(result, trust_text=True).outcome == "error"
    assert found.raw is result


@pytest.mark.parametrize(
    "text",
    [
        "Error: Exception('the line broke')\n Please fix your mistakes.",
        "Error executing tool 'search' with kwargs {} with error:\n gone",
        "Traceback (most recent call last):\n  File",
        "requests.exceptions.HTTPError: 503",
        "ValueError('x')",
        "1 validation error for Search\ncity\n  Field required",
        "3 validation errors:\n[]",
        "There is no such town.\n\nFix the errors and try again.",
        "Tool execution failed: no route to host",
    ],
)
def test_a_failure_that_a_success_message_tells_is_never_silently_ok(text):
    assert read_envelope({"type": "tool", "content": text, "status": "success"}).outcome == "unknown"


@pytest.mark.parametrize(
    "result",
    [
        "Two jobs.",
        "Errors were found in three of the scanned files.",
        "The linter counts 3 validation errors for this week.",
        {"response": {"jobs": []}, "id": 3},
        {"functionResponse": {"name": "search", "response": {"error": None, "rows": [1]}}},
        {"error": None, "jobs": ["welder"]},
        {"errors": [], "error": "", "success": True},
        _text('{"error": null, "rows": [1]}', isError=False),
        [{"status": "error", "job": 3}, {"status": "ok", "job": 4}],
        {"content": [{"status": "failed", "job": 3}]},
        {"jobs": {"error": "a column called so"}},
        {"order": 7, "status": "failed"},
        {"success": 0, "ok": None},
        0,
        False,
        _text("{" * 100_000),
        "\ud835\x00",
    ],
)
def test_data_about_errors_are_data(result):
    found = read_envelope(result)
    assert (found.outcome, found.warnings, found.unflagged) == ("ok", (), False)


@pytest.mark.parametrize(
    "result",
    [
        "",
        " ",
        None,
        [],
        {},
        _text(""),
        {"content": [], "isError": False},
        {"type": "tool", "content": "", "status": "success"},
    ],
)
def test_nothing_is_empty_and_no_error(result):
    assert read_envelope(result).outcome == "empty"


def test_an_error_beside_a_flag_of_success_is_an_error_with_a_warning():
    found = read_envelope({"output": None, "error": "boom", "error_code": 0, "success": True, "extra": 1})
    assert (found.outcome, found.warnings) == ("error", ("an error text stands beside a flag of success",))
    assert found.raw["extra"] == 1
