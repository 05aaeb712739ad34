"""Runs through real processes: killed in any phase and gone on with, they come to the same end."""

import json
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import SECONDS, Terminal

DYING = Path(__file__).parent / "dying"
# What is on record of the run when it dies in each.
PHASES = {"election": "setup", "vote": "election", "kickoff": "election", "working": "talk", "acknowledging": "talk"}
CLOCK = re.compile(r"\d\d:\d\d:\d\d|(?<=doc-owner-)\d+")
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


def said(terminal: Terminal, instance: str = "default") -> list[str]:
    """Votes and messages by sender; two agents may vote in either order. The number of the vote is left out."""
    entries = terminal.ok("log", "--json", "--instance", instance).json
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


def is_setting_up(terminal: Terminal) -> bool:
    return (terminal.folder / "setup-ran").exists()


def test_a_run_that_was_killed_in_setup_comes_to_the_same_end(terminal: Terminal, expected: list[str]) -> None:
    process = terminal.start("run", "review.yaml")
    until(lambda: is_setting_up(terminal))  # and there it waits
    process.kill()
    process.communicate()
    (terminal.folder / "go").touch()
    expect_the_same_end(terminal, expected)


# What is done in a phase is not committed when the process dies behind it.
@pytest.mark.parametrize(
    "moment",
    [
        "election:before",
        pytest.param("election:after", marks=pytest.mark.chaos),
        "vote:before",
        pytest.param("vote:after", marks=pytest.mark.chaos),
        "kickoff:before",
        pytest.param("kickoff:after", marks=pytest.mark.chaos),
        "working:before",
        "acknowledging:before",
        "acknowledging:after",
    ],
)
def test_a_run_that_dies_in_a_phase_comes_to_the_same_end(terminal: Terminal, expected: list[str], moment: str) -> None:
    (terminal.folder / "go").touch()
    died = terminal.run("run", "review.yaml", env={"PYTHONPATH": str(DYING), "STORY_DIES": moment})
    assert died.code == -signal.SIGKILL, died
    before = terminal.ok("status", "--json").json[0]
    assert (before["status"], before["phase"]) == ("live", PHASES[moment.partition(":")[0]])
    expect_the_same_end(terminal, expected)


def expect_the_same_end(terminal: Terminal, expected: list[str]) -> None:
    terminal.ok("resume", "--json")
    assert said(terminal) == expected
    assert terminal.ok("doc", "show", "notes.md").out == "fixed\n"
    assert terminal.ok("status", "--json").json[0]["status"] == "done"
    assert all(one["state"] == "acked" for entry in receipts(terminal) for one in entry)


def receipts(terminal: Terminal) -> list[list[dict[str, str]]]:
    return [entry["receipts"] for entry in terminal.ok("log", "--json", "--receipts").json]


# After the first signal what runs may go on for ten seconds; after the second, of another kind or it might be lost in
# the first, it may not.
@pytest.mark.parametrize(
    "signals",
    [(signal.SIGHUP, signal.SIGINT), pytest.param((signal.SIGINT,), marks=pytest.mark.chaos)],
    ids=["at once", "after a while"],
)
def test_an_interrupted_run_is_gone_on_with(
    terminal: Terminal, expected: list[str], signals: tuple[signal.Signals, ...]
) -> None:
    process = terminal.start("run", "review.yaml")
    until(lambda: is_setting_up(terminal))
    for number in signals:
        process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert b"interrupted after" in out
    assert b"moot resume" in err
    (terminal.folder / "go").touch()
    assert "\ndone in " in terminal.ok("resume").out
    assert said(terminal) == expected


def test_a_second_run_of_an_instance_is_refused_while_the_first_goes_on(terminal: Terminal) -> None:
    process = terminal.start("run", "review.yaml")
    until(lambda: is_setting_up(terminal))
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
    started = terminal.ok("start", "review.yaml", "--background", "--json").json
    log = str(terminal.folder / ".workflow" / "default" / "moot.log")
    pid = started.pop("pid")
    assert started == {"instance": "default", "status": "live", "log": log}
    try:
        until(lambda: "all good" in channel(terminal))
        assert terminal.ok("status", "--json").json[0]["status"] == "live"
        terminal.ok("stop", "@default")
        until(lambda: terminal.ok("status", "--json").json[0]["status"] == "stopped")
        until(lambda: not Path(f"/proc/{pid}").exists())
    finally:
        subprocess.run(["kill", str(pid)], check=False, capture_output=True)
    assert Path(log).read_text().count('"type":"summary"') == 1


def test_a_paused_run_wakes_nobody_until_it_goes_on(terminal: Terminal) -> None:
    process = terminal.start("run", "review.yaml", "--json")
    until(lambda: is_setting_up(terminal))
    terminal.ok("pause")
    (terminal.folder / "go").touch()
    until(lambda: "[PROPOSAL:" in channel(terminal))
    kinds = [one["kind"] for one in terminal.ok("log", "--events", "--json").json]
    assert "attempt_started" not in kinds
    assert terminal.ok("resume", "--json").json == {"instance": "default", "is_paused": False}
    out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0
    assert json.loads(out.splitlines()[-1])["status"] == "done"


SLOW = """
name: slow
context: {document_owner: none}
agents:
  ann: {backend: scripted, script: [{on: begin, takes: 3s, say: "@ben do the work"}]}
  ben: {backend: scripted, script: [{on: do the work, say: work done}]}
kickoff: "@ann begin"
"""


def test_a_run_after_one_that_was_killed_does_only_its_own_work(terminal: Terminal) -> None:
    (terminal.folder / "slow.yaml").write_text(SLOW)
    process = terminal.start("run", "slow.yaml")
    until(lambda: "@ann begin" in channel(terminal))
    process.kill()
    process.communicate()
    terminal.ok("run", "slow.yaml")
    lines = [f"{one['from']}: {one['message']}" for one in terminal.ok("log", "--json").json]
    assert lines == ["system: @ann begin", "system: @ann begin", "ann: @ben do the work", "ben: work done"]


def test_a_run_is_not_done_while_mail_waits_for_an_agent_that_was_stopped(terminal: Terminal) -> None:
    (terminal.folder / "slow.yaml").write_text(SLOW)
    process = terminal.start("run", "slow.yaml")
    until(lambda: "@ann begin" in channel(terminal))
    terminal.ok("stop", "ben")
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert b"stopped with unread mail: ben" in err
    terminal.ok("resume")
    assert terminal.ok("log", "--json").json[-1]["message"] == "work done"


def test_a_paused_run_whose_process_was_killed_is_attended_again(terminal: Terminal) -> None:
    (terminal.folder / "slow.yaml").write_text(SLOW)
    process = terminal.start("run", "slow.yaml")
    until(lambda: "@ann begin" in channel(terminal))
    terminal.ok("pause")
    process.kill()
    process.communicate()
    assert "done in" in terminal.ok("resume").out


def test_a_run_whose_process_was_killed_is_stopped_at_once(terminal: Terminal) -> None:
    (terminal.folder / "slow.yaml").write_text(SLOW)
    process = terminal.start("run", "slow.yaml")
    until(lambda: "@ann begin" in channel(terminal))
    process.kill()
    process.communicate()
    terminal.ok("stop")
    assert terminal.ok("status", "--json").json[0]["status"] == "stopped"


def test_a_run_goes_on_though_nobody_reads_what_it_prints(terminal: Terminal) -> None:
    (terminal.folder / "slow.yaml").write_text(SLOW)
    process = terminal.start("run", "slow.yaml")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(SECONDS) == 0
    process.stderr.close()
    assert terminal.ok("status", "--json").json[0]["status"] == "done"


def test_a_failing_setup_shows_no_secret_of_its_environment(terminal: Terminal) -> None:
    (terminal.folder / "leaky.yaml").write_text(
        "env: [LAB_KEY]\nagents: {ann: {backend: scripted, script: [{say: hi}]}}\n"
        "setup: [{shell: 'echo $LAB_KEY; echo with $LAB_KEY >&2; exit 3'}]\nkickoff: '@ann hi'\n"
    )
    ended = terminal.run("run", "leaky.yaml", env={"LAB_KEY": "canary-4711"})
    assert ended.code == 1
    assert "with [hidden]" in ended.out + ended.err
    assert "canary" not in ended.out + ended.err + terminal.ok("log", "--events", "--json").out


def test_what_a_killed_setup_left_running_is_gone_before_it_is_repeated(terminal: Terminal) -> None:
    process = terminal.start("run", "review.yaml")
    until(lambda: is_setting_up(terminal))
    process.kill()
    process.communicate()
    resumed = terminal.start("resume")
    until(lambda: (terminal.folder / "setup-ran").read_text().count("once") == 2)
    loops = subprocess.run(["pgrep", "-f", "while .*-e go"], capture_output=True, check=False, text=True).stdout.split()
    ours = [pid for pid in loops if Path(f"/proc/{pid}/cwd").resolve() == terminal.folder]
    (terminal.folder / "go").touch()
    resumed.communicate(timeout=SECONDS)
    assert len(ours) == 1


@pytest.mark.parametrize("rounds", [1, pytest.param(60, marks=pytest.mark.chaos)])
def test_a_run_killed_at_any_moment_again_and_again_comes_to_the_same_end(
    terminal: Terminal, expected: list[str], rounds: int
) -> None:
    chance = random.Random(rounds)
    (terminal.folder / "go").touch()
    for number in range(rounds):
        instance = f"r{number}"
        _kill_after(terminal, chance.uniform(0.4, 3.0), "run", "review.yaml", "--instance", instance)
        for _ in range(chance.randrange(3)):
            _kill_after(terminal, chance.uniform(0.4, 2.0), "resume", f"@{instance}")
        ended = terminal.run("resume", f"@{instance}")
        if ended.code != 0 and not _is_done(terminal, instance):  # it had not begun
            terminal.ok("run", "review.yaml", "--instance", instance)
        assert said(terminal, instance) == expected, f"round {number}"


def _is_done(terminal: Terminal, instance: str) -> bool:
    found = terminal.run("status", instance, "--json")
    return found.code == 0 and any(one["status"] == "done" for one in found.json)


def _kill_after(terminal: Terminal, seconds: float, *words: str) -> None:
    process = terminal.start(*words)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
