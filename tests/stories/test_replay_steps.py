"""A run with steps and its recording."""

from tests.cli.terminal import Terminal

FILE = """
name: stepped
steps: [{type: shell_command, id: one, command: echo ran >> ran}]
"""


def test_a_run_with_steps_is_refused_where_a_tape_is_wanted(terminal: Terminal) -> None:
    (terminal.folder / "w.yaml").write_text(FILE)
    refused = terminal.run("run", "w.yaml", "--record", "tape.jsonl")
    assert refused.code == 2, refused
    assert "INVALID_INPUT: stepped has steps" in refused.err
    assert not (terminal.folder / "tape.jsonl").exists()
    assert not (terminal.folder / "ran").exists()
