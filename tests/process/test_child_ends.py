"""However a program ends, nothing of its tree is left."""

import asyncio
import gc
import os
import signal
import time
import weakref

import pytest

from moot.process import child, sweep
from moot.process.program import Program, shell_argv
from tests.process.scripts import STUBBORN, living, python

LONG = 3600.0


async def test_a_deadline_ends_a_program_that_ignores_sigterm_and_forks() -> None:
    command = "trap '' TERM; sleep 1000 & echo $! $$; wait; sleep 1000"
    finished = await child.run(Program(shell_argv(command), deadline=1, grace=0.2))
    assert (finished.ended, finished.exit_code, finished.signal) == ("deadline", None, signal.SIGKILL)
    assert len(finished.stdout.split()) == 2
    assert living(finished.stdout.decode()) == []
    assert finished.duration >= 1.2


async def test_a_program_that_obeys_needs_no_more_than_sigterm() -> None:
    command = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    finished = await child.run(Program(shell_argv(command), deadline=1, grace=LONG))
    assert (finished.ended, finished.exit_code) == ("deadline", 5)
    assert finished.stdout == b"ready\nbye\n"


async def test_a_shell_does_not_carry_on_with_its_next_command_when_it_is_stopped() -> None:
    for _ in range(30):
        async with child.start(Program(shell_argv("sleep 1000 & echo ready; wait; echo went on"))) as running:
            assert await anext(running.lines()) == "ready"
            running.stop()
            finished = await running.wait()
        assert (finished.stdout, finished.signal) == (b"ready\n", signal.SIGTERM)


async def test_stopping_ends_also_a_daemon_that_left_the_group() -> None:
    async with child.start(Program(STUBBORN, grace=0.1)) as running:
        pids = await anext(running.lines())
        assert len(living(pids)) == 3
        running.stop()
        finished = await running.wait()
        assert living(pids) == []
    assert (finished.ended, finished.signal, finished.survivors) == ("stopped", signal.SIGKILL, ())


async def test_success_too_leaves_nothing_behind() -> None:
    script = """
import os, signal
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(writer, b"x")
    while True: signal.pause()
os.read(reader, 1)
if (pid := os.fork()) == 0:
    while True: signal.pause()
print(pid)
"""
    finished = await child.run(Program(python(script), deadline=30, grace=0.1))
    assert (finished.ended, finished.exit_code) == ("exited", 0)
    assert living(finished.stdout.decode()) == []


@pytest.mark.parametrize("daemon", ["sleep 1000", "sh -c 'sleep 1000 & exit 0'", "sh -c '(sleep 1000 &) & exit'"])
async def test_a_daemon_started_in_the_very_last_moment_is_found(daemon: str, marker: str) -> None:
    for _ in range(40):
        command = f"setsid {daemon} >/dev/null 2>&1 & exit 0"
        finished = await child.run(Program(shell_argv(command), marker=marker, grace=5))
        assert finished.duration < 5  # it was asked to go, not killed after the grace
        assert sweep.kill_marked(marker).ended == ()


async def test_a_process_that_escapes_with_our_pipe_does_not_hold_us_up() -> None:
    script = """
import os
if os.fork() == 0:
    os.setsid()
    os.execve("/bin/sh", ["sh", "-c", "echo $$; exec sleep 1000"], {})
os.read(0, 1)
"""
    program = Program(python(script), stdin_stays_open=True, deadline=30)
    async with child.start(program) as running:
        escaped = await anext(running.lines())
        running.close_stdin()
        finished = await running.wait()
    assert finished.is_success
    assert living(escaped) == [int(escaped)]
    os.kill(int(escaped), signal.SIGKILL)


async def test_a_quiet_program_is_ended() -> None:
    finished = await child.run(Program(shell_argv("echo one; sleep 1000"), idle=1))
    assert (finished.ended, finished.signal) == ("idle", signal.SIGTERM)
    assert finished.stdout == b"one\n"
    assert finished.duration >= 1


@pytest.mark.parametrize("stream", [1, 2])
async def test_a_program_that_keeps_talking_is_not_quiet(stream: int) -> None:
    command = f"for n in 1 2 3 4 5 6; do echo $n >&{stream}; sleep 0.2; done"
    finished = await child.run(Program(shell_argv(command), idle=1))
    assert finished.is_success
    assert finished.duration >= 1.2


async def test_a_program_that_is_written_to_is_not_quiet() -> None:
    program = Program(shell_argv("cat >/dev/null"), idle=1, stdin_stays_open=True)
    async with child.start(program) as running:
        for _ in range(4):
            await child.run(Program(("sleep", "0.4")))
            await running.write(b"x")
        running.close_stdin()
        finished = await running.wait()
    assert finished.is_success


async def test_a_program_that_is_held_back_is_not_quiet() -> None:
    script = "import os\nfor _ in range(3000): os.write(1, b'x' * 1023 + b'\\n')"
    async with child.start(Program(python(script), idle=1)) as running:
        await anext(running.lines())
        await child.run(Program(("sleep", "1.5")))
        rest = [line async for line in running.lines()]
        finished = await running.wait()
    assert len(rest) == 2999
    assert finished.is_success


async def test_cancelling_ends_the_tree_and_is_passed_on() -> None:
    pids = await _cancelled_tree(Program(STUBBORN, grace=0.1), times=1)
    assert living(pids) == []


async def test_cancelling_twice_cuts_the_grace_short() -> None:
    began = time.monotonic()
    pids = await _cancelled_tree(Program(STUBBORN, grace=LONG), times=2)
    assert living(pids) == []
    assert time.monotonic() - began < 60


async def _cancelled_tree(program: Program, times: int) -> str:
    """The pids of a tree whose awaiting task was cancelled so many times."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def await_it() -> None:
        async with child.start(program) as running:
            told.set_result(await anext(running.lines()))
            await running.wait()

    async with asyncio.timeout(60):
        task = asyncio.ensure_future(await_it())
        pids = await told
        assert len(living(pids)) == 3
        for _ in range(times):
            task.cancel()
            for _ in range(20):  # turns of the loop, for the cancellation to arrive
                await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
    assert task.cancelled()
    return pids


async def test_a_timeout_of_the_caller_is_its_timeout() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await child.run(Program(("sleep", "1000")))


async def test_an_error_of_the_caller_ends_the_tree_and_comes_out_as_it_is() -> None:
    pids = ""
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the block is what is tested
        async with child.start(Program(STUBBORN, grace=0.1)) as running:
            pids = await anext(running.lines())
            raise ZeroDivisionError
    assert len(pids.split()) == 3
    assert living(pids) == []


async def test_leaving_early_ends_the_tree() -> None:
    async with child.start(Program(STUBBORN, grace=0.1)) as running:
        pids = await anext(running.lines())
    assert living(pids) == []


async def test_an_ended_program_is_forgotten_long_before_its_limits() -> None:
    async with child.start(Program(("true",), deadline=LONG, idle=LONG)) as running:
        await running.wait()
    reference = weakref.ref(running)
    del running
    gc.collect()
    assert reference() is None


async def test_many_programs_run_at_once() -> None:
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        runs = [tasks.create_task(child.run(Program(shell_argv(f"echo {n}; exit {n}")))) for n in range(30)]
    assert [task.result().exit_code for task in runs] == list(range(30))
    assert [int(task.result().stdout) for task in runs] == list(range(30))
