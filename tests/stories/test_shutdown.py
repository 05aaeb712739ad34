"""A session that moot leaves when it is shut down goes on from the record; one that is stopped ends with a report."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import SECONDS, Terminal, finish

AGENT = """---
tools: [shell]
permissions: {shell: allow}
answers:
  - calls: [{shell: {command: echo one >> effects.txt}}]
  - calls: [{shell: {command: "echo two >> effects.txt; while [ ! -e go ]; do sleep 0.02; done; echo over"}}]
  - LAST
  - calls: [{shell: {command: echo four >> effects.txt}}]
  - say: done
---
"""
GOES_ON = "calls: [{shell: {command: echo three >> effects.txt}}]"


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    (tmp_path / "top.md").write_text(AGENT.replace("LAST", GOES_ON))
    (tmp_path / "flow.yaml").write_text("agents: {top: {from: ./top.md}}\nkickoff: '@top go'\n")
    return Terminal(tmp_path, bytecode)


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def effects(terminal: Terminal) -> list[str]:
    file = terminal.folder / "effects.txt"
    return file.read_text().split() if file.exists() else []


def begun(terminal: Terminal, *words: str) -> "subprocess.Popen[bytes]":
    """A run that is in the middle of its second command."""
    process = terminal.start(*words)
    until(lambda: effects(terminal) == ["one", "two"])
    return process


def state(terminal: Terminal) -> tuple[str, str]:
    (run,) = terminal.ok("status", "--json").json
    return run["instance"], run["status"]


@pytest.mark.parametrize(
    ("words", "number"),
    [(("ask", "top.md", "Go."), signal.SIGINT), (("run", "flow.yaml"), signal.SIGTERM)],
    ids=["ask", "run"],
)
def test_one_signal_lets_the_command_finish_and_the_run_is_gone_on_with(
    terminal: Terminal, words: tuple[str, ...], number: signal.Signals
) -> None:
    process = begun(terminal, *words)
    process.send_signal(number)
    until(lambda: state(terminal)[1] == "interrupted")
    (terminal.folder / "go").touch()
    ended = finish(process)
    assert (ended.code, "failed" in ended.err, effects(terminal)) == (130, False, ["one", "two"])

    instance = state(terminal)[0]
    resumed = terminal.ok("resume", f"@{instance}")
    assert "failed" not in resumed.out + resumed.err
    assert effects(terminal) == ["one", "two", "three", "four"]
    assert terminal.ok("log", "--json", "--instance", instance).json[-1]["message"] == "done"


@pytest.mark.parametrize(("last", "code"), [("say: as far as I came", 0), (GOES_ON, 1)], ids=["reports", "does not"])
def test_who_is_stopped_has_one_last_turn_and_what_comes_of_it_is_final(
    terminal: Terminal, last: str, code: int
) -> None:
    (terminal.folder / "top.md").write_text(AGENT.replace("LAST", last))
    process = begun(terminal, "run", "flow.yaml")
    terminal.ok("stop", "@default")
    (terminal.folder / "go").touch()
    ended = finish(process)
    assert (ended.code, state(terminal)[1], effects(terminal)) == (130, "stopped", ["one", "two"])
    told = "as far as I came" if code == 0 else "it gave no report in its last turn (moot was asked to stop)"
    assert told in ended.out + ended.err

    assert terminal.run("resume", "@default").code == code
    assert effects(terminal) == ["one", "two"]
