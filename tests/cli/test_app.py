"""One door out: exit codes, and errors that a user can act on."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neverempty import InputError, NeverEmptyError, UsageError, __version__
from neverempty.cli import validate
from neverempty.cli.commands import COMMANDS


def _raise(error: BaseException) -> Callable[[Namespace], int]:
    def run(args: Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such arm"), 64),
        (InputError("cases.jsonl:3: broken"), 4),
        (NeverEmptyError("a tool returned nothing"), 4),
        (KeyboardInterrupt("12 finished traces are kept"), 130),
        (RuntimeError("a bug"), 70),
    ],
)
def test_each_kind_of_error_has_its_exit_code_and_no_traceback(
    cli: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    monkeypatch.setattr(validate, "run", _raise(error))
    done = cli("validate")
    assert done.code == code
    assert str(error) in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


def test_an_internal_error_says_how_to_get_the_traceback(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "run", _raise(ZeroDivisionError("by zero")))
    assert "NEVEREMPTY_DEBUG=1" in cli("validate").err
    monkeypatch.setenv("NEVEREMPTY_DEBUG", "1")
    done = cli("validate")
    assert done.code == 70
    assert "Traceback" in done.err


def test_many_problems_are_counted_and_cut(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "run", _raise(InputError(f"line {n}" for n in range(30))))
    err = cli("validate").err
    assert err.startswith("neverempty: 30 problems\nline 0\n")
    assert err.endswith("line 19\nand 10 more\n")


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ((), "--help"),
        (("validat",), "did you mean 'validate'?"),
        (("validate", "--expect-split-hsh", "x"), "neverempty validate --help"),
        (("validate", "--expect-split", "x"), "unrecognized arguments"),
        (("coverage", "--need", "many"), "--need"),
    ],
)
def test_a_mistyped_command_line_exits_64_and_shows_the_way(
    cli: Any, args: tuple[str, ...], hint: str
) -> None:
    done = cli(*args)
    assert done.code == 64
    assert hint in done.err


@pytest.mark.parametrize("command", [command.__name__.rpartition(".")[2].rstrip("_") for command in COMMANDS])
def test_every_command_explains_itself(command: str, cli: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli(command, "--help")
    assert f"usage: neverempty {command}" in capsys.readouterr().out


def test_help_lists_every_command_and_the_exit_codes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "neverempty", "--help"], capture_output=True, text=True, check=True
    )
    for command in COMMANDS:
        assert f"\n    {command.__name__.rpartition('.')[2].rstrip('_')}" in done.stdout
    assert "exit codes: 0 complete" in done.stdout


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str], cli: Any) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli("--version")
    assert capsys.readouterr().out == f"neverempty {__version__}\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Any) -> None:
    script = "import sys; from neverempty.cli import main; sys.exit(main(['init', sys.argv[1]]))"
    command = [sys.executable, "-u", "-c", script, str(tmp_path / "new")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_what_the_terminal_cannot_show_is_escaped(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "run", _raise(UsageError("no file '\udce9.toml'")))
    assert r"\udce9.toml" in cli("validate").err


@pytest.mark.parametrize("command", [["render"], ["gate"], ["export", "--out", "out"]])
def test_a_file_in_the_place_of_a_report_is_named(cli: Any, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    done = cli(command[0], str(tmp_path / "notes.txt"), *command[1:])
    assert done.code == 4
    assert "there is no report here" in done.err
