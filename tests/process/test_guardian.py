"""What a process has started and written is seen to by its guardian when it is killed, and only then."""

import subprocess
import sys
import time
from pathlib import Path

import psutil

from moot.process.guardian import Guardian
from tests.processes import is_running

DEADLINE = 30.0
HOST = """
import subprocess, sys, time
from pathlib import Path
from moot.process import environment
from moot.process.guardian import Guardian
folder = Path(sys.argv[1])
folder.mkdir()
(folder / "token").write_text("secret")
with Guardian() as guardian:
    guardian.guard("at_guarded", folder)
    with guardian.guarding("at_done", folder.parent):
        pass
    guardian.guard("at_alone")
    env = environment.marked(environment.build(), "at_guarded")
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=env, start_new_session=True)
    print(sleeper.pid, guardian._process.pid, flush=True)
    time.sleep(600)
"""


def gone(pid: int) -> None:
    deadline = time.monotonic() + DEADLINE
    while is_running(pid):
        assert time.monotonic() < deadline, f"{pid} is still there"
        time.sleep(0.02)


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    with subprocess.Popen([sys.executable, "-c", HOST, str(folder)], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        sleeper, guardian = (int(word) for word in host.stdout.readline().split())
        assert psutil.pid_exists(sleeper)
        host.kill()
    gone(sleeper)
    gone(guardian)
    assert list(tmp_path.iterdir()) == []


def test_it_goes_with_whoever_has_ended_well(tmp_path: Path) -> None:
    with Guardian() as guardian:
        guardian.guard("at_1", tmp_path)
        guardian.release("at_1")
        process = guardian._process  # pyright: ignore[reportPrivateUsage]
        assert process is not None
    assert process.returncode == 0
    assert tmp_path.is_dir()


def test_nothing_to_guard_starts_nobody() -> None:
    with Guardian() as guardian:
        assert guardian._process is None  # pyright: ignore[reportPrivateUsage]


def test_a_guardian_that_was_ended_itself_is_no_trouble(tmp_path: Path) -> None:
    with Guardian() as guardian:
        guardian.guard("at_1", tmp_path)
        process = guardian._process  # pyright: ignore[reportPrivateUsage]
        assert process is not None
        process.kill()
        process.wait(DEADLINE)
        guardian.release("at_1")
    assert tmp_path.is_dir()


def test_a_folder_for_temporary_files_is_kept_until_the_end() -> None:
    with Guardian() as guardian:
        folder = guardian.folder("a")
        (folder / "file").write_text("x")
        assert (guardian.folder("a"), guardian.folder("b") != folder) == (folder, True)
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
