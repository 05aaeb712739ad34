"""`moot init`: says what it would write and asks first, writes over nothing, and can be taken back."""

import json
from pathlib import Path
from typing import Any

import pytest

from moot.app import first_files, first_workflow
from moot.app.first_files import CLIENTS, FileRefused, Setup
from moot.app.first_workflow import Chosen
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
    key = {"ANTHROPIC_API_KEY": "sk-x"}
    terminal.ok("init", "--yes", *(word for client in CLIENTS for word in ("--for", client)), env=key)
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
    assert terminal.ok("check", "review", "--json", env=key).json["ok"] is True
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
        first_files.wanted(tmp_path, Setup(("claude",)))


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / ".cursor").symlink_to(outside)
    with pytest.raises(FileRefused):
        first_files.wanted(project, Setup(("cursor",)))


def test_an_agent_may_not_say_what_others_are_told(terminal: Terminal) -> None:
    ended = terminal.run("init", "--yes", "--for", "claude", env={"MOOT_TOKEN": "moot_x"})
    assert (ended.code, "NOT_ALLOWED" in ended.err) == (1, True)
    assert not (terminal.folder / ".mcp.json").exists()


HOOK = {"hooks": [{"type": "command", "command": "moot hook 2>/dev/null || true"}]}
SETTINGS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(ls)"]},
    "hooks": {"Stop": [{"hooks": []}], "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "date"}]}]},
}


def with_program(terminal: Terminal, name: str) -> Terminal:
    """A machine where this program is installed, and a key for it is set."""
    place = terminal.folder / "home" / "bin"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text("#!/bin/sh\necho 1.0\n")
    (place / name).chmod(0o755)
    return terminal


def env(terminal: Terminal, **more: str) -> dict[str, str]:
    return {"PATH": f"{terminal.folder / 'home' / 'bin'}:/usr/bin:/bin", **more}


@pytest.mark.parametrize(
    ("program", "key", "said"),
    [
        ("claude", "ANTHROPIC_API_KEY", "backend: claude"),
        ("codex", "OPENAI_API_KEY", "backend: codex"),
        ("cursor-agent", "CURSOR_API_KEY", "backend: cursor"),
        (None, "ANTHROPIC_API_KEY", "model: sonnet"),
        (None, "OPENAI_API_KEY", "model: openai/gpt-5"),
        (None, "GEMINI_API_KEY", "model: google/gemini-2.5-pro"),
    ],
)
def test_the_workflow_is_for_what_is_found_and_can_be_run_with_it(
    terminal: Terminal, program: str | None, key: str, said: str
) -> None:
    if program is not None:
        with_program(terminal, program)
    around = env(terminal, **{key: "sk-x"})
    terminal.ok("init", "--yes", env=around)
    text = (terminal.folder / ".moot/workflows/review.yaml").read_text()
    assert f"defaults: {{{said}, permissions: read-only}}" in text
    checked = terminal.ok("check", "review", "--json", env=around).json
    assert checked["ok"] is True
    assert terminal.ok("run", "review", "--dry-run", env=around).code == 0


def test_where_nothing_is_found_the_workflow_works_all_the_same(terminal: Terminal) -> None:
    told = terminal.ok("init", "--yes", env=env(terminal)).out
    assert "its agents are scripted until you name others" in told
    ended = terminal.ok("run", "review", env=env(terminal))
    assert "author  I would add one." in ended.out
    assert "There is nothing to review here yet" in ended.out


@pytest.mark.parametrize("chosen", first_workflow.ALL, ids=lambda one: f"{one.runner} {one.leave}")
def test_every_workflow_that_init_may_have_written_is_taken_back(tmp_path: Path, chosen: Chosen) -> None:
    first_files.carry_out(tmp_path, first_files.wanted(tmp_path, Setup((), chosen)))
    assert list(files(tmp_path)) == [".moot/workflows/review.yaml"]
    first_files.carry_out(tmp_path, first_files.undone(tmp_path).changes)
    assert files(tmp_path) == {}


def test_a_runner_that_is_not_there_is_refused_with_those_that_are(terminal: Terminal) -> None:
    ended = terminal.run("init", "--yes", "--agents", "codex", env=env(terminal))
    assert ended.code == 2
    assert "'codex' cannot run agents here." in ended.err
    assert "Choose from: scripted." in ended.err


def test_hooks_are_written_only_if_they_are_wanted_beside_those_that_are_there(terminal: Terminal) -> None:
    settings = terminal.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = json.dumps(SETTINGS, indent=2) + "\n"
    settings.write_text(before)
    terminal.ok("init", "--yes", "--for", "claude")
    assert settings.read_text() == before
    terminal.ok("init", "--yes", "--for", "claude", "--hooks")
    written = json.loads(settings.read_text())
    assert written["permissions"] == SETTINGS["permissions"]
    assert written["hooks"]["Stop"] == [{"hooks": []}]
    assert written["hooks"]["UserPromptSubmit"] == [*SETTINGS["hooks"]["UserPromptSubmit"], HOOK]
    assert written["hooks"]["SessionStart"] == [HOOK]
    assert terminal.ok("init", "--yes", "--for", "claude", "--hooks").out == "everything is there already\n"
    terminal.ok("init", "--undo", "--yes")
    assert json.loads(settings.read_text()) == SETTINGS


@pytest.mark.parametrize("content", ["// ours\n{}", '{"hooks": []}', '{"hooks": {"Stop": 1}}'])
def test_settings_that_cannot_be_read_are_left_alone(tmp_path: Path, content: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(content)
    with pytest.raises(FileRefused, match="--no-hooks"):
        first_files.wanted(tmp_path, Setup(("claude",), has_hooks=True))
    assert first_files.wanted(tmp_path, Setup(("claude",)))


@pytest.mark.parametrize("content", [b"// ours\n{}", b"\xff", b'{"mcpServers": []}'])
def test_a_file_that_cannot_be_read_is_told_and_everything_else_is_undone(terminal: Terminal, content: bytes) -> None:
    terminal.ok("init", "--yes", "--for", "claude")
    (terminal.folder / ".mcp.json").write_bytes(content)
    undone = terminal.run("init", "--undo", "--yes")
    assert undone.code == 2
    assert "FILE_REFUSED: " in undone.err
    assert "If it has the MCP server moot: remove that yourself." in undone.err
    assert "yourself: {" not in undone.err
    assert "removed CLAUDE.md (how to work with moot)" in undone.out
    assert (terminal.folder / ".mcp.json").read_bytes() == content
    assert not (terminal.folder / "CLAUDE.md").exists()


def test_three_questions_lead_to_a_project_that_is_set_up(terminal: Terminal) -> None:
    with_program(with_program(terminal, "claude"), "codex")
    around = env(terminal, ANTHROPIC_API_KEY="sk-x", OPENAI_API_KEY="sk-y")
    with terminal.typing("init", env=around) as session:
        session.until("1. What runs your agents?")
        assert "claude: claude is installed, with key ANTHROPIC_API_KEY" in session.shown
        session.type("codex")
        session.until("2. What may they do?")
        session.type("edit")
        session.until("3. Write this?")
        assert "write .claude/settings.json: hooks that show unread mail" in session.shown
        session.type("without-hooks")
        session.until("next: moot run review")
    assert session.code == 0
    text = (terminal.folder / ".moot/workflows/review.yaml").read_text()
    assert "defaults: {backend: codex, permissions: edit}" in text
    assert (terminal.folder / ".mcp.json").exists()
    assert not (terminal.folder / ".claude/settings.json").exists()


def test_a_program_without_a_login_is_told_apart_from_none_and_questions_are_counted(terminal: Terminal) -> None:
    with_program(terminal, "claude")
    with terminal.typing("init", env=env(terminal)) as session:
        session.until("1. What runs your agents?")
        assert "claude is installed, but not logged in: claude /login" in session.shown
        assert "Nothing here can run agents yet" in session.shown
        session.type("claude")
        session.until("'claude' is not 'scripted'")
        session.type("scripted")
        session.until("2. Write this?")
        session.type("yes")
        session.until("next: moot run review")
    assert session.code == 0


def test_a_workflow_that_is_there_is_not_asked_about_again(terminal: Terminal) -> None:
    with_program(terminal, "claude")
    around = env(terminal, ANTHROPIC_API_KEY="sk-x")
    terminal.ok("init", "--yes", "--permissions", "ask", env=around)
    text = (terminal.folder / ".moot/workflows/review.yaml").read_text()
    with terminal.typing("init", env=around) as session:
        session.until("1. Write this?")
        assert ".moot/workflows/review.yaml is there, and stays as it is" in session.shown
        session.type("yes")
        session.until("next: moot run review")
    assert (terminal.folder / ".moot/workflows/review.yaml").read_text() == text


def test_enter_three_times_takes_what_is_offered_and_no_writes_nothing(terminal: Terminal) -> None:
    with_program(terminal, "claude")
    around = env(terminal, ANTHROPIC_API_KEY="sk-x")
    before = files(terminal.folder)
    with terminal.typing("init", env=around) as session:
        for question in ("1. What", "2. What"):
            session.until(question)
            session.type("")
        session.until("3. Write")
        session.type("no")
        session.until("nothing was written")
    assert session.code == 1
    assert files(terminal.folder) == before
    with terminal.typing("init", env=around) as session:
        for question in ("1. What", "2. What", "3. Write"):
            session.until(question)
            session.type("")
        session.until("next: moot run review")
    assert json.loads((terminal.folder / ".claude/settings.json").read_text())["hooks"]["SessionStart"] == [HOOK]
    assert "backend: claude, permissions: read-only" in (terminal.folder / ".moot/workflows/review.yaml").read_text()


def test_where_no_program_is_found_only_a_workflow_is_written(terminal: Terminal) -> None:
    before = files(terminal.folder)
    out = terminal.ok("init", "--yes", env=env(terminal)).out
    assert files(terminal.folder).keys() - before.keys() == {".moot/workflows/review.yaml"}
    assert "none of Claude Code, Codex and Cursor was found, --for connects one anyway" in out


def test_a_place_that_cannot_be_written_to_is_told_in_words(tmp_path: Path) -> None:
    changes = first_files.wanted(tmp_path, Setup(()))
    (tmp_path / ".moot").touch()  # no folder; whoever is root may write everywhere else
    with pytest.raises(FileRefused, match=r"workflows/review\.yaml cannot be changed: "):
        first_files.carry_out(tmp_path, changes)
