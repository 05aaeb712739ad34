"""What befalls a host from outside: it ends, or goes on, and says so."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import SECONDS, Terminal, finish

BUSY = """
agents:
  ping: {script: [{on: ball, calls: [{channel_send: {message: "@pong ball"}}]}]}
  pong: {script: [{on: ball, calls: [{channel_send: {message: "@ping ball"}}]}]}
limits: {hops: false, ping_pong: false}
budget: {attempts: false}
context: {document_owner: none}
kickoff: "@ping ball"
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    return Terminal(folder, bytecode)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_a_run_whose_store_is_taken_away_ends_and_says_why(terminal: Terminal) -> None:
    (terminal.folder / "w.yaml").write_text(BUSY)
    process = terminal.start("run", "w.yaml")
    channel = terminal.folder / ".workflow" / "default" / "channel.md"
    until(lambda: process.poll() is not None or (channel.exists() and "@ping ball" in channel.read_text()))
    (terminal.folder / ".workflow").rename(terminal.folder / "gone")  # removed, moot would write between two files
    ended = finish(process)
    assert ended.code == 1
    assert "STORE_NOT_FOUND" in ended.err
    assert "was removed or replaced" in ended.err
