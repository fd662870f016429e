"""No text breaks out of where it is shown."""

from __future__ import annotations

import html.parser
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty.report import escape

TEXT = st.text(st.characters())
WRITERS = [escape.plain, escape.html, escape.markdown]


class Tags(html.parser.HTMLParser):
    """Collects the tags and the text of a fragment."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("writer", WRITERS)
@given(text=TEXT)
def test_nothing_invisible_gets_through(writer: object, text: str) -> None:
    shown = writer(text)  # type: ignore[operator]
    shown.encode("utf-8")
    kept = {"\n", "\t", "\u200b", "\u200c", "\u200d"}
    assert not [
        char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in kept
    ]


@given(TEXT)
def test_html_is_text_and_nothing_else(text: str) -> None:
    parser = Tags()
    parser.feed(f'<td title="{escape.html(text)}">{escape.html(text)}</td>')
    parser.close()
    assert parser.tags == ["td"]
    assert parser.text == escape.plain(text)


@given(TEXT)
def test_markdown_stays_on_one_line_in_one_cell(text: str) -> None:
    shown = escape.markdown(text)
    assert "\n" not in shown
    assert "|" not in shown.replace("\\|", "")
    assert "<" not in shown
    assert "`" not in shown.replace("\\`", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@ann and a@b.org #12", "@\u200bann and a@b.org \\#\u200b12"),
        ("![x](http://e)", "\\!\\[x\\](http\\://e)"),
        ("a\r\n| b", "a \\| b"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("82.5 % (indicative)", "82.5 % (indicative)"),
        ("\x1b[2J", "\\\\x1b\\[2J"),
        ("GH-12", "GH\u200b-12"),
        (None, ""),
    ],
)
def test_markdown_is_not_read_as_markdown(text: str | None, shown: str) -> None:
    assert escape.markdown(text) == shown


def test_a_limit_cuts_with_an_ellipsis() -> None:
    assert escape.plain("abcdef", 4) == "abc\u2026"
    assert escape.plain("abcd", 4) == "abcd"
    assert len(escape.html("<" * 1_000_000, 10)) < 100


def test_emoji_and_joined_scripts_survive() -> None:
    assert escape.plain("\U0001f468\u200d\U0001f469 क्\u200cष") == "\U0001f468\u200d\U0001f469 क्\u200cष"
