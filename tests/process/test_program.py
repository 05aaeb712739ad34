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


def test_how_it_ended_is_the_end_of_a_sentence() -> None:
    assert replace(DONE, exit_code=3).how == "failed with exit code 3"
    assert replace(DONE, exit_code=None, signal=9).how == "was ended by signal 9"
    assert replace(DONE, ended="deadline", exit_code=None, signal=15).how == "did not end in time"


def test_what_it_printed_is_text_and_has_an_end() -> None:
    finished = replace(DONE, stdout=b"\none\r\n", stderr=b"t\0o\xff\n")
    assert finished.printed(100) == "one\nt\ufffdo\ufffd"
    assert finished.printed(3) == "[... 5 characters before this]\n\ufffdo\ufffd"
    assert DONE.printed(100) == ""
