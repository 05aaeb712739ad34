"""The page on teams: its file runs as it stands, its stages and ways are those of the code, its commands are there."""

import re
from pathlib import Path

import click

from moot.api import seats
from moot.cli import team
from moot.teams import handoffs, stages
from tests.cli.terminal import Terminal
from tests.workspaces import repos

PAGE = (Path(__file__).parents[2] / "docs" / "team.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(PAGE)
FILE = next(text for _, name, text in BLOCKS if name == "team.yaml")


def test_the_file_on_the_page_runs_as_it_stands(tmp_path: Path, bytecode: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "team.yaml").write_text(FILE.replace("approve_plan: true", "approve_plan: false"), encoding="utf-8")
    repos.make(tmp_path)
    terminal = Terminal(tmp_path, bytecode)
    assert "done in" in terminal.ok("run", "team.yaml", "--instance", "limits").out
    (found,) = terminal.ok("team", "status", "--json").json
    assert (found["stage"], found["goal"]) == ("done", "add rate limiting to the API")
    assert found["members"] == {"lead": "lead", "reviewer-1": "reviewer", "tester": "worker"}


def test_every_stage_is_drawn_and_explained() -> None:
    drawing = next(text for _, _, text in BLOCKS if "──►" in text)
    assert set(re.findall(r"[a-z]{4,}", drawing)) - {"them"} == {*stages.LIVE, "done", "failed"}
    explained = re.findall(r"^\| (\w+) \| .* \| .* \|$", PAGE, re.MULTILINE)
    assert [one for one in explained if one in stages.LIVE] == [
        "planning",
        "delegating",
        "working",
        "reviewing",
        "comparing",
        "redelegating",
        "merging",
    ]


def test_the_handoff_is_the_one_that_is_asked_for() -> None:
    assert handoffs.TEMPLATE in PAGE


def test_every_command_and_order_is_named() -> None:
    assert isinstance(team.command, click.Group)
    for name in team.command.commands:
        assert f"moot team {name}" in PAGE or f"(`{name}`)" in PAGE, name
    for order in re.findall(r"^(/\w+)", seats.HELP, re.MULTILINE):
        assert f"`{order}" in PAGE, order
    options = {option for one in team.up.params for option in one.opts if option.startswith("--")}
    missing = {one for one in options if one not in PAGE} - {"--session", "--file", "--store", "--name"}
    assert missing == set()
