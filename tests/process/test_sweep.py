import os
import signal
import subprocess
import sys

from moot.process import environment, sweep
from moot.process.sweep import Swept, kill_marked
from tests.process.scripts import STUBBORN, living, python

# A moot that starts a stubborn tree under a marker, tells its pids and waits for the end of its input.
HOST = """
import asyncio, sys
from moot.process import child
from moot.process.program import Program

async def main():
    async with child.start(Program({argv!r}, marker={marker!r})) as running:
        print(await anext(running.lines()), flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


def test_what_a_killed_parent_left_is_found_by_its_marker_and_ended(marker: str) -> None:
    argv = [sys.executable, "-c", HOST.format(argv=STUBBORN, marker=marker)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        pids = host.stdout.readline().decode()
        host.kill()
    assert len(living(pids)) == 3
    assert kill_marked(f"{marker}2") == Swept((), ())
    assert len(living(pids)) == 3
    swept = kill_marked(marker)
    assert sorted(swept.ended) == sorted(map(int, pids.split()))
    assert swept.survivors == ()
    assert living(pids) == []


def test_nothing_marked_is_nothing_to_do() -> None:
    assert kill_marked("nobody") == Swept((), ())


def test_a_sweeper_that_carries_the_marker_itself_lives_on(marker: str) -> None:
    script = f"from moot.process.sweep import kill_marked; print(kill_marked({marker!r}))"
    env = {**os.environ, environment.MARKER: marker}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(Swept((), ()))


def test_a_tree_inside_a_tree_goes_with_the_outer_one(marker: str) -> None:
    env = environment.marked(environment.build(), marker)
    inner = environment.marked(env, "inner", parent=env)
    argv = python("import signal; print('ready', flush=True); signal.pause()")
    with subprocess.Popen(argv, env=inner, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert sweep.kill_marked(marker).ended == (process.pid,)
        assert process.wait() == -signal.SIGKILL
