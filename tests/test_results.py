"""What a result says to the model, and which kind of failure an exception is."""

from __future__ import annotations

import datetime
import errno
import http.client
import json
import math
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from neverempty._errors import UsageError
from neverempty.results import (
    ERROR_KINDS,
    ERROR_NOTE,
    ERROR_WORDINGS,
    Empty,
    Err,
    Ok,
    ToolResult,
    capped,
    error_note,
    is_retryable,
    kind_of,
    to_json,
)

RESULT: TypeAdapter[Any] = TypeAdapter(ToolResult)


def refuse_constant(name: str) -> float:
    raise AssertionError(f"{name} is not strict JSON")


def strict_loads(text: str) -> Any:
    return json.loads(text, parse_constant=refuse_constant)


# ------------------------------------------------------------------------------------------- what is said


def test_each_result_writes_exactly_its_own_fields() -> None:
    assert strict_loads(Ok([{"id": 1}], truncated=True).to_model()) == {
        "status": "ok",
        "data": [{"id": 1}],
        "truncated": True,
    }
    assert list(strict_loads(Empty().to_model())) == ["status", "note"]
    assert list(strict_loads(Err("auth", "secret detail").to_model())) == ["status", "kind", "note"]


def test_an_error_says_that_the_result_is_unknown_and_keeps_its_message_from_the_model() -> None:
    said = strict_loads(Err("timeout", "https://host/?key=abc").to_model())
    assert said["kind"] == "timeout"
    assert "I do not know yet" in said["note"]
    assert "abc" not in said["note"]


def test_a_validation_error_tells_the_model_what_to_mend() -> None:
    said = strict_loads(Err("validation", "limit must be {below} 50").to_model())
    assert said["note"].endswith("Details: limit must be {below} 50")


@pytest.mark.parametrize("value", [0, False, "", 0.0, b""])
def test_zero_false_and_the_empty_text_are_data(value: object) -> None:
    assert strict_loads(Ok(value).to_model())["status"] == "ok"


def test_the_union_is_told_apart_by_status() -> None:
    assert RESULT.validate_python({"status": "ok", "value": 0}) == Ok(0)
    assert RESULT.validate_python({"status": "empty"}) == Empty()
    assert RESULT.validate_python({"status": "error", "kind": "auth"}) == Err("auth")
    with pytest.raises(ValidationError, match="status"):
        RESULT.validate_python({"value": []})
    with pytest.raises(ValidationError, match="'timeout'"):
        Err("slow")  # type: ignore[arg-type]


def test_results_are_frozen_and_compare_by_content() -> None:
    assert Ok([1]) == Ok([1])
    assert Ok(None) != Empty()
    with pytest.raises(AttributeError):
        Ok(1).value = 2  # type: ignore[misc]


def test_a_cause_may_be_an_exception_even_one_whose_text_fails() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert Err("exception", cause=KeyError("x")).cause == "KeyError: 'x'"
    assert Err("exception", cause=MuteError()).cause == "MuteError: <its text raised RuntimeError>"
    with pytest.raises(ValidationError, match="text or an exception"):
        Err("exception", cause=3)


# ---------------------------------------------------------------------------------------------- wordings


def test_there_are_wordings_to_compare_and_each_is_filled_for_every_kind() -> None:
    assert len(ERROR_WORDINGS) >= 3
    assert ERROR_WORDINGS["default"] == ERROR_NOTE
    for wording in ERROR_WORDINGS:
        notes = {error_note(kind, wording) for kind in ERROR_KINDS}
        assert len(notes) == len(ERROR_KINDS)
        assert not any("{" in note or "}" in note for note in notes)


def test_a_detail_is_never_read_as_a_template() -> None:
    assert error_note("validation", detail="{kind} {0} %s").endswith("Details: {kind} {0} %s")


def test_an_unknown_kind_or_wording_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="'slow'"):
        error_note("slow")
    with pytest.raises(UsageError, match="'loud'"):
        Err("auth").to_model("loud")


# --------------------------------------------------------------------------------------------- strictness

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.decimals()
    | st.complex_numbers()
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=())) | st.integers() | st.none(), inner)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers())
    ),
    max_leaves=15,
)


@given(values)
def test_any_value_becomes_strict_json_that_utf8_can_carry(value: object) -> None:
    text = Ok(value).to_model()
    text.encode("utf-8")
    assert strict_loads(text)["status"] == "ok"


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=15,
))  # fmt: skip
def test_what_json_can_say_comes_back_unchanged(value: object) -> None:
    assert strict_loads(to_json(value)) == value


def test_nan_becomes_null_and_other_scripts_stay_readable() -> None:
    text = Ok({"rate": math.nan, "best": math.inf, "name": "नौकरी"}).to_model()
    assert strict_loads(text)["data"] == {"rate": None, "best": None, "name": "नौकरी"}
    assert "नौकरी" in text


def test_a_lone_surrogate_survives_the_way_to_the_model() -> None:
    text = Ok("ok \ud835 🍸").to_model()
    assert strict_loads(text.encode("utf-8").decode("utf-8"))["data"] == "ok \ud835 🍸"


def test_foreign_objects_are_written_by_content_never_by_address() -> None:
    class Row(BaseModel):
        id: int

    class Opaque:
        pass

    class Broken:
        def model_dump(self) -> object:
            raise RuntimeError("no")

    value = {"row": Row(id=3), "day": datetime.date(2026, 1, 2), "x": Opaque(), "ids": {3, 1}}
    data = strict_loads(Ok(value).to_model())["data"]
    assert (data["row"], data["day"], data["ids"]) == ({"id": 3}, "2026-01-02", [1, 3])
    assert " at 0x" not in data["x"]
    assert "RuntimeError" in strict_loads(Ok(Broken()).to_model())["data"]


def test_a_cycle_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert strict_loads(Ok(loop).to_model())["status"] == "ok"


# ---------------------------------------------------------------------------------------------------- cap


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=30)) | st.text(), st.integers(16, 90))
def test_a_cut_payload_fits_and_is_never_empty(value: list[str] | str, limit: int) -> None:
    kept, cut = capped(value, limit)
    assert len(to_json(kept)) <= limit
    if cut:
        assert len(kept) > 0
    else:
        assert kept == value


def test_a_payload_whose_first_item_does_not_fit_is_not_cut_to_an_empty_list() -> None:
    kept, cut = capped([{"text": "x" * 200}], 40)
    assert cut
    assert kept.startswith('[{"text": "xxx')


def test_an_object_is_cut_as_text() -> None:
    kept, cut = capped({"rows": list(range(100))}, 30)
    assert cut
    assert kept.startswith('{"rows": [0, 1')


# ---------------------------------------------------------------------------------------- kind of failure


def http_error(**attributes: object) -> Exception:
    error = Exception("failed")
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (OSError(errno.ETIMEDOUT, "slow"), "timeout"),
        (ConnectionResetError(), "connection"),
        (BrokenPipeError(), "connection"),
        (socket.gaierror(-2, "unknown host"), "connection"),
        (OSError(errno.EHOSTUNREACH, "no route"), "connection"),
        (http.client.RemoteDisconnected(), "connection"),
        (PermissionError(), "permission"),
        (FileNotFoundError(), "not_found"),
        (json.JSONDecodeError("bad", "{", 1), "malformed"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "malformed"),
        (KeyError("x"), "exception"),
        (ValueError("x"), "exception"),
        (ModuleNotFoundError("x"), "exception"),
        (OSError(errno.ENOSPC, "disk full"), "exception"),
    ],
)
def test_builtin_exceptions_have_kinds(error: Exception, kind: str) -> None:
    assert kind_of(error) == kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "validation"),
        (401, "auth"),
        (403, "permission"),
        (404, "not_found"),
        (408, "timeout"),
        (410, "not_found"),
        (422, "validation"),
        (429, "rate_limit"),
        (500, "upstream"),
        (503, "upstream"),
        (529, "upstream"),
    ],
)
def test_the_http_status_tells_the_kind_wherever_it_stands(status: int, kind: str) -> None:
    assert kind_of(http_error(status_code=status)) == kind
    assert kind_of(http_error(status=status)) == kind
    assert kind_of(http_error(status=str(status))) == kind
    assert kind_of(http_error(response=SimpleNamespace(status_code=status))) == kind
    assert kind_of(http_error(response=SimpleNamespace(status=status))) == kind


@pytest.mark.parametrize("status", [True, 200, 302, 99, 6000, "abc", "４０４", None, 404.0, object()])
def test_what_is_no_failed_http_status_tells_nothing(status: object) -> None:
    assert kind_of(http_error(status_code=status)) == "exception"


@pytest.mark.parametrize(
    ("name", "bases", "kind"),
    [
        ("ConnectTimeout", (), "timeout"),
        ("ReadTimeoutError", (), "timeout"),
        ("APITimeoutError", ("APIConnectionError",), "timeout"),
        ("DeadlineExceeded", (), "timeout"),
        ("RequestTimedOut", (), "timeout"),
        ("RateLimitError", ("APIStatusError",), "rate_limit"),
        ("ThrottlingException", (), "rate_limit"),
        ("AuthenticationError", (), "auth"),
        ("PermissionDenied", (), "permission"),
        ("ConnectError", ("TransportError",), "connection"),
        ("ClientConnectorError", ("ClientConnectionError",), "connection"),
        ("ServiceUnavailable", (), "upstream"),
        ("InternalServerError", (), "upstream"),
        ("BadRequestError", (), "validation"),
        ("NotFoundError", (), "not_found"),
        ("OddError", ("Timeout",), "timeout"),
        ("OddError", (), "exception"),
    ],
)
def test_client_libraries_are_recognised_by_the_names_of_their_classes(
    name: str, bases: tuple[str, ...], kind: str
) -> None:
    parent: type = Exception
    for base in reversed(bases):
        parent = type(base, (parent,), {"__module__": "client.errors"})
    cls = type(name, (parent,), {"__module__": "client.errors"})
    assert kind_of(cls("failed")) == kind


def test_the_status_counts_before_the_class_name() -> None:
    cls = type("NotFoundError", (Exception,), {"status_code": 503})
    assert kind_of(cls()) == "upstream"


def raised(outer: Exception, inner: Exception, *, explicit: bool) -> Exception:
    """Raise `outer` while handling `inner`, as code does."""
    try:
        try:
            raise inner
        except Exception as met:
            if explicit:
                raise outer from met
            raise outer  # noqa: B904  # the implicit context is what is tested
    except Exception as error:
        return error


def test_a_wrapped_failure_keeps_its_kind() -> None:
    assert kind_of(raised(RuntimeError("search failed"), TimeoutError(), explicit=True)) == "timeout"
    assert kind_of(raised(RuntimeError("search failed"), ConnectionError(), explicit=False)) == "connection"
    assert kind_of(raised(PermissionError(), TimeoutError(), explicit=True)) == "permission"
    assert kind_of(http_error(reason=TimeoutError())) == "timeout"


def test_a_missing_cache_file_met_on_the_way_does_not_make_a_failure_a_not_found() -> None:
    assert kind_of(raised(RuntimeError("refused"), FileNotFoundError(), explicit=False)) == "exception"
    assert kind_of(raised(RuntimeError("refused"), FileNotFoundError(), explicit=True)) == "not_found"


def test_a_suppressed_context_does_not_count() -> None:
    error = RuntimeError("other")
    error.__context__ = TimeoutError()
    error.__suppress_context__ = True
    assert kind_of(error) == "exception"


def test_groups_are_searched_however_nested() -> None:
    group = ExceptionGroup("all", [ValueError(), ExceptionGroup("some", [http_error(status=429)])])
    assert kind_of(group) == "rate_limit"
    assert kind_of(ExceptionGroup("all", [ValueError()])) == "exception"


def test_hostile_exceptions_do_not_break_the_reading() -> None:
    class HostileError(Exception):
        @property
        def status_code(self) -> int:
            raise RuntimeError("no")

    loop = ValueError()
    loop.__cause__ = KeyError()
    loop.__cause__.__cause__ = loop
    assert kind_of(HostileError()) == "exception"
    assert kind_of(loop) == "exception"


@given(st.lists(st.sampled_from([ValueError, KeyError, RuntimeError]), max_size=6), st.booleans())
def test_a_timeout_is_found_at_any_depth(chain: list[type[Exception]], explicit: bool) -> None:
    error: Exception = TimeoutError()
    for cls in chain:
        error = raised(cls("outer"), error, explicit=explicit)
    assert kind_of(error) == "timeout"


def test_only_failures_that_pass_are_tried_again() -> None:
    retried = {kind for kind in ERROR_KINDS if is_retryable(kind)}
    assert retried == {"timeout", "connection", "rate_limit", "upstream"}
