"""The labelling panel: a thin view that loses no key, shows no secret, and says what went wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from neverempty.widgets import KeyBox, LabelPanel, LabelStore

_HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</div></section><b>",
    "\ud800\udfff\x00\x1b[31m\u202e",
    '" onmouseover="x',
    "\u2028${7*7}{{7*7}}%s{0}",
    "a" * 100_000,
    "",
]
ITEMS = [
    {"id": f"c{at}", "claim": f"Claim {at}.", "evidence": ["E."], "judge_label": "contradicted"}
    for at in range(6)
]


@pytest.fixture
def panel(tmp_path: Path) -> LabelPanel:
    return LabelPanel(ITEMS, tmp_path / "labels.jsonl", "ann")


def _text(panel: LabelPanel) -> str:
    return "\n".join(one.value for one in (panel._progress, panel._item, panel._said))


def test_a_click_labels_and_the_cursor_goes_back_to_the_key_box(
    panel: LabelPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    monkeypatch.setattr(panel.key_box, "focus", lambda: moved.append("box"))
    panel.buttons["supported"].click()
    assert panel.state.frame()["label"].tolist() == ["supported"]
    assert moved == ["box"]
    panel.actions["undo"].click()
    assert panel.state.progress().labelled == 0


def test_the_browsers_messages_label_once_each_however_they_are_cut(panel: LabelPanel) -> None:
    for value in ("1", "123", "123u", "123u"):
        update = {"method": "update", "state": {"value": value}, "buffer_paths": []}
        panel.key_box._handle_msg({"content": {"data": update}, "buffers": []})
    assert panel.state.frame()["label"].tolist() == ["supported", "contradicted"]


@pytest.mark.parametrize(
    ("values", "typed"),
    [
        (["a", "ab", "abc"], "abc"),
        (["ab", "a", "ab"], "abb"),
        (["11", "111", "121"], "1112"),
        (["ab", "axb"], "abx"),
        (["", "aa", "a", ""], "aa"),
    ],
)
def test_the_key_box_hands_on_what_came_in_and_nothing_for_what_was_deleted(
    values: list[str], typed: str
) -> None:
    keys: list[str] = []
    box = KeyBox(keys.append)
    for value in values:
        box.value = value
    assert "".join(keys) == typed


def test_nothing_is_built_again_when_an_item_is_labelled(panel: LabelPanel) -> None:
    children, buttons = panel.children, dict(panel.buttons)
    panel.key_box.value = "12"
    assert panel.children == children
    assert panel.buttons == buttons
    assert set(panel._row.children) == set(buttons.values())


def test_the_buttons_stand_in_the_sessions_order_and_keep_their_keys(panel: LabelPanel) -> None:
    seen = []
    for _ in range(3):
        seen.append([button.description for button in panel._row.children])
        panel.key_box.value += "1"
    assert [row[0] for row in seen] == ["1 supported", "2 contradicted", "3 not_in_evidence"]
    assert {frozenset(row) for row in seen} == {frozenset(seen[0])}


def test_the_judges_label_shows_only_once_ones_own_is_stored(panel: LabelPanel) -> None:
    assert "the judge" not in _text(panel)
    assert ">contradicted<" not in _text(panel)
    assert "judge" not in panel._repr_html_()
    panel.key_box.value = "1"
    assert "the judge says otherwise: <strong>contradicted</strong>" in panel._said.value


def test_an_open_panel_shows_the_judges_label_beside_the_item(tmp_path: Path) -> None:
    panel = LabelPanel(ITEMS, tmp_path / "l", "ann", blind=False)
    assert "judge: <strong>contradicted</strong>" in panel._item.value


def test_fields_take_notes_reasons_and_jumps_and_are_empty_again(panel: LabelPanel) -> None:
    panel.fields["note"].value = "odd"
    assert "note: odd" in panel._item.value
    panel.fields["can't tell"].value = "torn page"
    panel.fields["go to"].value = "5"
    assert panel.state.place == 5
    assert [field.value for field in panel.fields.values()] == ["", "", ""]
    (row,) = panel.state.frame().to_dict("records")
    assert (row["label"], row["reason"], row["note"]) == ("cant_tell", "torn page", "odd")


def test_keys_that_come_before_the_cursor_has_moved_go_to_the_field_and_label_nothing(
    panel: LabelPanel,
) -> None:
    for value in ("n", "n1", "n12"):
        panel.key_box.value = value
    assert panel.fields["note"].value == "12"
    assert panel.state.progress().labelled == 0
    panel._asked_at -= 2.0
    panel.key_box.value = "n121"
    assert panel.state.progress().labelled == 1


def test_a_wrong_jump_is_said_and_stays_in_its_field(panel: LabelPanel) -> None:
    panel.fields["go to"].value = "c<99>"
    assert "there is no item &#x27;c&lt;99&gt;&#x27;" in panel._said.value
    assert panel.fields["go to"].value == "c<99>"
    panel.key_box.value = "1"
    assert "no item" not in panel._said.value


def test_a_label_that_cannot_be_stored_is_said_and_its_item_stays(panel: LabelPanel) -> None:
    panel.key_box.value = "1"
    shown = panel._item.value
    path = panel.state.store.path
    path.rename(path.with_name("moved"))
    path.mkdir()
    panel.key_box.value = "122"
    assert "Not stored: " in panel._said.value
    assert panel._item.value == shown
    path.rmdir()
    path.with_name("moved").rename(path)
    panel.key_box.value = "1222"
    assert LabelStore(path).labels()["label"].tolist() == ["supported", "contradicted"]


def test_agreement_shows_on_request_and_at_the_end(tmp_path: Path) -> None:
    panel = LabelPanel(ITEMS[:4], tmp_path / "l", "ann")
    panel.key_box.value = "12k"
    assert "ann and judge agree on 1 of 2 items: kappa 0.00 (one rater is constant" in panel._said.value
    panel.key_box.value = "12k22"
    assert "Every item is labelled" in panel._item.value
    assert "ann and judge agree on 3 of 4 items" in panel._said.value
    assert panel._row.children == ()


@pytest.mark.parametrize("hostile", _HOSTILE)
def test_no_text_from_outside_becomes_markup(tmp_path: Path, hostile: str) -> None:
    item = {
        "id": f"x{hostile[:50]}",
        "question": hostile,
        "evidence": [hostile, {"deep": hostile}],
        "answer": hostile,
        "judge_label": hostile[:50] or None,
        "language": hostile[:50],
    }
    panel = LabelPanel([item], tmp_path / "l", "ann <i>", labels=["<u>", hostile[:40] or "other"])
    panel.fields["note"].value = hostile[:100]
    panel.key_box.value = "1g"
    panel.fields["go to"].value = "1"
    shown = _text(panel) + panel._repr_html_() + panel.children[-1].value
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z]+)", shown))
    assert tags <= {
        *("div", "p", "section", "strong", "em", "kbd", "table", "thead", "tbody", "tr", "th", "td")
    } | {"caption"}
    assert "onmouseover=" not in re.sub(r"&quot;[^<]*", "", shown)
    assert not re.search("[\ud800-\udfff\x00\x1b\u202e]", shown)
    assert json.dumps(panel.get_state(), default=str).encode()


def test_an_empty_answer_is_shown_as_empty(tmp_path: Path) -> None:
    panel = LabelPanel([{"case_id": "a", "answer": ""}], tmp_path / "l", "ann")
    assert "<em>(empty)</em>" in panel._item.value


def test_a_conversation_is_shown_up_to_the_answer_that_is_labelled(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Trams?"},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "trams", "arguments": "{}"}]},
        {"role": "tool", "name": "trams", "content": "503 upstream"},
        {"role": "assistant", "content": "There are none."},
    ]
    panel = LabelPanel(
        [{"case_id": "a", "messages": messages, "answer": "There are none."}], tmp_path / "l", "ann"
    )
    text = re.sub("<[^>]*>", " ", panel._item.value)
    assert text.count("There are none.") == 1
    assert text.index("Trams?") < text.index("503 upstream") < text.index("There are none.")
    assert "tool trams" in text


def test_where_no_widget_can_be_shown_progress_and_labels_stand(panel: LabelPanel) -> None:
    panel.key_box.value = "12"
    bundle: dict[str, Any] = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "<LabelPanel: 2 of 6 labelled by ann>"
    assert "2 of 6 done" in bundle["text/html"]
    assert "Labels so far" in bundle["text/html"]
    assert not re.search(r"0x[0-9a-f]{6}|<script|labels\.jsonl", str(bundle))


def test_every_control_has_a_name_for_a_screen_reader(panel: LabelPanel) -> None:
    controls = [*panel.buttons.values(), *panel.actions.values(), *panel.fields.values(), panel.key_box]
    assert all(control.description for control in controls)
    assert 'role="status"' in panel._progress.value
    assert 'aria-label="item 1 of 6"' in panel._item.value


def test_the_arm_of_an_answer_is_not_named_while_it_is_labelled(tmp_path: Path) -> None:
    item = {"suite": "s", "case_id": "late", "arm": "swallowed", "repeat": 0, "answer": "None."}
    panel = LabelPanel([item], tmp_path / "l", "ann")
    assert "late" in panel._item.value
    assert "swallowed" not in _text(panel) + panel._repr_html_()
