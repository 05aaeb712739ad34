from dataclasses import replace

from moot.process.program import Finished, Program, shell_argv

DONE = Finished("exited", 0, None, b"", b"", stdout_truncated=False, stderr_truncated=False, duration=0.1)


def test_a_shell_line_is_one_argument() -> None:
    assert shell_argv("echo \"$HOME\"; ls 'a b'") == ("/bin/sh", "-c", "echo \"$HOME\"; ls 'a b'")


def test_secrets_stay_out_of_what_is_printed() -> None:
    shown = repr(Program(("true",), env={"TOKEN": "hush"}, stdin=b"hush"))
    assert "true" in shown
    assert "hush" not in shown


def test_success_is_an_exit_of_its_own_with_zero() -> None:
    assert DONE.is_success
    assert not replace(DONE, exit_code=1).is_success
    assert not replace(DONE, exit_code=None, signal=9).is_success
    assert not replace(DONE, ended="deadline").is_success
