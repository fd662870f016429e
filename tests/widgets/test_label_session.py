"""A labelling session without widgets: what is shown next, what is on disk, what undo and resume do."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty import InputError, UsageError
from neverempty.judge import calibrate
from neverempty.widgets import LabelSession, LabelStore
from neverempty.widgets.label_keys import REASONS, LabelKeys

_SAID = ("supported", "contradicted", "not_in_evidence")
ITEMS = [
    {
        "id": f"c{at}",
        "claim": f"Claim {at}.",
        "evidence": ["E."],
        "judge_label": "supported",
        "language": "en",
    }
    for at in range(12)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


def _session(file: Path, annotator: str = "ann", items: Any = ITEMS, **more: Any) -> LabelSession:
    return LabelSession(items, file, annotator, **more)


def _ids(session: LabelSession) -> list[str]:
    return [item.key.item for item in session.items]


def _shown(session: LabelSession) -> str | None:
    return None if session.current is None else session.current.key.item


def test_a_label_is_on_disk_before_the_next_item_shows(file: Path) -> None:
    session = _session(file)
    for done in range(12):
        shown = _shown(session)
        session.label("supported")
        assert LabelStore(file).labels()["item"].tolist()[-1] == shown
        assert len(LabelStore(file).labels()) == done + 1
        assert _shown(session) != shown
    assert session.current is None


def test_a_finished_session_takes_more_keys_without_an_error_or_a_row(file: Path) -> None:
    session = _session(file, items=ITEMS[:1])
    session.label("supported")
    session.label("supported")
    session.later()
    session.note("x")
    assert [json.loads(line)["action"] for line in file.read_bytes().splitlines()] == ["session", "label"]


def test_the_order_is_drawn_from_the_seed_and_then_remembered(file: Path, tmp_path: Path) -> None:
    first = _ids(_session(file, seed=3))
    assert sorted(first) == sorted(item["id"] for item in ITEMS)
    assert first != [item["id"] for item in ITEMS]
    assert _ids(_session(tmp_path / "again", seed=3)) == first
    assert _ids(_session(tmp_path / "other", seed=4)) != first
    assert _ids(_session(file, seed=4)) == first
    assert _ids(_session(file, "ben", seed=4)) != first


def test_new_items_come_last_and_items_that_went_leave_no_gap(file: Path) -> None:
    order = _ids(_session(file))
    grown = [*ITEMS[1:], {"id": "new", "claim": "New."}]
    assert _ids(_session(file, items=grown)) == [*(name for name in order if name != "c0"), "new"]


def test_a_session_resumes_at_the_item_behind_the_last_action(file: Path) -> None:
    session = _session(file)
    session.label("supported")
    session.later()
    session.cannot_tell("torn page")
    again = _session(file)
    assert _shown(again) == _shown(session) == _ids(session)[3]
    assert again.progress() == (1, 1, 1, 12)


@pytest.mark.parametrize("action", ["undo", "goto", "note"])
def test_a_session_resumes_at_the_item_that_was_shown_again(file: Path, action: str) -> None:
    session = _session(file)
    session.label("supported")
    session.label("supported")
    {"undo": session.undo, "goto": lambda: session.goto("7"), "note": lambda: session.note("hm")}[action]()
    assert _shown(_session(file)) == _shown(session) is not None


def test_what_was_put_off_comes_again_when_the_others_are_done(file: Path) -> None:
    session = _session(file, items=ITEMS[:4])
    first, second = _ids(session)[:2]
    session.later()
    session.later()
    for _ in range(2):
        session.label("supported")
    assert _shown(session) == first
    session.later()
    assert _shown(session) == second
    session.label("supported")
    session.later()
    assert _shown(session) == first
    session.label("supported")
    assert (session.current, session.progress()) == (None, (4, 0, 0, 4))


def test_undo_takes_actions_back_one_by_one_across_restarts_and_leaves_a_trail(file: Path) -> None:
    session = _session(file)
    one, two, three = _ids(session)[:3]
    session.label("supported")
    session.later()
    session.cannot_tell("torn page")
    session = _session(file)
    for item, progress in [(three, (1, 0, 1, 12)), (two, (1, 0, 0, 12)), (one, (0, 0, 0, 12))]:
        assert session.undo() is not None
        assert (_shown(session), session.progress()) == (item, progress)
    assert session.undo() is None
    actions = [json.loads(line)["action"] for line in file.read_bytes().splitlines()]
    assert actions == ["session", "label", "later", "cant_tell", "undo", "undo", "undo"]


def test_an_undone_correction_brings_the_first_label_back(file: Path) -> None:
    session = _session(file)
    name = _shown(session)
    session.label("supported")
    session.goto(str(name))
    session.label("contradicted")
    assert session.frame()["label"].tolist() == ["contradicted"]
    session.undo()
    assert session.frame()["label"].tolist() == ["supported"]


def test_one_annotator_cannot_undo_what_another_did(file: Path) -> None:
    _session(file, "ann").label("supported")
    ben = _session(file, "ben")
    assert ben.undo() is None
    assert len(LabelStore(file).labels()) == 1


def test_what_cannot_be_told_needs_a_reason_and_is_counted_but_in_no_kappa(file: Path) -> None:
    session = _session(file)
    with pytest.raises(UsageError, match="say why"):
        session.cannot_tell(" ")
    session.cannot_tell("torn page")
    for label in ("supported", "supported", "contradicted"):
        session.label(label)
    with pytest.warns(UserWarning, match="single category"):
        found = session.agreement()
    assert (found.matrix.n, found.n_cant_tell) == (3, 1)
    with pytest.warns(UserWarning, match="single category"):
        measured = calibrate(session.frame())
    assert (measured.n_labels, measured.n_cant_tell) == (3, 1)


def test_the_judges_label_is_hidden_until_ones_own_is_stored_and_a_second_look_is_not_blind(
    file: Path,
) -> None:
    session = _session(file)
    assert session.others() == []
    name = str(_shown(session))
    session.label("contradicted")
    assert session.last is not None
    assert session.last.judge_label == "supported"
    session.undo()
    assert session.others() == []
    session.label("supported")
    assert [one.blind for one in session.store.events() if one.action == "label"] == [True, False]
    session.goto(name)
    assert session.others() == [("judge", "supported")]
    assert _session(file).others() == [("judge", "supported")]


def test_without_reveal_every_look_stays_blind(file: Path) -> None:
    session = _session(file, reveal=False)
    session.label("contradicted")
    session.undo()
    session.label("supported")
    assert [one.blind for one in session.store.events() if one.action == "label"] == [True, True]
    session.goto("1")
    assert session.others() == []


def test_an_open_session_shows_the_judge_and_says_so_in_every_row(file: Path) -> None:
    session = _session(file, blind=False)
    assert session.others() == [("judge", "supported")]
    session.label("supported")
    assert session.frame()["blind"].tolist() == [False]


def test_every_label_stands_at_every_place_equally_often(file: Path) -> None:
    session = _session(file)
    places: Counter[tuple[str, int]] = Counter()
    while session.current is not None:
        places.update((label, at) for at, label in enumerate(session.options()))
        session.label("supported")
    assert set(places.values()) == {4}
    assert len(places) == 9
    assert {_session(file, "ben", balance=False).options() for _ in range(2)} == {_SAID}


def test_a_jump_finds_an_id_a_case_or_a_number_and_offers_the_nearest_name(file: Path) -> None:
    session = _session(file)
    session.goto("c7")
    assert _shown(session) == "c7"
    session.goto("12")
    assert session.place == 12
    with pytest.raises(UsageError, match="no item 'c99'; did you mean 'c9'"):
        session.goto("c99")
    assert session.place == 12


def test_a_note_stays_with_its_item_and_its_label(file: Path) -> None:
    session = _session(file)
    session.note("odd <b>claim</b>")
    session.label("supported")
    assert session.frame()["note"].tolist() == ["odd <b>claim</b>"]


def test_two_annotators_agree_and_a_third_decides_where_they_differ(file: Path) -> None:
    store = LabelStore(file)
    ann, ben = LabelSession(ITEMS, store, "ann"), LabelSession(ITEMS, store, "ben", seed=5)
    for session, other in ((ann, "c3"), (ben, "c4")):
        while session.current is not None:
            session.label("contradicted" if _shown(session) in (other, "c5") else "supported")
    found = ann.agreement("ben")
    assert [key.item for key in found.disagreements] != []
    assert found.sentence().startswith("ann and ben agree on 10 of 12 items: kappa 0.4")
    hidden = LabelSession(ITEMS, store, "cat", between=("ann", "ben"))
    assert sorted(_ids(hidden)) == ["c3", "c4"]
    assert hidden.others() == []
    shown = LabelSession(ITEMS, store, "dan", between=("ann", "ben"), blind=False)
    assert [who for who, _ in shown.others()] == ["ann", "ben", "judge"]
    shown.label("supported")
    assert _ids(LabelSession(ITEMS, store, "dan", between=("ann", "ben"))) == _ids(shown)
    against_judge = LabelSession(ITEMS, store, "eve", between=("ann", "judge"))
    assert sorted(_ids(against_judge)) == ["c3", "c5"]


@pytest.mark.parametrize("between", [("ann", "ben"), ("judge", "ann"), ("cat", "ann")])
def test_a_session_between_people_who_did_not_label_is_refused(file: Path, between: tuple[str, str]) -> None:
    _session(file).label("supported")
    with pytest.raises(UsageError):
        _session(file, "cat", between=between)


def test_items_may_be_a_frame_of_traces_and_labels_belong_to_case_arm_and_repeat(file: Path) -> None:
    rows = [
        {"suite": "s", "case_id": "a", "arm": arm, "repeat": repeat, "answer": "None.", "judge_label": None}
        for arm in ("typed", "swallowed")
        for repeat in (0, 1)
    ]
    session = _session(file, items=pd.DataFrame(rows))
    assert session.labels == ("absence", "failure", "data", "none")
    while session.current is not None:
        session.label("absence")
    frame = session.frame()
    assert len(frame.drop_duplicates(["suite", "case_id", "arm", "repeat"])) == 4
    assert sorted(frame["item"]) == ["s/a/swallowed/0", "s/a/swallowed/1", "s/a/typed/0", "s/a/typed/1"]


@pytest.mark.parametrize(
    ("items", "more", "error", "problem"),
    [
        ([{"claim": "x"}], {}, InputError, "item 1 has neither"),
        ([{"id": "a", "claim": "x"}] * 2, {}, InputError, "item 2: 'a' stands twice"),
        ([{"id": "a", "judge_label": "x"}], {}, InputError, r"item 1 \('a'\) has nothing to show"),
        (["a"], {}, InputError, "item 1 is str"),
        ([{"id": "a", "claim": "x", "repeat": "two"}], {}, InputError, "'repeat' is 'two'"),
        ([{"id": "a", "claim": "x", "repeat": 1.5}], {}, InputError, "'repeat' is 1.5"),
        ([{"id": "a", "claim": "x", "repeat": float("inf")}], {}, InputError, "'repeat' is inf"),
        (ITEMS, {"labels": ["one"]}, UsageError, "two to 9 different"),
        (ITEMS, {"labels": ["one", "one"]}, UsageError, "two to 9 different"),
        (ITEMS, {"labels": "ab"}, UsageError, "two to 9 different"),
        (ITEMS, {"labels": [str(at) for at in range(10)]}, UsageError, "two to 9 different"),
        (ITEMS, {"annotator": ""}, UsageError, "name who labels"),
    ],
)
def test_what_makes_no_sense_is_refused_and_makes_no_file(
    file: Path, items: Any, more: dict[str, Any], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        _session(file, **{"items": items, **more})
    assert not file.exists()


def test_an_empty_list_is_a_finished_session_with_an_empty_frame(file: Path) -> None:
    session = _session(file, items=[])
    assert list(session.frame()) == list(LabelStore(file).labels())
    assert (session.current, session.progress().left) == (None, 0)


def test_keys_label_put_off_take_back_and_say_what_they_do_not_know(file: Path) -> None:
    keys = LabelKeys(_session(file))
    keys.press("1L2u")
    assert keys.message == "took back: label"
    assert keys.session.progress() == (1, 0, 1, 12)
    keys.press("q")
    assert keys.message == "the key 'q' does nothing"
    keys.press("t9")
    assert "nothing was stored" in keys.message
    keys.press("t4")
    assert keys.session.frame()["reason"].tolist()[-1] == REASONS[3]


def test_keys_behind_one_that_asks_for_a_text_label_nothing(file: Path) -> None:
    keys = LabelKeys(_session(file))
    keys.press("n123")
    assert keys.asks == "note"
    assert keys.session.progress().labelled == 0


@settings(max_examples=60, deadline=None)
@given(st.text("123ult", max_size=40))
def test_whatever_is_typed_memory_file_and_a_resumed_session_agree(typed: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "labels.jsonl"
        keys = LabelKeys(_session(file, items=ITEMS[:5]))
        keys.press(typed)
        again = _session(file, items=ITEMS[:5])
        assert again.progress() == keys.session.progress()
        assert _shown(again) == _shown(keys.session)
        frame = LabelStore(file).labels()
        assert len(frame) == 5 - again.progress().left
        assert not frame.duplicated(["item", "annotator"]).any()


def test_a_session_counts_only_its_own_items_of_a_store_that_holds_more(file: Path) -> None:
    for items, label in ((ITEMS[:3], "supported"), ([{"case_id": "a", "answer": "None."}], "absence")):
        session = _session(file, items=items)
        while session.current is not None:
            session.label(label)
    session.store.record("overrule", "ann", session.items[0].key._replace(item="x"), label="y", reason="z")
    assert session.frame()["label"].tolist() == ["absence"]
    assert _session(file, items=ITEMS[:3]).agreement().matrix.n == 3
    assert len(LabelStore(file).labels("ann")) == 5


def test_a_repeat_that_a_frame_made_a_float_is_the_same_repeat(file: Path) -> None:
    rows = pd.DataFrame(
        [{"case_id": "a", "repeat": 1, "answer": "x", "tags": "t"}, {"id": "b", "answer": "y"}]
    )
    assert sorted(item.key for item in _session(file, items=rows).items) == [
        ("", "a", "", 1, "a/1"),
        ("", "b", "", 0, "b"),
    ]


@pytest.mark.parametrize("batches", [["k12u"], ["k", "1", "2u"], ["k1", "2u"]])
def test_agreement_asked_for_before_any_label_is_not_measured_and_loses_no_key_behind_it(
    tmp_path: Path, batches: list[str]
) -> None:
    keys = LabelKeys(_session(tmp_path / "labels.jsonl"))
    keys.press("k")
    assert keys.message.endswith("on 0 of 0 items: not measured.")
    for batch in batches:
        keys.press(batch)
    assert len(keys.session.frame()) == 1
    assert keys.message == "took back: label"
