"""A run with steps that is paused: what is under way comes to its end, nothing else is begun until it goes on."""

import json

import pytest

from tests.cli.terminal import SECONDS, Terminal
from tests.stories.test_runs import until

STEPS = """
name: two
default_state: {raw: {n: 0}}
steps:
  - {id: first, type: shell_command, command: "echo x >> first; until test -e go; do sleep 0.05; done; echo 1",
     output_format: json, state_update: {path: raw.n}}
  - {id: add, type: state_update, path: raw.n, operation: increment}
  - {id: second, type: shell_command, command: "echo x >> second; echo {{ n + 1 }}", output_format: json,
     state_update: {path: raw.n}}
"""


def taken(terminal: Terminal) -> list[str]:
    return [one["step_id"] for one in terminal.ok("flow", "trace", "--json").json["steps"]]


def ran(terminal: Terminal, name: str) -> int:
    file = terminal.folder / name
    return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_paused_run_ends_the_command_that_runs_and_begins_no_other(terminal: Terminal, is_killed: bool) -> None:
    (terminal.folder / "two.yaml").write_text(STEPS, encoding="utf-8")
    process = terminal.start("run", "two.yaml", "--json")
    until(lambda: ran(terminal, "first") == 1)
    terminal.ok("pause")
    (terminal.folder / "go").touch()
    until(lambda: taken(terminal) == ["first.shell_command"])
    (told,) = terminal.ok("status", "--json").json
    assert (told["status"], told["is_paused"]) == ("live", True)
    assert ran(terminal, "second") == 0
    if is_killed:
        process.kill()
        process.communicate()
        assert taken(terminal) == ["first.shell_command"]
        assert terminal.run("resume").code == 0
    else:
        assert terminal.ok("resume", "--json").json == {"instance": "default", "is_paused": False}
        out, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
        assert json.loads(out.splitlines()[-1])["status"] == "done"
    assert (ran(terminal, "first"), ran(terminal, "second")) == (1, 1)
    assert terminal.ok("flow", "state", "--json").json["n"] == 3
