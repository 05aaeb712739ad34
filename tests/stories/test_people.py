"""A person in the loop: a run waits for an answer, ends where nobody can give it, and goes on after it was given."""

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

WORKFLOW = r"""
name: ship
agents:
  coder:
    backend: scripted
    script:
      - on: 'begin'
        calls:
          - request_create: {to: human, type: permission, title: "ship it?"}
      - on: '\[APPROVED'
        say: 'shipped'
      - on: '\[DENIED'
        say: 'kept'
kickoff: "@coder begin"
notify: 'echo "$MOOT_FROM: $MOOT_SUBJECT" >> told'
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    (folder / "ship.yaml").write_text(WORKFLOW)
    return Terminal(folder, bytecode)


@pytest.mark.parametrize(("command", "last"), [("approve", "shipped"), ("deny", "kept")])
def test_a_run_waits_for_a_person_and_goes_on_with_the_answer(terminal: Terminal, command: str, last: str) -> None:
    waiting = terminal.run("run", "ship.yaml", "--json")
    assert waiting.code == 4, waiting
    assert (terminal.folder / "told").read_text() == "coder: ship it?\n"
    assert [one["request"]["title"] for one in terminal.ok("inbox", "--json").json] == ["ship it?"]
    terminal.ok(command)
    terminal.ok("resume")
    assert [line.split("  ")[-1] for line in terminal.ok("log").out.splitlines()][-1] == last
    assert (terminal.folder / "told").read_text() == "coder: ship it?\n"


def test_a_request_that_was_only_read_keeps_the_run_waiting(terminal: Terminal) -> None:
    assert terminal.run("run", "ship.yaml").code == 4
    terminal.ok("inbox", "--ack")
    again = terminal.run("resume")
    assert again.code == 4
    assert "human" in again.err
