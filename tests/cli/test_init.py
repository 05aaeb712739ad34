"""`moot init`: says what it would write and asks first, writes over nothing, and can be taken back."""

import json
from pathlib import Path

import pytest

from moot.app import first_files
from moot.app.first_files import CLIENTS, FileRefused
from tests.cli.terminal import Terminal

OWN = '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  },\n  "after": 1\n}\n'


def files(root: Path) -> dict[str, str]:
    """All but moot's own folder."""
    found = (one for one in root.rglob("*") if one.is_file() and ".workflow" not in one.parts)
    return {str(one.relative_to(root)): one.read_text() for one in found}


def test_every_client_gets_an_entry_and_instructions_and_all_of_it_can_be_taken_back(terminal: Terminal) -> None:
    root = terminal.folder
    (root / "CLAUDE.md").write_text("# Ours\n\nBe kind.\n")
    (root / ".mcp.json").write_text(OWN)
    before = files(root)
    terminal.ok("init", "--yes", *(word for client in CLIENTS for word in ("--for", client)))
    written = files(root)
    assert json.loads(written[".mcp.json"])["mcpServers"] == {
        "other": {"command": "x"},
        "moot": {"command": "moot", "args": ["mcp"]},
    }
    assert written["CLAUDE.md"].startswith("# Ours\n\nBe kind.\n\n<!-- moot: begin -->\n")
    assert "agent_register" in written["CLAUDE.md"]
    assert "[mcp_servers.moot]" in written[".codex/config.toml"]
    command = written[".claude/commands/workflow.md"]
    assert "$ARGUMENTS" in command
    assert all(f"- `{one}" in command for one in ("list`", "NAME info`", "NAME start", "resume ID`", "status ID`"))
    assert "workflow_step_complete" in command
    assert {"AGENTS.md", ".cursor/mcp.json", ".moot/workflows/review.yaml"} <= written.keys()
    assert terminal.ok("init", "--yes").out == "everything is there already\n"
    assert terminal.ok("check", "review", "--json", env={"ANTHROPIC_API_KEY": "sk-x"}).json["ok"] is True
    terminal.ok("init", "--undo", "--yes")
    assert files(root) == before
    assert not (root / ".codex").exists()
    assert not (root / ".claude").exists()
    assert terminal.ok("init", "--undo", "--yes").out == "nothing to undo\n"


def test_a_command_that_is_there_is_left_as_it_is(terminal: Terminal) -> None:
    own = terminal.folder / ".claude" / "commands" / "workflow.md"
    own.parent.mkdir(parents=True)
    own.write_text("Ours.\n")
    assert ".claude" not in terminal.ok("init", "--yes", "--for", "claude").out
    terminal.ok("init", "--undo", "--yes")
    assert own.read_text() == "Ours.\n"


def test_nothing_is_written_where_nobody_agrees(terminal: Terminal) -> None:
    before = files(terminal.folder)
    ended = terminal.run("init", "--for", "claude")
    assert (ended.code, "UNASKED" in ended.err) == (2, True)
    assert files(terminal.folder) == before


def test_what_a_person_has_added_since_stays(terminal: Terminal) -> None:
    root = terminal.folder
    terminal.ok("init", "--yes", "--for", "claude")
    (root / "CLAUDE.md").write_text((root / "CLAUDE.md").read_text() + "\nMore of ours.\n")
    (root / ".moot" / "workflows" / "review.yaml").write_text("name: mine\n")
    terminal.ok("init", "--undo", "--yes")
    assert (root / "CLAUDE.md").read_text() == "More of ours.\n"
    assert (root / ".moot" / "workflows" / "review.yaml").read_text() == "name: mine\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".mcp.json", "{ // ours\n}"),
        (".mcp.json", '{"mcpServers": []}'),
        (".mcp.json", '{"mcpServers": {"moot": {"command": "another"}}}'),
        ("CLAUDE.md", b"\xff\xfe"),
    ],
)
def test_what_cannot_be_changed_without_harm_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, content: str | bytes
) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileRefused):
        first_files.wanted(tmp_path, ("claude",))


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / ".cursor").symlink_to(outside)
    with pytest.raises(FileRefused):
        first_files.wanted(project, ("cursor",))


def test_an_agent_may_not_say_what_others_are_told(terminal: Terminal) -> None:
    ended = terminal.run("init", "--yes", "--for", "claude", env={"MOOT_TOKEN": "moot_x"})
    assert (ended.code, "NOT_ALLOWED" in ended.err) == (1, True)
    assert not (terminal.folder / ".mcp.json").exists()
