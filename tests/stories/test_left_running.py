"""A run that is killed leaves none of its commands running: neither those of setup nor those that tell people."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.processes import is_running

SECONDS = 60.0
LONG = "echo $$ > pid.new; mv pid.new pid; exec sleep 600"
AGENTS = """
context: {document_owner: ann}
agents:
  ann: {backend: scripted, script: [{on: begin, say: "@human look"}]}
  ben: {backend: scripted, script: [{on: begin, hang: true}]}
kickoff: "@ann @ben begin"
"""
COMMANDS = {"setup": f"setup: [{{shell: '{LONG}'}}]", "notify": f"notify: {{shell: '{LONG}', timeout: 300s}}"}


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    return not is_running(pid)


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_killed_run_leaves_no_command_running(tmp_path: Path, bytecode: Path, kind: str) -> None:
    terminal = Terminal(tmp_path, bytecode)
    (terminal.folder / "w.yaml").write_text(f"{COMMANDS[kind]}{AGENTS}")
    pid = terminal.folder / "pid"
    process = terminal.start("run", "w.yaml")
    until(lambda: pid.exists() or process.poll() is not None)
    left = int(pid.read_text())
    assert not is_gone(left)
    process.kill()
    process.communicate()
    until(lambda: is_gone(left))
