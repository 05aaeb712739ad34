"""The demo: the scene of the README, for people and for programs."""

import json
import re
from pathlib import Path

from tests.cli.terminal import Terminal, finish

README = Path(__file__).parents[2] / "README.md"
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
    shown = README.read_text().split("```\n20:00:51 ", 1)[1].split("\n```", 1)[0]
    assert sorted(map(_timeless, lines[2:])) == sorted(map(_timeless, f"20:00:51 {shown}".splitlines()))
    (last,) = [line for line in lines if line.startswith("done in ")]
    assert last.endswith(" · 3 agents · 6 messages · $0.00 · notes.md")


def _timeless(line: str) -> str:
    """Without the time of day, and without how long it took."""
    return re.sub(r"^[\d:]{8} |\d+(?:\.\d)? s", "", line)


def _is_one_document_a_line(lines: list[str]) -> None:
    found = [json.loads(line) for line in lines]
    assert sorted(one["from"] for one in found if one["type"] == "message") == SPEAKERS
    (failed,) = [one for one in found if one["type"] == "failure"]
    assert (failed["agent"], failed["number"]) == ("coder", 1)
    summary = found[-1]
    assert summary["seconds"] > 0
    assert (summary["type"], summary["status"], summary["messages"], summary["cost"]) == ("summary", "done", 6, 0)
