"""The pages on plans: files are taken as they stand, states are those of the code, tools and commands are there."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from moot.app import pieces, workflows
from moot.app.project import Project
from moot.board import evidence, plans, states
from moot.cli import plan, task
from moot.core import yaml
from moot.runner import plan_section
from moot.tools import groups, table
from moot.workflow import plan_files

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PLANS = (DOCS / "plans.md").read_text(encoding="utf-8")
CLAUDE = (DOCS / "claude-code.md").read_text(encoding="utf-8")
BLOCKS = {name: text for page in (PLANS, CLAUDE) for _, name, text in BLOCK.findall(page) if name}


def test_nothing_on_the_pages_is_left_out() -> None:
    assert sorted(BLOCKS) == ["codex", "mcp", "plan.yaml", "release.yaml", "task", "workflow"]


@pytest.mark.parametrize(("name", "ways"), [("task", states.TASK), ("workflow", states.BOARD)])
def test_states_are_drawn_as_they_are(name: str, ways: Mapping[str, tuple[str, ...]]) -> None:
    drawn = [line.partition("─►")[::2] for line in BLOCKS[name].splitlines()]
    found = {state.strip(): tuple(one.strip() for one in after.split("·") if one.strip()) for state, after in drawn}
    assert found == dict(ways)


def test_the_plan_file_is_right(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(BLOCKS["plan.yaml"])
    found = plan_files.read(file, ["issue=42"])
    assert (found.name, len(found.tasks)) == ("fix 42", 4)
    plans.check(plan_section.planned(found.tasks, found.values))


def test_the_workflow_file_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "release.yaml"
    file.write_text(BLOCKS["release.yaml"])
    found = workflows.read(Project(tmp_path), file)
    assert (found.warnings, [one.name for one in found.tasks]) == ((), ["fix", "notes"])


def test_the_checks_of_the_table_are_checks() -> None:
    rows = re.findall(r"^\| `(\{(?:shell|file|schema|approval): .*?\})` \|", PLANS, re.MULTILINE)
    assert len(rows) == 5
    for row in rows:
        evidence.parse(yaml.load(row, "a check"))


def test_the_entries_are_those_that_init_writes() -> None:
    assert json.loads(BLOCKS["mcp"])["mcpServers"]["moot"] == pieces.SERVER
    assert tomllib.loads(BLOCKS["codex"])["mcp_servers"]["moot"] == pieces.SERVER


def test_tools_and_commands_that_are_named_are_there() -> None:
    named = re.findall(r"`((?:workflow|task|checkpoint|agent|workspace)_[a-z_]+)`", PLANS + CLAUDE)
    assert len(set(named)) > 15
    assert set(named) <= set(table.TOOLS) | {"workspace_create", "workspace_merge"}
    for page, command in ((plan.command, "plan"), (task.command, "task")):
        typed = re.findall(rf"^moot {command} ([a-z |]+)", PLANS, re.MULTILINE)
        words = {word.split()[0] for line in typed for word in line.split("|") if word.strip()}
        assert words == set(page.commands), command


def test_every_tool_for_plans_is_in_the_table() -> None:
    page = (DOCS / "tools.md").read_text(encoding="utf-8")
    wanted = {name for name, one in table.TOOLS.items() if one.group in (*groups.PLAN, "workspaces")}
    assert {name for name in wanted if f"| `{name}` |" not in page} == set()
