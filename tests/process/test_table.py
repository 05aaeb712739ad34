import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moot.process.table import ProcessTable, system
from moot.process.tables import linux, portable
from tests.process.scripts import await_exit, python

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
every_table = pytest.mark.parametrize("table", [pytest.param(linux, marks=on_linux), portable])

FIRST_THREAD_ENDS = """
import ctypes, threading, sys
def stay():
    print("ready", flush=True)
    sys.stdin.read()
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@every_table
def test_we_are_in_the_table(table: ProcessTable) -> None:
    assert os.getpid() in table.pids()


@every_table
def test_a_process_started_once_and_for_all(table: ProcessTable) -> None:
    assert table.started(os.getpid()) is not None
    assert table.started(os.getpid()) == table.started(os.getpid())


@every_table
def test_two_processes_with_time_between_started_differently(table: ProcessTable) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        assert table.started(other.pid) not in (None, table.started(os.getpid()))


@every_table
def test_a_zombie_is_dead_though_it_has_a_pid(table: ProcessTable) -> None:
    with subprocess.Popen(["true"], stdout=subprocess.PIPE) as zombie:
        await_exit(zombie.pid)
        assert table.started(zombie.pid) is None
        assert zombie.pid in table.pids()


@every_table
def test_a_reaped_process_is_dead(table: ProcessTable) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    assert table.started(gone.pid) is None
    assert table.variable(gone.pid, "PATH") is None


@every_table
def test_a_variable_is_what_the_process_was_started_with(table: ProcessTable) -> None:
    env = {"COLOUR": "grün/blau", "MY_COLOUR": "red"}
    argv = ["/bin/sh", "-c", "echo ready; read end"]  # what is in the middle of exec shows nothing to psutil
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert table.variable(other.pid, "COLOUR") == "grün/blau"
        assert table.variable(other.pid, "OLOUR") is None


@every_table
def test_a_process_is_at_work_in_its_folder(table: ProcessTable, tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, cwd=tmp_path) as other:
        assert table.folder(other.pid) == Path(os.path.realpath(tmp_path))
    assert table.folder(other.pid) is None


@on_linux
def test_a_variable_is_seen_also_in_the_middle_of_exec() -> None:
    for _ in range(100):
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env={"COLOUR": "red"}) as other:
            assert linux.variable(other.pid, "COLOUR") == "red"


@on_linux
def test_an_environment_that_is_really_empty_is_not_waited_for() -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write(b"x\n")
        other.stdin.flush()
        other.stdout.readline()
        began = time.monotonic()
        for _ in range(100):
            assert linux.variable(other.pid, "COLOUR") is None
        assert time.monotonic() - began < 1


@on_linux
def test_a_process_of_another_user_is_not_waited_for(request: pytest.FixtureRequest) -> None:
    if os.geteuid() == 0:
        os.seteuid(65534)
        request.addfinalizer(lambda: os.seteuid(0))
    began = time.monotonic()
    for _ in range(100):
        assert linux.variable(1, "PATH") is None
    assert time.monotonic() - began < 1


@on_linux
def test_a_process_whose_first_thread_ended_is_alive() -> None:
    argv = python(FIRST_THREAD_ENDS)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        while _state(process.pid) != "Z":
            os.sched_yield()
        assert linux.started(process.pid) is not None
        process.kill()


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


@on_linux
def test_linux_reads_proc_and_spares_psutil() -> None:
    assert system is linux
    script = "import sys, moot.process.identity, moot.process.child; print('psutil' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"False\n"
