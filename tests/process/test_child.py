import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from moot.process import child, environment
from moot.process.errors import ProgramNotFound, ProgramNotStarted
from moot.process.program import Finished, Program, shell_argv
from tests.process.scripts import await_exit, python

MEBIBYTE = 1 << 20


async def run_shell(command: str, **env: str) -> Finished:
    return await child.run(Program(shell_argv(command), env=environment.build(env), deadline=30))


async def test_a_program_tells_its_exit_code_and_both_outputs() -> None:
    finished = await run_shell("echo out; echo err >&2; exit 3")
    assert (finished.ended, finished.exit_code, finished.signal) == ("exited", 3, None)
    assert (finished.stdout, finished.stderr) == (b"out\n", b"err\n")
    assert not finished.stdout_truncated
    assert not finished.is_success
    assert finished.survivors == ()
    assert 0 < finished.duration < 30


async def test_a_life_shorter_than_a_tick_of_the_loop_still_took_time(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "time", lambda: float(time.monotonic() // 1000))
    assert (await run_shell("exit")).duration > 0


async def test_a_program_that_kills_itself_tells_the_signal() -> None:
    finished = await run_shell("kill -USR1 $$")
    assert (finished.ended, finished.exit_code, finished.signal) == ("exited", None, signal.SIGUSR1)


async def test_text_of_all_scripts_goes_through_arguments_environment_and_back() -> None:
    text = "žluťoučký 🐎 \u202e «日本»"
    finished = await child.run(Program(("/bin/sh", "-c", 'printf %s "$1$T"', "sh", text), env={"T": text}))
    assert finished.stdout.decode() == text * 2


async def test_arguments_are_not_read_by_a_shell() -> None:
    hostile = "$(echo no) `echo no` ; echo no 'x' \"y\" -n\n*"
    finished = await child.run(Program(("printf", "%s", hostile)))
    assert finished.stdout.decode() == hostile


async def test_it_runs_where_it_is_told(tmp_path: Path) -> None:
    finished = await child.run(Program(("pwd", "-P"), cwd=tmp_path))
    assert finished.stdout.decode().strip() == str(tmp_path.resolve())


async def test_a_mebibyte_of_input_arrives_and_ends() -> None:
    data = os.urandom(MEBIBYTE)
    finished = await child.run(Program(("cat",), stdin=data, output_cap=2 * MEBIBYTE, deadline=30))
    assert finished.stdout == data


async def test_input_that_nobody_reads_does_no_harm() -> None:
    finished = await child.run(Program(("true",), stdin=b"x" * MEBIBYTE, deadline=30))
    assert finished.is_success


@pytest.mark.parametrize("stdin", [None, b""])
async def test_without_input_a_reader_sees_the_end_at_once(stdin: bytes | None) -> None:
    finished = await child.run(Program(("cat",), stdin=stdin, deadline=30))
    assert finished.is_success


async def test_the_parents_own_input_is_not_shared() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"for the parent")
    os.close(writer)
    own = os.dup(0)
    os.dup2(reader, 0)
    try:
        finished = await child.run(Program(("cat",), deadline=30))
    finally:
        os.dup2(own, 0)
        os.close(own)
        os.close(reader)
    assert finished.stdout == b""


async def test_endless_output_is_capped_and_marked_and_does_not_block_the_program() -> None:
    script = """
import os
os.write(1, b"HEAD")
for _ in range(300): os.write(1, b"x" * 100_000); os.write(2, b"y" * 100_000)
os.write(1, b"TAIL")
raise SystemExit(7)
"""
    finished = await child.run(Program(python(script), output_cap=1000, deadline=60))
    assert (finished.ended, finished.exit_code) == ("exited", 7)
    assert finished.stdout.startswith(b"HEADx")
    assert finished.stdout.endswith(b"xTAIL")
    assert b"\n[... %d bytes cut ...]\n" % (30_000_008 - 1000) in finished.stdout
    assert len(finished.stdout) < 1100
    assert len(finished.stderr) < 1100
    assert finished.stdout_truncated
    assert finished.stderr_truncated


async def test_output_left_in_the_pipes_by_a_quick_exit_is_not_lost() -> None:
    size = MEBIBYTE if sys.platform == "linux" else 1 << 13
    script = f"""
import fcntl, os
for stream in (1, 2):
    if hasattr(fcntl, "F_SETPIPE_SZ"): fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, {size})
    os.write(stream, b"x" * {size})
"""
    async with child.start(Program(python(script))) as running:
        await_exit(running.pid)  # with the loop standing still, so that all is still in the pipes
        finished = await running.wait()
    assert (len(finished.stdout), len(finished.stderr)) == (size, size)


async def test_a_secret_of_the_parent_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "hush")
    finished = await child.run(Program(("env",)))
    assert b"hush" not in finished.stdout
    assert b"PATH=" in finished.stdout
    finished = await child.run(Program(("/usr/bin/env",), env={"ONLY": "this"}))
    names = {line.partition(b"=")[0] for line in finished.stdout.splitlines()}
    assert names == {b"ONLY", environment.MARKER.encode()}


async def test_two_programs_of_one_caller_share_its_marker_but_not_their_own() -> None:
    program = Program(("/usr/bin/env",), env={}, marker="attempt-7")
    own: list[bytes] = []
    for _ in range(2):
        _, _, value = (await child.run(program)).stdout.strip().rpartition(b"=")
        *_, shared, mine = value.split(b"/")
        assert shared == b"attempt-7"
        own.append(mine)
    assert own[0] != own[1]


async def test_no_descriptor_but_three_reaches_the_program() -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    finished = await child.run(Program(python("import os; print(sorted(os.listdir('/dev/fd')))")))
    os.close(reader)
    os.close(writer)
    listing = "3"  # the open directory itself
    assert finished.stdout.decode().strip() == str(["0", "1", "2", listing])


async def test_it_has_a_session_of_its_own_and_no_terminal() -> None:
    finished = await child.run(Program(python("import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))")))
    assert finished.stdout == b"True\n"


async def test_a_program_that_cannot_be_watched_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise OSError(24, "Too many open files")

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    before = len(os.listdir("/dev/fd"))
    monkeypatch.setattr(os, "pidfd_open", refused)
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with pytest.raises(ProgramNotStarted, match="new thread"):
        await child.run(Program(("sleep", "1000"), stdin=b"x"))
    assert len(os.listdir("/dev/fd")) == before


async def test_fifty_runs_leak_neither_descriptors_nor_threads() -> None:
    await run_shell("cat", X="1")
    before = (len(os.listdir("/dev/fd")), threading.active_count())
    for _ in range(50):
        await child.run(Program(("cat",), stdin=b"x", deadline=30, idle=30))
    with pytest.raises(ProgramNotFound):
        await child.run(Program(("no-such-program",), stdin=b"x"))
    assert (len(os.listdir("/dev/fd")), threading.active_count()) == before
