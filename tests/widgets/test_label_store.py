"""The label file: nothing committed is lost, nothing is there twice, whatever happens to the writer."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import InputError, UsageError
from neverempty.judge import calibrate
from neverempty.widgets import LabelKey, LabelStore

_KEY = LabelKey("trams", "late", "typed", 1, "late/1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "labels.jsonl"


def _label(
    store: LabelStore, label: str = "supported", item: str = "a", who: str = "ann", **more: Any
) -> Any:
    return store.record("label", who, LabelKey("", item, "", 0, item), label=label, **more)


def test_a_label_is_in_the_file_when_the_call_returns(path: Path) -> None:
    _label(LabelStore(path), blind=True)
    (line,) = path.read_bytes().splitlines(keepends=True)
    assert line.endswith(b"\n")
    row = json.loads(line)
    assert (row["action"], row["annotator"], row["item"], row["label"]) == ("label", "ann", "a", "supported")


def test_looking_at_a_store_makes_no_file(path: Path) -> None:
    assert LabelStore(path).labels().empty
    assert not path.parent.exists()


def test_the_frame_has_one_row_per_item_and_annotator_and_the_last_label(path: Path) -> None:
    store = LabelStore(path)
    for who, label in [("ann", "supported"), ("ben", "contradicted"), ("ann", "not_in_evidence")]:
        store.record(
            "label", who, _KEY, label=label, blind=who == "ann", judge_label="supported", language="de"
        )
    frame = LabelStore(path).labels()
    assert list(frame)[:13] == [
        *("suite", "case_id", "arm", "repeat", "item", "annotator", "label", "judge_label", "blind"),
        *("reason", "note", "language", "labelled_at"),
    ]
    assert frame[["annotator", "label", "blind"]].values.tolist() == [
        ["ann", "not_in_evidence", True],
        ["ben", "contradicted", False],
    ]
    assert frame["repeat"].dtype == "int64"
    assert str(frame["labelled_at"].dtype).endswith("UTC]")
    assert frame.dtypes.equals(LabelStore(path.with_name("none")).labels().dtypes)


def test_a_label_belongs_to_case_arm_and_repeat_never_to_a_case_alone(path: Path) -> None:
    store = LabelStore(path)
    for arm in ("typed", "swallowed"):
        for repeat in (0, 1):
            store.record("label", "ann", _KEY._replace(arm=arm, repeat=repeat), label=f"{arm}{repeat}")
    assert store.labels()["label"].tolist() == ["typed0", "typed1", "swallowed0", "swallowed1"]


def test_an_undo_takes_back_one_event_and_leaves_the_one_before(path: Path) -> None:
    store = LabelStore(path)
    _label(store, "supported")
    second = _label(store, "contradicted")
    store.record("undo", "ann", second.key, of=second.id)
    assert LabelStore(path).labels()["label"].tolist() == ["supported"]
    assert not store.is_standing(second)
    assert len(path.read_bytes().splitlines()) == 3


def test_an_undo_counts_even_where_joined_files_have_it_first(path: Path) -> None:
    store = LabelStore(path)
    event = _label(store)
    store.record("undo", "ann", event.key, of=event.id)
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert LabelStore(path).labels().empty


def test_a_file_joined_with_its_own_copy_counts_every_event_once(path: Path) -> None:
    _label(LabelStore(path))
    path.write_bytes(path.read_bytes() * 2)
    store = LabelStore(path)
    assert len(store.events()) == len(store.labels()) == 1


def test_what_was_put_off_has_no_row_and_what_cannot_be_told_has_one_with_its_reason(path: Path) -> None:
    store = LabelStore(path)
    key = LabelKey("", "b", "", 0, "b")
    store.record("later", "ann", LabelKey("", "a", "", 0, "a"))
    store.record("note", "ann", key, note="odd")
    assert store.labels().empty
    store.record("cant_tell", "ann", key, reason="two readings")
    (row,) = store.labels().to_dict("records")
    assert (row["label"], row["reason"], row["note"], row["action"]) == (
        "cant_tell",
        "two readings",
        "odd",
        "cant_tell",
    )


def test_an_overruling_keeps_what_it_replaces_and_why(path: Path) -> None:
    key = _KEY._replace(item="misreport_as_empty")
    LabelStore(path).record("overrule", "ann", key, label="reported", was="misreport", reason="it says so")
    (row,) = LabelStore(path).labels().to_dict("records")
    assert (row["item"], row["label"], row["was"], row["reason"]) == (
        "misreport_as_empty",
        "reported",
        "misreport",
        "it says so",
    )


@pytest.mark.parametrize("cut", [1, 2, 20, 60])
def test_a_line_that_was_never_finished_is_not_counted_and_cut_off_before_the_next(
    path: Path, cut: int
) -> None:
    store = LabelStore(path)
    _label(store, item="a")
    whole = path.read_bytes()
    _label(store, item="b")
    path.write_bytes(path.read_bytes()[: -cut - 1])
    again = LabelStore(path)
    assert again.labels()["item"].tolist() == ["a"]
    _label(again, item="c")
    assert LabelStore(path).labels()["item"].tolist() == ["a", "c"]
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().count(b"\n") == 2


def test_a_last_line_without_its_end_counts_and_stays(path: Path) -> None:
    _label(LabelStore(path), item="a")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    _label(LabelStore(path), item="b")
    assert LabelStore(path).labels()["item"].tolist() == ["a", "b"]


def test_two_stores_on_one_file_see_each_other(path: Path) -> None:
    one, two = LabelStore(path), LabelStore(path)
    for at in range(5):
        _label(one, item=f"{at}", who="ann")
        _label(two, item=f"{at}", who="ben")
    one.refresh()
    assert len(one.labels()) == len(two.labels()) == len(LabelStore(path).labels()) == 10
    assert one.annotators() == ["ann", "ben"]


def test_a_file_that_was_taken_away_is_read_anew(path: Path) -> None:
    store = LabelStore(path)
    _label(store)
    path.unlink()
    store.refresh()
    assert store.labels().empty
    _label(store, item="b")
    assert store.labels()["item"].tolist() == LabelStore(path).labels()["item"].tolist() == ["b"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            b'{"label":"supported","label":"contradicted"}',
            r"jsonl:2: column 22: the key 'label' stands twice",
        ),
        (b"[1]", r"jsonl:2: an event is an object, not list"),
        (b'{"action":"lable"}', r"jsonl:2: 'action' is 'lable', none of session, label"),
        (b'{"action":"label","item":"q7"}', r"jsonl:2: item 'q7': a 'label' event needs 'id', 'annotator'"),
        (b'{"action":"label","repeat":true}', r"jsonl:2: 'repeat' is True, not int"),
        (b'{"action":"session","order":"abc"}', r"jsonl:2: 'order' is 'abc', not a list of texts"),
        (b'{"action":"label",}', r"jsonl:2: column 18"),
        (b'{"action":"label","repeat":NaN}', r"jsonl:2: column 28"),
        (b"\xff\xfe", r"jsonl:2: column 1"),
    ],
)
def test_a_line_that_is_no_event_is_named_and_the_file_left_alone(
    path: Path, line: bytes, problem: str
) -> None:
    _label(LabelStore(path))
    path.write_bytes(path.read_bytes() + line + b"\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match=problem):
        LabelStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("action", "who", "details", "problem"),
    [
        ("label", "ann", {}, "needs 'label'"),
        ("cant_tell", "ann", {}, "needs 'reason'"),
        ("overrule", "ann", {"label": "x"}, "needs 'reason'"),
        ("label", " ", {"label": "x"}, "name who labels"),
        ("label", "ann", {"label": 3}, "'label' is 3, not str"),
        ("label", "ann", {"lable": "x"}, "cannot be made so"),
        ("shrug", "ann", {}, "'action' is 'shrug'"),
    ],
)
def test_an_action_that_makes_no_sense_is_refused_and_not_written(
    path: Path, action: str, who: str, details: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        LabelStore(path).record(action, who, _KEY, **details)
    assert not path.exists()


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        LabelStore(tmp_path)


@given(st.text(st.characters(), min_size=1), st.text(st.characters(), min_size=1))
def test_any_text_comes_back_as_it_was(item: str, note: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        key = LabelKey("", item, "", 0, item)
        LabelStore(path).record("label", "\ud800 <b>\x00", key, label="l\u2028", note=note)
        (row,) = LabelStore(path).labels().to_dict("records")
        assert (row["item"], row["note"], row["annotator"], row["label"]) == (
            item,
            note,
            "\ud800 <b>\x00",
            "l\u2028",
        )


def test_the_frame_goes_into_the_calibration_of_a_judge(path: Path) -> None:
    store = LabelStore(path)
    for at, (label, judged) in enumerate(
        [("supported", "supported"), ("contradicted", "contradicted"), ("contradicted", "not_in_evidence")]
        * 3
    ):
        _label(store, label, f"c{at}", judge_label=judged, judge_id="j1", language="fr")
    store.record("cant_tell", "ann", LabelKey("", "c99", "", 0, "c99"), reason="torn")
    found = calibrate(store.labels("ann"))
    assert (found.n_labels, found.n_cant_tell, found.judge_id) == (9, 1, "j1")
    assert found.matrix.counts == ((3, 0, 0), (0, 3, 3), (0, 0, 0))
    assert [part.language for part in found.slices] == ["fr"]
