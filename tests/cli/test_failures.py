"""How failures are told: known ones in words, unknown ones with a place to look, interrupts without either."""

import errno
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from moot.cli import failures
from moot.core.errors import InvalidInput, MootError
from tests.cli.terminal import Terminal

CRASH = "import sys; from moot.cli.failures import tell; sys.exit(tell(ZeroDivisionError('1 by \\x1b[31m0')))"


class OutOfTime(MootError):
    code = "OUT_OF_TIME"
    exit_code = 3


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (MootError("It is so.", "Do that."), 1, "error: ERROR: It is so.\n  Do that.\n"),
        (MootError("It is so."), 1, "error: ERROR: It is so.\n"),
        (InvalidInput("It is not."), 2, "error: INVALID_INPUT: It is not.\n"),
        (OutOfTime("Too late."), 3, "error: OUT_OF_TIME: Too late.\n"),
        (click.UsageError("Not like this."), 2, "error: USAGE: Not like this.\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.Abort(), 130, ""),
        (SystemExit(), 0, ""),
        (SystemExit(4), 4, ""),
        (SystemExit("words"), 1, ""),
        (
            ExceptionGroup("several", [ValueError("x"), ExceptionGroup("more", [OutOfTime("Too late.")])]),
            3,
            "error: OUT_OF_TIME: Too late.\n",
        ),
        (BaseExceptionGroup("several", [ValueError("x"), KeyboardInterrupt()]), 130, ""),
    ],
)
def test_each_failure_has_its_words_and_exit_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    assert failures.tell(error) == code
    assert capsys.readouterr() == ("", said)


def test_a_crash_is_one_line_and_its_details_are_in_a_file(terminal: Terminal) -> None:
    terminal.join("coder")
    ended = terminal.python(CRASH)
    assert ended.code == 1
    assert ended.out == ""
    first, second = ended.err.splitlines()
    assert first == r"error: UNEXPECTED: Something went wrong that should not: ZeroDivisionError: 1 by \x1b[31m0"
    assert second == f"  Details are in {log_of(terminal)}; MOOT_DEBUG=1 shows them here."
    assert "ZeroDivisionError" in log_of(terminal).read_text()
    assert log_of(terminal).stat().st_mode & 0o777 == 0o600


def test_details_of_several_crashes_are_all_kept(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.python(CRASH)
    terminal.python(CRASH)
    assert log_of(terminal).read_text().count("ZeroDivisionError") == 2


def test_without_a_project_folder_the_details_are_in_a_private_file(terminal: Terminal, tmp_path: Path) -> None:
    ended = terminal.python(CRASH, env={"TMPDIR": str(tmp_path)})
    found = re.search(r"Details are in (\S+);", ended.err)
    assert found is not None
    assert Path(found[1]).parent == tmp_path
    assert Path(found[1]).stat().st_mode & 0o777 == 0o600
    assert not (terminal.folder / ".workflow").exists()


def test_a_link_in_place_of_the_log_is_not_followed(terminal: Terminal, tmp_path: Path) -> None:
    terminal.join("coder")
    target = tmp_path / "precious"
    target.write_text("mine")
    log_of(terminal).symlink_to(target)
    assert terminal.python(CRASH).code == 1
    assert target.read_text() == "mine"


def test_a_developer_sees_the_traceback(terminal: Terminal) -> None:
    ended = terminal.python("import sys; from moot.cli.main import run; sys.exit(run(['moot', 'nonsense']))")
    assert "Traceback" not in ended.err
    debug = terminal.run("nonsense", env={"MOOT_DEBUG": "1"})
    assert debug.code == 2
    assert "Traceback (most recent call last)" in debug.err
    assert "error: USAGE: No such command 'nonsense'." in debug.err


def test_a_broken_pipe_that_is_not_ours_is_not_hidden(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert failures.tell(BrokenPipeError(errno.EPIPE, "Broken pipe")) == 1
    assert "UNEXPECTED" in capsys.readouterr().err


def test_an_interrupt_while_starting_is_an_interrupt(terminal: Terminal) -> None:
    code = """
import builtins, sys
from moot.cli.main import run
real = builtins.__import__
def interrupted(name, *rest):
    if name == "moot.api.access":
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = interrupted
sys.exit(run(["moot", "list"]))
"""
    ended = terminal.python(code)
    assert (ended.code, ended.out, ended.err) == (130, "", "")


def test_the_exit_code_reaches_the_shell_through_the_console_script(terminal: Terminal) -> None:
    script = Path(sys.executable).with_name("moot")
    done = subprocess.run([script, "nonsense"], capture_output=True, timeout=60, check=False, env=terminal.env())
    assert done.returncode == 2


def log_of(terminal: Terminal) -> Path:
    return terminal.folder / ".workflow" / "errors.log"


@pytest.mark.parametrize("words", [("send", "hi", "--to"), ("inbox",), ("trace",), ("stop",)])
def test_an_argument_that_is_no_text_is_refused_before_anything_is_done(
    terminal: Terminal, words: tuple[str, ...]
) -> None:
    ended = terminal.run(*words, os.fsdecode(b"\xff"))
    assert (ended.code, "INVALID_INPUT: The argument \\xff is not UTF-8." in ended.err) == (2, True), ended
    assert not (terminal.folder / ".workflow").exists()
