"""The demo: the scene of the README, for people and for programs."""

import json

from tests.cli.terminal import Terminal

SPEAKERS = ["coder", "human", "lead", "lead", "reviewer", "reviewer"]


def test_the_scene_is_played_to_its_end_and_leaves_nothing(terminal: Terminal) -> None:
    lines = terminal.ok("demo").out.splitlines()
    assert lines[0].startswith("Three scripted agents")
    assert any("coder failed (" in line for line in lines)
    assert lines[-1].startswith("done in ")
    assert lines[-1].endswith(" · 3 agents · 6 messages · $0.00")
    assert not (terminal.folder / ".workflow").exists()


def test_as_json_it_is_one_document_a_line(terminal: Terminal) -> None:
    found = [json.loads(line) for line in terminal.ok("demo", "--json").out.splitlines()]
    assert sorted(one["from"] for one in found if one["kind"] == "message") == SPEAKERS
    (failed,) = [one for one in found if one["kind"] == "attempt_failed"]
    assert (failed["agent"], failed["number"]) == ("coder", 1)
    summary = found[-1]
    assert summary.pop("seconds") > 0
    assert summary == {"kind": "summary", "agents": 3, "messages": 6, "cost": 0}
