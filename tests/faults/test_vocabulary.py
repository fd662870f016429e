"""Kinds, presentations and the table of what the model sees."""

from __future__ import annotations

import json

import pytest

from neverempty._errors import UsageError
from neverempty.faults import (
    KINDS,
    PRESENTATIONS,
    FlaggedText,
    ShownErr,
    ShownOk,
    exception_of,
    fault_table,
    present,
)
from neverempty.results import ERROR_WORDINGS, Empty, Err, Ok, kind_of

ERRORS = [kind for kind, info in KINDS.items() if info.truth == "error"]
FAILING = [kind for kind, info in KINDS.items() if info.fails]
PRESENTED = [(kind, shown) for kind, info in KINDS.items() if info.presented for shown in PRESENTATIONS]


def test_every_kind_of_the_plan_is_there_with_its_truth() -> None:
    by_truth: dict[str, set[str]] = {}
    for kind, info in KINDS.items():
        by_truth.setdefault(info.truth, set()).add(kind)
    assert by_truth == {
        "error": {
            "timeout", "connection", "rate_limit", "auth", "permission", "upstream", "validation",
            "malformed", "exception",
        },
        "degraded": {"truncated", "partial", "schema_drift", "stale"},
        "unclear": {"not_found"},
        "empty": {"empty"},
        "data": {"none"},
    }  # fmt: skip


def test_the_table_lists_each_valid_pair_once_with_what_present_shows() -> None:
    rows = fault_table("lookup")
    pairs = [(row["kind"], row["presentation"]) for row in rows]
    assert len(set(pairs)) == len(pairs)
    assert {pair for pair in pairs if pair[1] is not None} == set(PRESENTED)
    assert {kind for kind, shown in pairs if shown is None} == set(KINDS) - {kind for kind, _ in PRESENTED}
    for row in rows:
        if row["presentation"] is not None:
            assert row["text"] == present(row["kind"], row["presentation"], "lookup").text


@pytest.mark.parametrize(("kind", "presentation"), PRESENTED)
def test_a_typed_result_shows_exactly_the_text_of_the_table(kind: str, presentation: str) -> None:
    shown = present(kind, presentation, "search")
    assert shown.typed().to_model() == shown.text
    assert type(shown.text) is str
    assert shown.truth == ("empty" if kind == "empty" else "error")


@pytest.mark.parametrize("kind", FAILING)
def test_typed_is_the_error_as_any_tool_writes_it(kind: str) -> None:
    shown = present(kind, "typed", "search")
    assert isinstance(shown.typed(), Err)
    assert shown.text == Err(kind, KINDS[kind].message).to_model()  # type: ignore[arg-type]
    assert shown.is_error


@pytest.mark.parametrize("kind", FAILING)
def test_raised_gives_a_new_exception_each_time_which_maps_back_to_its_kind(kind: str) -> None:
    shown = present(kind, "raised", "search")
    first, second = shown.exception, shown.exception
    assert first is not None
    assert first is not second
    assert kind_of(first) == kind
    assert str(first) == KINDS[kind].message
    assert type(first).__name__ == KINDS[kind].exception
    assert shown.text == f"Error executing tool search: {type(first).__name__}: {first}"


@pytest.mark.parametrize("kind", FAILING)
def test_flagged_carries_the_protocols_flag_and_a_text(kind: str) -> None:
    shown = present(kind, "flagged", "search")
    body = json.loads(shown.text)
    assert body["isError"] is True
    assert KINDS[kind].message in body["content"][0]["text"]
    assert isinstance(shown.value, FlaggedText)
    assert shown.is_error
    assert shown.exception is None


@pytest.mark.parametrize("kind", FAILING)
def test_declined_is_a_success_whose_body_tells_of_the_failure(kind: str) -> None:
    shown = present(kind, "declined", "search")
    assert isinstance(shown.typed(), Ok)
    assert not shown.is_error
    assert not shown.retryable
    if kind == "malformed":
        with pytest.raises(json.JSONDecodeError):
            json.loads(shown.text)
    else:
        assert json.loads(shown.text) == {"success": False, "error": KINDS[kind].message}


@pytest.mark.parametrize("kind", FAILING)
def test_swallowed_is_the_bare_empty_value_and_cannot_be_told_from_a_genuine_empty(kind: str) -> None:
    shown = present(kind, "swallowed", "search", empty_value={"jobs": []})
    genuine = present("empty", "swallowed", "search", empty_value={"jobs": []})
    assert shown.text == genuine.text == '{"jobs": []}'
    assert (shown.truth, genuine.truth) == ("error", "empty")
    assert present(kind, "swallowed", "search").text == "[]"


def test_no_two_calls_share_a_payload() -> None:
    shown = present("timeout", "swallowed", "search", empty_value={"jobs": []})
    first = shown.typed()
    assert isinstance(first, ShownOk)
    first.value["jobs"].append("added by the agent")
    shown.value["jobs"].append("added too")
    assert shown.typed() == present("timeout", "swallowed", "search", empty_value={"jobs": []}).typed()


def test_a_genuine_empty_is_typed_under_the_typed_arm() -> None:
    shown = present("empty", "typed", "search")
    assert shown.typed() == Empty()
    assert shown.value == []


def test_the_wording_of_a_typed_error_can_be_chosen() -> None:
    texts = {present("timeout", "typed", "search", wording=wording).text for wording in ERROR_WORDINGS}
    assert len(texts) == len(ERROR_WORDINGS) - 1  # the default is one of the others


@pytest.mark.parametrize(
    ("kind", "presentation"),
    [("none", "typed"), ("partial", "raised"), ("timeout", "whispered"), ("slow", "typed")],
)
def test_a_pair_that_does_not_exist_is_refused(kind: str, presentation: str) -> None:
    with pytest.raises(UsageError, match="fault_table"):
        present(kind, presentation, "search")


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_are_retried_like_real_ones(kind: str) -> None:
    shown = present(kind, "typed", "search").typed()
    assert isinstance(shown, ShownErr)
    assert shown.retryable == (kind in ("timeout", "connection", "rate_limit", "upstream"))
    assert exception_of(kind).__traceback__ is None
