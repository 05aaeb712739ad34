"""The demo: the scene of the README, for people and for programs."""

import json

from tests.cli.terminal import Terminal

SPEAKERS = ["coder", "lead", "lead", "reviewer", "reviewer", "system"]


def test_the_scene_is_played_to_its_end_and_leaves_nothing(terminal: Terminal) -> None:
    lines = terminal.ok("demo").out.splitlines()
    assert lines[0].startswith("Three scripted agents")
    assert any("coder failed (" in line for line in lines)
    (last,) = [line for line in lines if line.startswith("done in ")]
    assert last.endswith(" · 3 agents · 6 messages · $0.00 · notes.md")
    assert not (terminal.folder / ".workflow").exists()


def test_as_json_it_is_one_document_a_line(terminal: Terminal) -> None:
    found = [json.loads(line) for line in terminal.ok("demo", "--json").out.splitlines()]
    assert sorted(one["from"] for one in found if one["type"] == "message") == SPEAKERS
    (failed,) = [one for one in found if one["type"] == "failure"]
    assert (failed["agent"], failed["number"]) == ("coder", 1)
    summary = found[-1]
    assert summary["seconds"] > 0
    assert (summary["type"], summary["status"], summary["messages"], summary["cost"]) == ("summary", "done", 6, 0)
