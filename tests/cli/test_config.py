"""``neverempty.toml``: what is wrong with it is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty import InputError
from neverempty.cli.config import load_config
from neverempty.cli.places import Places

_GOOD = """\
[project]
name = "shop"

[target]
agent = "target:agent"

[[suite]]
name = "orders"
cases = ["cases.jsonl"]

[run]
repeats = 3
"""


def _problems(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "neverempty.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_config(path)
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


def test_a_good_file_is_read_with_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "neverempty.toml"
    path.write_bytes(b"\xef\xbb\xbf" + _GOOD.replace("\n", "\r\n").encode())
    config = load_config(path)
    assert config.run.repeats == 3
    assert [arm.name for arm in config.run.arms] == ["typed"]
    assert config.project.results == "results"
    assert config.beside("cases.jsonl") == tmp_path / "cases.jsonl"


def test_arms_are_names_of_presentations_or_tables(tmp_path: Path) -> None:
    path = tmp_path / "neverempty.toml"
    path.write_text(
        _GOOD + 'arms = ["raised", { name = "short", presentation = "typed", prompt = "Be brief." }]\n',
        encoding="utf-8",
    )
    raised, short = load_config(path).run.arms
    assert (raised.name, raised.presentation) == ("raised", "raised")
    assert (short.name, short.prompt) == ("short", "Be brief.")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("agent =", "agnet =", "5: target.agnet: unknown key; did you mean 'agent'?"),
        ("repeats = 3", "repeat = 3", "12: run.repeat: unknown key; did you mean 'repeats'?"),
        ("[run]", "[runs]", "11: runs: unknown key; did you mean 'run'?"),
        ("repeats = 3", "repeats = 0", "12: run.repeats: "),
        ("repeats = 3", 'repeats = "3"', "12: run.repeats: must be a whole number"),
        ("repeats = 3", "timeout = 0", "12: run.timeout: "),
        ("repeats = 3", 'arms = ["swalowed"]', "12: run.arms.0: "),
        ("repeats = 3", 'arms = ["typed", "typed"]', "11: run: arms: 'typed' stands twice"),
        ('cases = ["cases.jsonl"]', "cases = []", "9: suite.0.cases: must not be empty"),
        ('name = "orders"', 'name = ""', "8: suite.0.name: must not be empty"),
        ('name = "shop"', "", "1: project.name: is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in _GOOD
    assert any(found.startswith(problem) for found in _problems(tmp_path, _GOOD.replace(old, new)))


def test_all_problems_come_in_one_go(tmp_path: Path) -> None:
    text = _GOOD.replace("agent =", "agnet =").replace("repeats = 3", "repeats = 0")
    assert len(_problems(tmp_path, text)) == 3  # the key that is unknown, the one that is missing, the number


def test_broken_toml_is_named_with_line_and_column(tmp_path: Path) -> None:
    (problem,) = _problems(tmp_path, _GOOD.replace('"shop"', '"shop'))
    assert "is not TOML" in problem
    assert "line 2" in problem


def test_a_file_that_is_not_there_points_to_init(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neverempty init"):
        load_config(tmp_path / "neverempty.toml")


def test_a_folder_and_another_encoding_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_config(tmp_path)
    (tmp_path / "wide.toml").write_bytes(_GOOD.encode("utf-16"))
    with pytest.raises(InputError, match="UTF-8"):
        load_config(tmp_path / "wide.toml")


def test_places_know_tables_arrays_of_tables_and_dotted_keys() -> None:
    text = '[a]\n"b c" = 1\n\n[[s]]\nx = 1\n[[s]]  # second\n  x = 2\n[s.deep]\ny.z = 3\n'
    places = Places(Path("f.toml"), text)
    assert places.of(("a", "b c")) == "f.toml:2"
    assert places.of(("s", 0, "x")) == "f.toml:5"
    assert places.of(("s", 1, "x")) == "f.toml:7"
    assert places.of(("s", 1, "missing")) == "f.toml:6"
    assert places.of(("s", "deep", "y", "z")) == "f.toml:9"
    assert places.of(("nowhere",)) == "f.toml"


@given(st.text(), st.lists(st.text() | st.integers(0, 3), max_size=4))
def test_places_never_fail_on_any_text(text: str, key: list[str | int]) -> None:
    assert Places(Path("f.toml"), text).of(key).startswith("f.toml")
