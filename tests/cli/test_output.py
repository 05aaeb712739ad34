"""Where output goes: terminals with and without colours, readers that leave, disks that are full."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import SECONDS, Terminal
from tests.cli.test_log import say


def test_a_terminal_gets_colours(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "hello \x1b[31mred"))
    shown = terminal.show("log")
    assert "\x1b[" in shown
    assert "\\x1b[31mred" in shown
    assert "\x1b[31mred" not in shown
    assert "\x1b[" not in terminal.ok("log").out


def test_each_sender_keeps_a_colour(terminal: Terminal) -> None:
    for name in ("coder", "ann"):
        terminal.join(name)
        terminal.act(lambda connection, name=name: say(connection, name, f"I am {name}"))
    coder, ann = (line.split(" ")[1] for line in terminal.show("log").splitlines())
    assert coder != "coder"
    assert ann != "ann"
    assert coder.replace("coder", "") != ann.replace("ann", "")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_refused(terminal: Terminal, env: dict[str, str]) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "hello"))
    assert "\x1b" not in terminal.show("log", env=env)
    assert "\x1b" not in terminal.show("nonsense", env=env)


def test_errors_are_coloured_on_a_terminal_only(terminal: Terminal) -> None:
    assert terminal.show("nonsense").startswith("\x1b[31merror:\x1b[0m USAGE: ")
    assert terminal.run("nonsense").err.startswith("error: USAGE: ")


@pytest.mark.parametrize("env", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("words", [["log"], ["log", "--json"], ["export", "--jsonl", "-"]], ids=" ".join)
def test_a_reader_that_leaves_is_no_error(terminal: Terminal, words: list[str], env: dict[str, str]) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "line\n" * 100_000))
    process = terminal.start(*words, env=env)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(SECONDS) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to try")
@pytest.mark.parametrize("words", [["list"], ["--help"], ["list", "--json"], ["doctor"]], ids=" ".join)
def test_a_full_disk_is_told(terminal: Terminal, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            terminal.argv(*words),
            cwd=terminal.folder, env=terminal.env(), stdout=full, stderr=subprocess.PIPE, timeout=SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    told = done.stderr.decode()
    assert told.startswith('{"error":{"code":"OUTPUT_FAILED"' if "--json" in words else "error: OUTPUT_FAILED: ")
    assert "The output could not be written: No space left" in told


@pytest.mark.parametrize("words", ["list", "list --json", "log", "send hello@x", "doctor", "nonsense", "--help"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_streams_are_no_reason_to_fail(terminal: Terminal, words: str, closed: str) -> None:
    expected = terminal.run(*words.split()).code
    command = f'"$0" -m moot {words} {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, terminal.argv()[0]],
        cwd=terminal.folder, env=terminal.env(), capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == expected, done
    assert b"Traceback" not in done.stderr


def _has_small_disks() -> bool:
    try:
        return subprocess.run(["unshare", "-rm", "true"], capture_output=True, timeout=10, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _has_small_disks(), reason="this user cannot make a small disk")
@pytest.mark.parametrize("free", [64, 56, 48, 34, 24, 14, 8, 4, 0])
def test_a_disk_that_is_full_at_the_first_start_is_told(terminal: Terminal, free: int) -> None:
    small = terminal.folder / "small"
    small.mkdir()
    script = f"""
        mount -t tmpfs -o size=64k tmpfs {small} && cd {small} && mkdir .moot
        head -c {64 - free}k /dev/zero > ballast
        exec "$0" -m moot send "hello @nobody"
    """
    done = subprocess.run(
        ["unshare", "-rm", "/bin/sh", "-c", script, terminal.argv()[0]],
        env=terminal.env(), capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.stderr.decode() == (
        "error: STORE_FULL: The disk is full; nothing was written.\n  Free some space and try again.\n"
    )
    assert done.returncode == 1
