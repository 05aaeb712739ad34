"""Runs through real processes that reach a limit: exit 3, a reason, and the way to go on."""

import signal
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

DYING = Path(__file__).parent / "dying"
ENDLESS = """
context: {document_owner: none}
agents:
  ann: {script: [{say: "@bob your turn", usage: {tokens: 10, cost: 0.5, estimated: true}}]}
  bob: {script: [{say: "@ann your turn"}]}
kickoff: "@ann go"
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    (tmp_path / "endless.yaml").write_text(ENDLESS)
    return Terminal(tmp_path, bytecode)


def test_two_agents_who_mention_each_other_for_ever_are_stopped(terminal: Terminal) -> None:
    ended = terminal.run("run", "endless.yaml")
    assert ended.code == 3
    assert "ping-pong: bob and ann have sent each other 20 messages in turn\n" in ended.err
    assert "go on with: moot resume\n" in ended.err
    assert "One last attempt, by ann, then the run ends" in ended.out


def test_a_run_stops_at_its_budget_and_goes_on_with_a_larger_one(terminal: Terminal) -> None:
    ended = terminal.run("run", "endless.yaml", "--budget", "attempts=4")
    assert ended.code == 3
    assert "at most $10.00, 1 h 0 m, 4 attempts" in ended.out
    assert ended.err.endswith("budget: 4 attempts\ngo on with: moot resume --budget attempts=8\n")
    assert "~$1.50" in ended.out
    refused = terminal.run("resume")
    assert refused.code == 3
    assert refused.err == (
        "error: BUDGET_USED_UP: The run has used what it may: 4 attempts.\n"
        "  Raise it: moot resume --budget attempts=8.\n"
    )
    again = terminal.run("resume", "--budget", "cost=2,attempts=none", "--json")
    assert again.code == 3
    summary = [line for line in again.out.splitlines() if '"summary"' in line]
    assert len(summary) == 1
    assert '"reason":"budget: $2.00"' in summary[0]
    assert '"budget":{"cost":{"limit":2.0,"used":2.0}' in summary[0]


def test_what_raises_a_used_up_budget_names_the_instance(terminal: Terminal) -> None:
    terminal.run("run", "endless.yaml", "--budget", "attempts=4", "--instance", "x")
    assert terminal.run("resume", "@x").err.endswith("  Raise it: moot resume --budget attempts=8 @x.\n")


def test_an_agent_at_its_own_limit_gets_as_much_again_by_the_command_that_is_told(terminal: Terminal) -> None:
    (terminal.folder / "own.yaml").write_text(ENDLESS.replace("ann: {", "ann: {budget: {attempts: 2}, "))
    ended = terminal.run("run", "own.yaml", "--instance", "x")
    assert ended.code == 3
    assert ended.err.endswith("ann: budget: 2 attempts\ngo on with: moot resume @x\n")
    again = terminal.run("resume", "@x")
    assert again.code == 3
    assert again.err.endswith("ann: budget: 4 attempts\ngo on with: moot resume @x\n")
    assert "  ann  5 attempts, " in again.out


def summing_up(limit: str) -> str:
    """Talk that goes on until somebody is told that it is the last attempt."""
    last = "on: last attempt, in: prompt, say: summed up"
    agents = [f"  {one}: {{{limit if one == 'ann' else ''}script: [{{{last}}}, {{say: '@{other} your turn'}}]}}"
              for one, other in (("ann", "bob"), ("bob", "ann"))]  # fmt: skip
    return "\n".join(["context: {document_owner: none}", "agents:", *agents, "kickoff: '@ann go'", ""])


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    ("head", "own", "reason"),
    [
        ("budget: {attempts: 3}\n", "", "budget: 3 attempts"),
        ("", "budget: {attempts: 1}, ", "ann: budget: 1 attempt"),
        ("limits: {hops: 3}\n", "", "hops: 3 messages in one chain"),
    ],
    ids=["run", "agent", "hops"],
)
def test_a_run_that_dies_at_its_last_attempt_makes_it_once_and_is_warned_once(
    terminal: Terminal, head: str, own: str, reason: str, moment: str
) -> None:
    (terminal.folder / "talk.yaml").write_text(head + summing_up(own))
    died = terminal.run("run", "talk.yaml", env={"PYTHONPATH": str(DYING), "STORY_DIES": f"last attempt:{moment}"})
    assert died.code == -signal.SIGKILL
    ended = terminal.run("resume")
    assert ended.code == 3
    assert f"{reason}\ngo on with: moot resume" in ended.err
    said = [one["message"] for one in terminal.ok("log", "--json").json]
    assert sum("One last attempt" in one for one in said) == 1
    assert said.count("summed up") == 1
    assert said[-1] == "summed up"


@pytest.mark.parametrize("command", [("run", "endless.yaml"), ("start", "endless.yaml")])
def test_a_budget_that_cannot_be_is_refused_before_anything_happens(
    terminal: Terminal, command: tuple[str, ...]
) -> None:
    refused = terminal.run(*command, "--budget", "attempts=few")
    assert refused.code == 2
    assert "BUDGET_INVALID: attempts: 'few' is not a whole number above 0." in refused.err
    assert not (terminal.folder / ".workflow").exists()
