"""A run with a plan is played again: its tasks begin when the talk is quiet, and go to the same agents."""

from tests.cli.terminal import Terminal

FILE = """
name: plan
context: {document_owner: none}
agents:
  ann: {backend: scripted, script: [{on: TASK, say: ann did it}, {say: "@ben hello"}]}
  ben: {backend: scripted, script: [{on: TASK, say: ben did it}, {say: hi}]}
kickoff: "@ann talk"
max_parallel_tasks: 2
tasks:
  - {name: a, description: Do a.}
  - {name: b, description: Do b., agent: ben, checks: [{file: plan.yaml}]}
  - {name: c, description: Do c., depends_on: [a, b]}
"""


def test_tasks_are_handed_out_as_they_were(terminal: Terminal) -> None:
    (terminal.folder / "plan.yaml").write_text(FILE)
    terminal.ok("run", "plan.yaml", "--record", "tape.jsonl")
    assert terminal.ok("log").out.count("[TASK:") == 3
    terminal.ok("rm", "@default", "--yes")
    played = terminal.ok("run", "plan.yaml", "--replay", "tape.jsonl")
    assert "the replay is like the recording" in played.out + played.err
    shown = terminal.ok("plan", "show", "--json").json
    assert (shown["workflow_status"], shown["completed_tasks"]) == ("completed", 3)
