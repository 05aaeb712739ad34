import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.core.errors import MootError
from moot.process.errors import (
    ArgumentsTooLong,
    BadArguments,
    BadEnvironment,
    BadMarker,
    BadWorkingDirectory,
    ProgramNotExecutable,
    ProgramNotFound,
    ProgramNotStarted,
)
from moot.process.program import Program
from moot.process.spawn import spawn


def expect_refusal(program: Program, error: type[MootError]) -> str:
    with pytest.raises(error) as refused:
        spawn(program, "m")
    return str(refused.value)


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_a_missing_program_says_to_install_it() -> None:
    text = expect_refusal(Program(("no-such-program",)), ProgramNotFound)
    assert text == "Program 'no-such-program' was not found on the PATH. Install it, or give its full path."
    assert "as given" in expect_refusal(Program(("/no/such/program",)), ProgramNotFound)


def test_a_program_is_looked_for_on_the_childs_own_path(tmp_path: Path) -> None:
    script(tmp_path / "mine", "#!/bin/sh\nexit 7\n")
    process = spawn(Program(("mine",), env={"PATH": str(tmp_path)}), "m")
    process.communicate()
    assert process.returncode == 7
    expect_refusal(Program(("mine",)), ProgramNotFound)


def test_a_script_without_its_interpreter_says_so(tmp_path: Path) -> None:
    lost = script(tmp_path / "lost", "#!/no/such/interpreter\n")
    assert "interpreter" in expect_refusal(Program((str(lost),)), ProgramNotFound)


def test_a_file_that_may_not_be_run_says_so(tmp_path: Path) -> None:
    plain = script(tmp_path / "plain", "#!/bin/sh\n", mode=stat.S_IRUSR)
    assert "Permission denied" in expect_refusal(Program((str(plain),)), ProgramNotExecutable)
    assert "Permission denied" in expect_refusal(Program((str(tmp_path),)), ProgramNotExecutable)


def test_a_script_that_names_no_interpreter_says_so(tmp_path: Path) -> None:
    vague = script(tmp_path / "vague", "exit 0\n")
    assert "#!/bin/sh" in expect_refusal(Program((str(vague),)), ProgramNotExecutable)


def test_a_bad_working_directory_is_told_from_a_missing_program(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "No such file" in expect_refusal(Program(("true",), cwd=tmp_path / "none"), BadWorkingDirectory)
    assert "Not a directory" in expect_refusal(Program(("true",), cwd=tmp_path / "file"), BadWorkingDirectory)
    assert "path" in expect_refusal(Program(("true",), cwd=Path("a\0b")), BadWorkingDirectory)


@pytest.mark.parametrize("argv", [(), ("",), ("true", "a\0b"), ("true", "\ud800"), ("tr\0ue",)])
def test_arguments_no_program_can_be_given_are_refused(argv: tuple[str, ...]) -> None:
    expect_refusal(Program(argv), BadArguments)


def test_variables_no_program_can_be_given_are_refused() -> None:
    expect_refusal(Program(("true",), env={"A": "x\0"}), BadEnvironment)


def test_a_marker_with_a_slash_is_refused() -> None:
    expect_refusal(Program(("true",), marker="a/b"), BadMarker)


def test_arguments_too_long_for_the_system_say_to_use_stdin() -> None:
    assert "standard input" in expect_refusal(Program(("true", "x" * 3_000_000)), ArgumentsTooLong)


def test_a_system_without_room_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_pipes() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", no_pipes)
    assert "Too many open files" in expect_refusal(Program(("true",)), ProgramNotStarted)


def test_every_refusal_has_a_code_and_a_remedy() -> None:
    makers: list[Callable[[], Program]] = [
        lambda: Program(("no-such-program",)),
        lambda: Program(()),
        lambda: Program(("true",), cwd=Path("/none")),
        lambda: Program(("true",), env={"A": "\0"}),
    ]
    codes: set[str] = set()
    for make in makers:
        with pytest.raises(MootError) as refused:
            spawn(make(), "m")
        assert refused.value.remedy
        codes.add(refused.value.code)
    assert codes == {"PROGRAM_NOT_FOUND", "BAD_ARGUMENTS", "BAD_WORKING_DIRECTORY", "BAD_ENVIRONMENT"}
