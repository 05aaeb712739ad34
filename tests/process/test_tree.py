import asyncio
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from moot.process import environment, tree
from moot.process.tree import Tree
from tests.process.scripts import STUBBORN, await_exit, living, python

POLITE = python("""
import os, signal, sys
def leave(*_):
    print("bye", flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
print("ready", flush=True)
while True: signal.pause()
""")


@contextmanager
def started(argv: tuple[str, ...], marker: str) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A child that leads a group, and its first line."""
    env = environment.marked(environment.build(), marker)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=env, start_new_session=True) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().decode()


async def test_members_are_found_by_group_and_by_marker() -> None:
    with started(STUBBORN, "m1") as (process, pids), started(POLITE, "m2") as (other, _):
        assert sorted(Tree("m1", process.pid).members()) == sorted(living(pids))
        assert len(living(pids)) == 3
        assert len(Tree("none", process.pid).members()) == 2
        assert len(Tree("m1").members()) == 3
        tree.kill(Tree("m1", process.pid))
        other.kill()


async def test_a_group_member_that_cleared_its_environment_is_found() -> None:
    hider = ("/bin/sh", "-c", "env -i /bin/sh -c 'echo ready; kill -STOP $$' & wait")
    with started(hider, "m") as (process, _):
        assert len(Tree("m").members()) == 1
        assert len(Tree("m", process.pid).members()) == 2
        assert tree.kill(Tree("m", process.pid)) == ()


async def test_a_polite_tree_gets_to_say_goodbye_once() -> None:
    with started(POLITE, "m") as (process, _):
        async with asyncio.timeout(10):
            assert await tree.end(Tree("m", process.pid), grace=60) == ()
        assert process.stdout is not None
        assert process.stdout.read() == b"bye\n"
        assert process.wait() == 0


async def test_a_stubborn_tree_is_gone_after_the_grace_and_its_neighbour_is_not() -> None:
    with started(STUBBORN, "m1") as (process, pids), started(STUBBORN, "m2") as (other, others):
        assert await tree.end(Tree("m1", process.pid), grace=0.1) == ()
        assert living(pids) == []
        assert len(living(others)) == 3
        assert tree.kill(Tree("m2", other.pid)) == ()
        assert living(others) == []


async def test_we_are_never_in_a_tree_that_we_end() -> None:
    assert os.getpid() not in Tree("none", os.getpgid(0)).members()


async def test_ending_what_has_ended_does_nothing() -> None:
    with started(python("print('done')"), "m") as (process, _):
        await_exit(process.pid)
        assert await tree.end(Tree("m", process.pid), grace=60) == ()
