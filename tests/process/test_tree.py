import asyncio
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from moot.process import environment, tree
from moot.process.tree import Tree
from tests.process.scripts import STUBBORN, await_exit, living, python

# Takes some time to leave when it is asked to, and tells how often it was asked.
POLITE = python("""
import os, signal, time
asked = 0
def count(*_):
    global asked
    asked += 1
signal.signal(signal.SIGTERM, count)
os.write(1, b"ready\\n")
while not asked: time.sleep(0.01)
time.sleep(0.2)
os.write(1, b"asked %d\\n" % asked)
""")


# When it is asked to leave, it leaves a child behind that has a session of its own.
PARENT_AT_LAST = python("""
import os, signal
def fork(*_):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if os.fork() == 0:
        os.setsid()
        signal.pause()
    os._exit(0)
signal.signal(signal.SIGTERM, fork)
os.write(1, b"ready\\n")
while True: signal.pause()
""")


@contextmanager
def started(argv: tuple[str, ...], marker: str) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A child that leads a group, and its first line."""
    env = environment.marked(environment.build(), marker)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, start_new_session=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().decode()


async def test_members_are_found_by_group_and_by_marker(marker: str) -> None:
    with started(STUBBORN, marker) as (process, pids), started(POLITE, f"{marker}2") as (other, _):
        assert sorted(Tree(marker, process.pid).members()) == sorted(living(pids))
        assert len(living(pids)) == 3
        assert len(Tree("none", process.pid).members()) == 2
        assert len(Tree(marker).members()) == 3
        tree.kill(Tree(marker, process.pid))
        other.kill()


async def test_a_group_member_that_cleared_its_environment_is_found(marker: str) -> None:
    hider = ("/bin/sh", "-c", "env -i /bin/sh -c 'echo ready; kill -STOP $$' & wait")
    with started(hider, marker) as (process, _):
        assert len(Tree(marker).members()) == 1
        assert len(Tree(marker, process.pid).members()) == 2
        assert tree.kill(Tree(marker, process.pid)) == ()


async def test_a_polite_tree_is_asked_once_and_given_its_time(marker: str) -> None:
    with started(POLITE, marker) as (process, _):
        async with asyncio.timeout(10):
            assert await tree.end(Tree(marker, process.pid), grace=60) == ()
        assert process.stdout is not None
        assert process.stdout.read() == b"asked 1\n"
        assert process.wait() == 0


async def test_a_member_born_while_the_others_leave_is_asked_too(marker: str) -> None:
    with started(PARENT_AT_LAST, marker) as (process, _):
        async with asyncio.timeout(30):
            assert await tree.end(Tree(marker, process.pid), grace=60) == ()


async def test_a_stubborn_tree_is_gone_after_the_grace_and_its_neighbour_is_not(marker: str) -> None:
    with started(STUBBORN, marker) as (process, pids), started(STUBBORN, f"{marker}2") as (other, others):
        assert await tree.end(Tree(marker, process.pid), grace=0.1) == ()
        assert living(pids) == []
        assert len(living(others)) == 3
        assert tree.kill(Tree(f"{marker}2", other.pid)) == ()
        assert living(others) == []


async def test_we_are_never_in_a_tree_that_we_end() -> None:
    assert os.getpid() not in Tree("none", os.getpgid(0)).members()


async def test_ending_what_has_ended_does_nothing(marker: str) -> None:
    with started(python("print('done')"), marker) as (process, _):
        await_exit(process.pid)
        assert await tree.end(Tree(marker, process.pid), grace=60) == ()
