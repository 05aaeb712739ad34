"""Talking with a program while it runs: lines out, text in."""

import asyncio

import pytest

from moot.process import child
from moot.process.errors import StdinClosed
from moot.process.program import Program, shell_argv
from tests.process.scripts import python

MEBIBYTE = 1 << 20


async def test_lines_come_while_the_program_runs() -> None:
    program = Program(("cat",), stdin=b"first\n", stdin_stays_open=True, deadline=30)
    async with child.start(program) as running:
        assert await anext(running.lines()) == "first"
        await running.write("zweite ✓\n".encode())
        assert await anext(running.lines()) == "zweite ✓"
        running.close_stdin()
        assert [line async for line in running.lines()] == []
        finished = await running.wait()
    assert finished.is_success
    assert finished.stdout.decode() == "first\nzweite ✓\n"


async def test_all_lines_of_a_program_that_has_long_exited_can_be_taken() -> None:
    count = 50_000
    program = Program(python(f"for n in range({count}): print(n)"), output_cap=100, deadline=30)
    async with child.start(program) as running:
        lines = [line async for line in running.lines()]
        finished = await running.wait()
    assert lines == [str(n) for n in range(count)]
    assert finished.stdout_truncated


async def test_a_program_far_ahead_of_its_taker_is_held_back() -> None:
    script = f"""
import os, select
for _ in range({50 * MEBIBYTE // 1024}):
    if not select.select([], [1], [], 0.5)[1]:
        os.write(2, b"held back")
        break
    os.write(1, b"x" * 1023 + b"\\n")
os.read(0, 1)
"""
    program = Program(python(script), stdin_stays_open=True, deadline=30)
    async with child.start(program) as running:
        await anext(running.lines())
        await child.run(Program(("sleep", "1")))
        running.close_stdin()
        finished = await running.wait()
    assert finished.ended == "exited"
    assert finished.stderr == b"held back"


async def test_lines_that_nobody_takes_do_not_block_the_program() -> None:
    program = Program(python(f"print('x\\n' * {5 * MEBIBYTE}); print('end')"), output_cap=10, deadline=30)
    async with child.start(program) as running:
        assert await anext(running.lines()) == "x"
        finished = await running.wait()
    assert finished.is_success
    assert finished.stdout.endswith(b"end\n")


async def test_lines_end_when_the_program_closes_its_output() -> None:
    program = Program(shell_argv("echo one; exec >&-; read x; exit 0"), stdin_stays_open=True, deadline=30)
    async with child.start(program) as running:
        assert [line async for line in running.lines()] == ["one"]
        running.close_stdin()
        assert (await running.wait()).is_success


async def test_a_line_longer_than_its_cap_is_cut() -> None:
    program = Program(shell_argv("echo 0123456789; echo ok"), line_cap=4, deadline=30)
    async with child.start(program) as running:
        assert [line async for line in running.lines()] == ["0123 [... 6 bytes cut ...]", "ok"]


async def test_writing_to_a_program_that_stopped_reading_says_so() -> None:
    program = Program(shell_argv("exec <&-; echo ready; sleep 1000"), stdin_stays_open=True, deadline=30)
    async with child.start(program) as running:
        assert await anext(running.lines()) == "ready"
        async with asyncio.timeout(10):
            with pytest.raises(StdinClosed):
                await running.write(b"x" * MEBIBYTE)
            with pytest.raises(StdinClosed):
                await running.write(b"x")


async def test_writing_to_a_program_without_input_says_so() -> None:
    async with child.start(Program(("true",))) as running:
        with pytest.raises(StdinClosed):
            await running.write(b"x")


async def test_writing_that_the_end_of_the_program_interrupts_says_so() -> None:
    program = Program(("sleep", "1000"), stdin_stays_open=True, deadline=30)
    async with child.start(program) as running, asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(_refused(running))
        await asyncio.sleep(0)
        running.stop()
    assert writing.result()


async def _refused(running: child.Running) -> bool:
    with pytest.raises(StdinClosed):
        await running.write(b"x" * MEBIBYTE)
    return True
