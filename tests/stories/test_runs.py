"""Runs through real processes: killed in any phase and gone on with, they come to the same end."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import SECONDS, Terminal

CLOCK = re.compile(r"\d\d:\d\d:\d\d")
WORKFLOW = """
name: review
agents:
  reviewer:
    backend: scripted
    script:
      - on: Document Owner Election
        takes: 0.3s
        calls: [{document_vote_owner: {choice: coder}}]
      - on: look
        takes: 0.3s
        calls: [{channel_send: {message: "@coder the first line is wrong"}}]
      - on: fixed
        say: all good
  coder:
    backend: scripted
    script:
      - on: Document Owner Election
        takes: 0.3s
        calls: [{document_vote_owner: {choice: coder}}]
      - on: wrong
        takes: 0.3s
        calls:
          - document_append: {content: "fixed\\n"}
          - channel_send: {message: "@reviewer fixed"}
setup:
  - {shell: "echo once >> setup-ran; while [ ! -e go ]; do sleep 0.02; done; echo the diff", as: diff, timeout: 60s}
kickoff: |
  ${{ diff }}
  @reviewer look
"""


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "bytecode"


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    (tmp_path / "review.yaml").write_text(WORKFLOW)
    return Terminal(tmp_path, bytecode)


@pytest.fixture(scope="session")
def expected(bytecode: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("calm")
    (folder / "review.yaml").write_text(WORKFLOW)
    (folder / "go").touch()
    calm = Terminal(folder, bytecode)
    calm.ok("run", "review.yaml")
    return said(calm)


def said(terminal: Terminal) -> list[str]:
    """Votes and messages by sender; two agents may vote in either order."""
    entries = terminal.ok("log", "--json").json
    lines = [f"{one['from']}: {CLOCK.sub('', one['message'])}" for one in entries]
    return sorted(line for line in lines if "[VOTE" in line) + [line for line in lines if "[VOTE" not in line]


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def channel(terminal: Terminal) -> str:
    file = terminal.folder / ".workflow" / "default" / "channel.md"
    return file.read_text() if file.exists() else ""


MOMENTS: dict[str, Callable[[Terminal], bool]] = {
    "setup": lambda terminal: (terminal.folder / "setup-ran").exists(),
    "election": lambda terminal: "[PROPOSAL:" in channel(terminal),
    "the first vote": lambda terminal: "[VOTE:" in channel(terminal),
    "an agent at work": lambda terminal: "@reviewer look" in channel(terminal),
    "acknowledging": lambda terminal: "@reviewer fixed" in channel(terminal),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_was_killed_comes_to_the_same_end(terminal: Terminal, expected: list[str], moment: str) -> None:
    if moment != "setup":
        (terminal.folder / "go").touch()
    process = terminal.start("run", "review.yaml")
    until(lambda: MOMENTS[moment](terminal) or process.poll() is not None)
    process.kill()
    process.communicate()
    (terminal.folder / "go").touch()
    ended = terminal.run("resume", "--json")
    if ended.code != 0:  # it was quicker than we
        assert "nothing to resume" in ended.err
    assert said(terminal) == expected
    assert terminal.ok("doc", "show", "notes.md").out == "fixed\n"
    assert terminal.ok("status", "--json").json[0]["status"] == "done"
    assert all(one["state"] == "acked" for entry in receipts(terminal) for one in entry)


def receipts(terminal: Terminal) -> list[list[dict[str, str]]]:
    return [entry["receipts"] for entry in terminal.ok("log", "--json", "--receipts").json]


def test_an_interrupted_run_is_gone_on_with(terminal: Terminal, expected: list[str]) -> None:
    process = terminal.start("run", "review.yaml")
    until(lambda: MOMENTS["setup"](terminal))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert b"interrupted in" in out
    assert b"moot resume" in err
    (terminal.folder / "go").touch()
    assert "\ndone in " in terminal.ok("resume").out
    assert said(terminal) == expected


def test_a_second_run_of_an_instance_is_refused_while_the_first_goes_on(terminal: Terminal) -> None:
    process = terminal.start("run", "review.yaml")
    until(lambda: MOMENTS["setup"](terminal))
    second = terminal.run("run", "review.yaml")
    assert (second.code, "INSTANCE_BUSY" in second.err) == (1, True)
    (terminal.folder / "go").touch()
    process.communicate(timeout=SECONDS)
    assert process.returncode == 0


def test_a_failing_setup_ends_the_run_with_its_output(terminal: Terminal) -> None:
    (terminal.folder / "broken.yaml").write_text(
        "name: broken\nagents: {ann: {backend: scripted}}\n"
        "setup: [{shell: 'echo the reason >&2; exit 3'}]\nkickoff: '@ann hi'\n"
    )
    ended = terminal.run("run", "broken.yaml")
    assert ended.code == 1
    assert "failed with exit code 3" in ended.err
    assert "the reason" in ended.out + ended.err
    assert "@ann hi" not in channel(terminal)


def test_a_run_in_the_background_survives_its_terminal_and_ends_when_told(terminal: Terminal) -> None:
    (terminal.folder / "go").touch()
    ended = terminal.ok("start", "review.yaml", "--background")
    pid = int(ended.out.split("(process ")[1].split(")")[0])
    try:
        until(lambda: "all good" in channel(terminal))
        assert terminal.ok("status", "--json").json[0]["status"] == "live"
        terminal.ok("stop", "@default")
        until(lambda: terminal.ok("status", "--json").json[0]["status"] == "stopped")
        until(lambda: not Path(f"/proc/{pid}").exists())
    finally:
        subprocess.run(["kill", str(pid)], check=False, capture_output=True)
    assert (terminal.folder / ".workflow" / "default" / "moot.log").read_text().count("stopped in") == 1


def test_a_paused_run_wakes_nobody_until_it_goes_on(terminal: Terminal) -> None:
    process = terminal.start("run", "review.yaml", "--json")
    until(lambda: MOMENTS["setup"](terminal))
    terminal.ok("pause")
    (terminal.folder / "go").touch()
    until(lambda: "[PROPOSAL:" in channel(terminal))
    kinds = [one["kind"] for one in terminal.ok("log", "--events", "--json").json]
    assert "attempt_started" not in kinds
    terminal.ok("resume")
    out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert json.loads(out.splitlines()[-1])["status"] == "done"
