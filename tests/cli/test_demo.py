"""The demo: the scene of the README, for people and for programs."""

import json

from tests.cli.terminal import Terminal, finish

SPEAKERS = ["coder", "lead", "lead", "reviewer", "reviewer", "system"]


def test_the_scene_is_played_to_its_end_for_people_and_for_programs_and_leaves_nothing(terminal: Terminal) -> None:
    for_programs = terminal.start("demo", "--json")  # beside the other: agents take their time
    for_people = terminal.ok("demo").out
    _is_told(for_people.splitlines())
    ended = finish(for_programs)
    assert ended.code == 0, ended
    _is_one_document_a_line(ended.out.splitlines())
    assert not (terminal.folder / ".workflow").exists()


def _is_told(lines: list[str]) -> None:
    assert lines[0].startswith("Three scripted agents")
    assert any("coder failed (" in line for line in lines)
    (last,) = [line for line in lines if line.startswith("done in ")]
    assert last.endswith(" · 3 agents · 6 messages · $0.00 · notes.md")


def _is_one_document_a_line(lines: list[str]) -> None:
    found = [json.loads(line) for line in lines]
    assert sorted(one["from"] for one in found if one["type"] == "message") == SPEAKERS
    (failed,) = [one for one in found if one["type"] == "failure"]
    assert (failed["agent"], failed["number"]) == ("coder", 1)
    summary = found[-1]
    assert summary["seconds"] > 0
    assert (summary["type"], summary["status"], summary["messages"], summary["cost"]) == ("summary", "done", 6, 0)
