"""Files are replaced in one step; JSON is strict both ways and survives any text."""

from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
import warnings
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neverempty._errors import InputError
from neverempty._io import (
    JsonError,
    NonStrictJsonWarning,
    dumps,
    holds_every_key_once,
    jsonable,
    loads_strict,
    read_jsonl,
    read_lines,
    write_atomic,
)
from neverempty._suggest import did_you_mean

# Every code point, lone surrogates among them; none that joins its neighbour to a pair when written as JSON.
TEXT = st.text(st.characters(), max_size=12).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


# ------------------------------------------------------------------------------------------ write_atomic


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path: Path) -> None:
    write_atomic(tmp_path / "deep" / "a.txt", "x")
    plain = tmp_path / "plain.txt"
    plain.write_text("x")
    assert (tmp_path / "deep" / "a.txt").stat().st_mode == plain.stat().st_mode


def test_an_existing_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomic(link, "new\r\n")
    assert link.is_symlink()
    assert target.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_text_with_a_lone_surrogate_becomes_valid_utf8(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.html", "<p>ok \ud835</p>")
    assert (tmp_path / "a.html").read_text("utf-8") == "<p>ok \ufffd</p>"


def test_bytes_and_the_longest_names_are_written_as_they_are(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    write_atomic(target, b"\xff\x00")
    assert target.read_bytes() == b"\xff\x00"


# ------------------------------------------------------------------------------------------ dumps


@given(VALUES)
def test_what_dumps_writes_is_utf8_on_one_line_and_reads_back_equal(value: object) -> None:
    text = dumps(value)
    text.encode("utf-8")
    assert len(text.splitlines()) == 1
    assert loads_strict(text) == value
    assert json.loads(text) == value


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")])
def test_numbers_that_json_does_not_have_become_null(strange: float) -> None:
    assert dumps({"a": [strange, 0.0]}) == '{"a":[null,0.0]}'


def test_keys_are_sorted_and_of_every_kind() -> None:
    assert dumps({"b": 1, "a": 2}) == '{"a":2,"b":1}'
    assert (
        dumps({None: 1, 2: 3, True: 4, (1, "x"): 5, "z": 6})
        == '{"(1, \'x\')":5,"2":3,"null":1,"true":4,"z":6}'
    )


class Colour(Enum):
    RED = 1


@dataclass
class Point:
    x: int
    name: str


class Opaque:
    pass


class Rude:
    def __str__(self) -> str:
        raise RuntimeError("no text today")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Point(1, "p"), '{"name":"p","x":1}'),
        (date(2026, 9, 29), '"2026-09-29"'),
        (Path("a/b"), '"a/b"'),
        (Colour.RED, '"Colour.RED"'),
        ({"b", "a"}, '["a","b"]'),
        ((1, 2), "[1,2]"),
        (np.arange(3), "[0,1,2]"),
        (b"caf\xc3\xa9 \xff", '"café \ufffd"'),
        (Opaque(), '"<Opaque>"'),
        (Opaque, f"\"<class '{Opaque.__module__}.Opaque'>\""),
        (Rude(), '"<Rude: its text raised RuntimeError>"'),
        (10**5000, '"<int of 16610 bits>"'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_foreign_objects_are_written_by_fields_or_text_never_by_address(value: object, text: str) -> None:
    assert dumps(value) == text
    assert dumps({"deep": [value, math.nan]}) == f'{{"deep":[{text},null]}}'


def test_cycles_and_deep_nesting_are_cut_and_stay_readable() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    deep: object = "bottom"
    for _ in range(5000):
        deep = [deep]
    for value in (cycle, deep):
        assert "<nested too deeply>" in dumps(value)
        loads_strict(dumps(value))


def test_the_same_set_gives_the_same_bytes_in_every_process() -> None:
    code = "from neverempty._io import dumps; print(dumps({'s': {f'k{i}' for i in range(40)}}))"
    lines = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(lines) == 1


@given(VALUES)
def test_jsonable_leaves_plain_values_as_they_are(value: object) -> None:
    assert jsonable(value) == value


# ------------------------------------------------------------------------------------------ loads_strict


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{"a": 1,}', (1, 8), "comma before the closing bracket"),
        ("[1, 2 ,\n ]", (1, 7), "comma before the closing bracket"),
        ('{"a" 1}', (1, 6), "Expecting ':' delimiter"),
        ('{"a": "x', (1, 7), "Unterminated string"),
        ("", (1, 1), "Expecting value"),
        ("{} {}", (1, 4), "Extra data"),
        ('{"label": 1, "label": 2}', (1, 14), "'label' stands twice"),
        ('{"l": [{"b": 1}, {"b": 1, "\\u0062": 2}]}', (1, 27), "'b' stands twice"),
        ('{"say \\"a\\":": 1,\n "x": {"a": [NaN]}}', (2, 14), "NaN is not a JSON number"),
        ('{"h": -Infinity}', (1, 7), "-Infinity is not a JSON number"),
        ('{"h": 1e999}', (1, 7), "1e999 is not a JSON number"),
        ('{"NaN": "Infinity", "Infinity": NaN}', (1, 33), "NaN is not a JSON number"),
        ("9" * 5000, (1, 1), "too many digits"),
        ("[" * 100_000, (1, 1), "nested too deeply"),
        (b'{"a": "\xff"}', (1, 8), "byte 0xff is not UTF-8"),
    ],
)
def test_a_broken_text_is_refused_with_line_and_column(text: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(JsonError, match="line") as caught:
        loads_strict(text)
    assert (caught.value.line, caught.value.column) == place
    assert words in caught.value.reason


def test_numbers_of_other_programs_are_accepted_where_someone_listens() -> None:
    heard: list[str] = []
    assert loads_strict("[NaN, -Infinity, 1e999, 1.5]", on_nan=heard.append)[1:] == [-math.inf, math.inf, 1.5]
    assert heard == ["NaN", "-Infinity", "1e999"]


def test_surrogate_pairs_are_joined_and_lone_ones_kept() -> None:
    assert loads_strict(r'["\ud83c\udf78", "ok \ud835"]') == ["\U0001f378", "ok \ud835"]


# --------------------------------------------------------------------------------- holds_every_key_once


BLANKS = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """JSON objects as other people write them: odd blanks, escaped characters, now and then a key twice."""
    letters = st.sampled_from(
        [
            "a",
            "b",
            ":",
            '\\"',
            "\\\\",
            "\\u003a",
            "\\u003A",
            "\\u0022",
            "\\u0061",
            "é",
            "\\n",
            ",",
            "{",
            " : ",
        ]
    )
    words = st.lists(letters, max_size=4).map(lambda parts: '"' + "".join(parts) + '"')
    scalars = words | st.sampled_from(["1", "-0.5", "1e2", "true", "null", "1e999", "NaN", "[]", "{}"])

    def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.tuples(BLANKS, words, BLANKS, BLANKS, inner).map(
            lambda p: f"{p[0]}{p[1]}{p[2]}:{p[3]}{p[4]}"
        )
        return st.lists(pair, max_size=4).map(lambda pairs: "{" + ",".join(pairs) + "}") | st.lists(
            inner, max_size=3
        ).map(lambda values: "[" + ",".join(values) + "]")

    return draw(objects(st.recursive(scalars, objects, max_leaves=6)))


def is_strict(text: str) -> bool:
    try:
        loads_strict(text)
    except JsonError:
        return False
    return True


@settings(max_examples=300)
@given(json_texts())
def test_the_quick_look_never_passes_what_the_exact_reader_refuses(text: str) -> None:
    if holds_every_key_once(text.encode()):
        assert is_strict(text)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_the_quick_look_is_sure_of_ordinary_lines(value: dict[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    ordinary = "Infinity" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
    assert holds_every_key_once(text.encode("utf-8", "surrogatepass")) or not ordinary


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": 1, "\\u0061": 2}',
        '{"a" : 1, "b": "\\u0022\\u003a", "a": 2}',
        '{"a": "\\u003a", "b": 1, "b": 2}',
        '{"x": [{"a": 1, "a": 1}]}',
        '{"x": NaN}',
        '{"x": 1e999}',
        '{"x": 1} {"x": 1}',
    ],
)
def test_the_quick_look_stops_at(text: str) -> None:
    assert not holds_every_key_once(text.encode())


# ------------------------------------------------------------------------------------------ lines


def test_only_line_feeds_end_a_line_and_numbers_are_those_of_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    separators = "a\u2028b\u0085c\u2029d\x1ce\x0bf\x0cg"
    path.write_bytes(
        b"\xef\xbb\xbf[1]\r\n\r\n  \n" + json.dumps(separators, ensure_ascii=False).encode() + b"\n[3]"
    )
    assert [number for number, _ in read_lines(path)] == [1, 4, 5]
    assert list(read_jsonl(path)) == [(1, [1]), (4, separators), (5, [3])]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_wide_encodings_are_refused_in_plain_words(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a": 1}\n'.encode(encoding))
    with pytest.raises(InputError, match=r"a\.jsonl:1: the file is UTF-16 or UTF-32; save it as UTF-8"):
        list(read_lines(path))


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read: No such file"):
        list(read_lines(tmp_path / "none.jsonl"))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(tmp_path))


def test_every_bad_line_is_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"label": "a", "label": "b"}\n{"ok": 1}\n\n[1,]\n[NaN]\n')
    with pytest.raises(InputError) as caught:
        list(read_jsonl(path))
    assert [problem.split(": ", 1)[0].rsplit(":", 1)[1] for problem in caught.value.problems] == [
        "1",
        "4",
        "5",
    ]


def test_nan_from_others_is_read_with_one_warning_for_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("[NaN]\n[-Infinity]\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = [value for _, value in read_jsonl(path, allow_nan=True)]
    assert math.isnan(values[0][0])
    assert values[1] == [-math.inf]
    assert [warning.category for warning in caught] == [NonStrictJsonWarning]


# ------------------------------------------------------------------------------------------ did_you_mean


def test_a_misspelt_name_is_answered_with_the_nearest_one() -> None:
    assert did_you_mean("langauge", ["language", "tags"]) == "; did you mean 'language'?"
    assert did_you_mean("xyz", ["b", "a"]) == "; allowed: 'a', 'b'"
