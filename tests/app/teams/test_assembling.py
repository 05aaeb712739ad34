"""A team of a command is put together as a file would have it: the command's words first, then the file's."""

from pathlib import Path
from typing import Any

import pytest

from moot.app.project import Project
from moot.app.teams import assembling
from moot.app.teams.assembling import Wanted
from moot.core.errors import InvalidInput


def made(folder: Path, wanted: Wanted) -> dict[str, Any]:
    return assembling.assembled(Project(folder), wanted)[0].data


def test_without_a_file_it_is_the_usual_team(tmp_path: Path) -> None:
    found = made(tmp_path, Wanted(goal="g"))
    assert list(found["agents"]) == ["lead", "reviewer-1", "worker-1", "worker-2", "worker-3"]
    assert found["inputs"]["goal"]["default"] == "g"
    assert found["kickoff"] == assembling.GOAL


def test_the_command_says_who_works_and_on_which_terms(tmp_path: Path) -> None:
    wanted = Wanted(goal="g", workers=("ann", "bob"), reviewers=("eve",), terms={"rounds": 1, "push": True})
    found = made(tmp_path, wanted)
    assert list(found["agents"]) == ["lead", "eve", "ann", "bob"]
    assert found["team"] == {"workers": ["ann", "bob"], "reviewers": ["eve"], "rounds": 1, "push": True}


def test_the_file_of_the_project_is_used_and_the_command_goes_first(tmp_path: Path) -> None:
    (tmp_path / ".moot").mkdir()
    text = "team: {rounds: 5, push: true}\nagents: {boss: {backend: codex}}\n"
    (tmp_path / ".moot" / "team.yaml").write_text(text.replace("{rounds", "{lead: boss, rounds"), encoding="utf-8")
    found = made(tmp_path, Wanted(goal="g", terms={"push": False}))
    assert found["team"] == {"lead": "boss", "rounds": 5, "push": False}
    assert list(found["agents"]) == ["boss", "reviewer-1", "worker-1", "worker-2", "worker-3"]
    assert found["agents"]["boss"] == {"backend": "codex"}


def test_another_file_goes_before_that_of_the_project(tmp_path: Path) -> None:
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "team.yaml").write_text("team: {rounds: 5}", encoding="utf-8")
    (tmp_path / "other.yaml").write_text("name: other", encoding="utf-8")
    assert made(tmp_path, Wanted(file=tmp_path / "other.yaml"))["team"] == {}


@pytest.mark.parametrize(
    ("backends", "found"),
    [
        (("codex",), ["codex", "codex", "codex", "codex"]),
        (("worker=codex",), [None, None, "codex", "codex"]),
        (("codex", "worker-2=gemini"), ["codex", "codex", "codex", "gemini"]),
        (("auto", "lead=claude", "in-process-shared"), ["claude", None, None, None]),
    ],
)
def test_backends_are_for_all_for_a_part_or_for_one(
    tmp_path: Path, backends: tuple[str, ...], found: list[str | None]
) -> None:
    agents = made(tmp_path, Wanted(workers=("worker-1", "worker-2"), backends=backends))["agents"]
    assert [one.get("backend") if one else None for one in agents.values()] == found


@pytest.mark.parametrize("backend", ["tmux", "boss=codex", "worker=tmux"])
def test_what_nobody_knows_is_refused(tmp_path: Path, backend: str) -> None:
    with pytest.raises(InvalidInput):
        made(tmp_path, Wanted(backends=(backend,)))


def test_a_backend_of_the_command_goes_before_a_script(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("agents: {lead: {script: [{say: x}], model: opus}}", encoding="utf-8")
    assert made(tmp_path, Wanted(file=file, lead="human"))["agents"]["lead"] == {"model": "opus", "backend": "human"}


def test_a_kickoff_that_speaks_of_the_goal_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text('team: {}\nkickoff: "Carefully: ${{ inputs.goal }}"', encoding="utf-8")
    assert made(tmp_path, Wanted(file=file, goal="g"))["kickoff"] == "Carefully: ${{ inputs.goal }}"
    file.write_text("team: {}\nkickoff: the usual goal", encoding="utf-8")
    assert made(tmp_path, Wanted(file=file, goal="g"))["kickoff"] == assembling.GOAL
    assert made(tmp_path, Wanted(file=file))["kickoff"] == "the usual goal"
